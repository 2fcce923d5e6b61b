"""A point touches a curve at its own tangent, without an impact. Does the curve hold it?

Where gap and gap velocity vanish the acceleration decides, and where that vanishes too the next derivative of the gap:
the contact holds if the first one that is not zero is negative; Johnson, Burden, Koditschek (2016), Definition 1 and
Figure 2. Curves (a) and (b), y = ∓x²/4, need the second derivative, (c) and (d), y = ∓x³/8, the third.
The paper's answer: (b) and (d) hold the point. No force acts along them, so that its speed stays 1 m/s.
"""

from hybrid_contact_ros import simulate
from hybrid_contact_ros.systems.curves import curve

holds, ends = {}, {}
for case in "abcd":
    execution = simulate(curve(case), q=[0.0, 0.0], v=[1.0, 0.0], t_final=0.5)
    holds[case] = bool(execution.modes[-1].closed)
    ends[case], velocity = execution.at(0.5)
end_height = float(ends["d"][1])  # m: y = x³/8 at the end of an arc of 0.5 m

if __name__ == "__main__":
    for case, stays in holds.items():
        print(f"curve ({case}) {'holds' if stays else 'leaves'} the point; after 0.5 s it is at {ends[case].round(6)}")
