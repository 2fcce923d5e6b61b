"""A ball bounces lower and lower. When does it rest, and after how many bounces may a simulation say so?

With restitution e < 1 infinitely many bounces take a finite time (Zeno): t₁ + 2 e v₁ / (g (1 − e)) for a ball that
first lands at t₁ with v₁. A simulation may close the contact for good as soon as the other bounces are sure to be over
within ε_t and to end within ε_q and ε_v; Or and Ames (2011), Definition 6 and Theorem 3.
"""

import sympy

from hybrid_contact_ros import Constraint, LagrangianSystem, reliable_truncation, simulate
from hybrid_contact_ros.systems.ball import zeno_time

HEIGHT, RESTITUTION, GRAVITY = 1.0, 0.5, 9.81  # m, -, m/s²

y = sympy.Symbol("y")
ground = Constraint("ground", gap=y, restitution=RESTITUTION)
ball = LagrangianSystem("ball", [y], sympy.Matrix([[1.0]]), potential=GRAVITY * y, constraints=[ground])

execution = simulate(ball, [HEIGHT], [0.0], t_final=3.0)
lower, upper = execution.zeno_times[0]  # s
expected = zeno_time(HEIGHT, 0.0, RESTITUTION, GRAVITY)  # s, the geometric series

bounces = 0
for impact in execution.events:
    bounces += 1
    cut = reliable_truncation(ball, impact.q, impact.velocity_after, epsilon_q=1e-3, epsilon_v=1e-2, epsilon_t=1e-2)
    if cut.reliable:
        break
earliest, latest = (impact.time + bound for bound in cut.zeno_time)

if __name__ == "__main__":
    print(f"{len(execution.events)} events later the ball rests between {lower:.9f} and {upper:.9f} s")
    print(f"after bounce {bounces} the contact may be closed: Zeno at {earliest:.9f} s, ± {latest - earliest:.0e} s")
    print(f"by the series {expected:.9f} s")
