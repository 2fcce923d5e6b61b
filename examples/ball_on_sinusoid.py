"""A ball bounces along a hilly surface. Where and when do its bounces die out, and does the surface hold it there?

On a curved surface there is no series to sum: the Zeno point is found by simulation. The ball stays where its gap
acceleration with the contact released, φ̈ = ẋ² sin x − g, is negative; Or and Ames (2011), Theorem 2 and Example 3.
They publish the Zeno times 3.761 and 5.0731 s, and φ̈ = −0.986 and −4.766 m/s² at the two Zeno points.
"""

from hybrid_contact_ros import Flag, constraint_stability, simulate
from hybrid_contact_ros.systems.ball_on_sinusoid import ball_on_sinusoid, state_before_first_impact

surface = ball_on_sinusoid()  # y ≥ sin x, e = 0.5, m = g = 1
zeno_times, zeno_points, gap_accelerations, stays = [], [], [], []
for speed in (1.8, 2.5):  # m/s along x
    q, v = state_before_first_impact(speed)
    execution = simulate(surface, q, v, t_final=6.0)
    time = sum(execution.zeno_times[0]) / 2
    q, v = execution.at(time)
    stability = constraint_stability(surface.problem(q, v), closed=[0])
    zeno_times.append(time)
    zeno_points.append(q)
    gap_accelerations.append(float(stability.gap_acceleration[0]))
    stays.append(stability.constraint_stability[0] == Flag.HOLDS)

if __name__ == "__main__":
    for time, q, acceleration, holds in zip(zeno_times, zeno_points, gap_accelerations, stays, strict=True):
        answer = "stays" if holds else "leaves"
        print(f"Zeno at {time:.4f} s, at {q.round(3)}, where φ̈ = {acceleration:.3f} m/s²: the ball {answer}")
