"""A quadruped hops: what does a filter still doubt after a foot has landed, and is it right?

The Go2 of the demo pushes off in MuJoCo. From there it is followed by `simulate`, under the demo's joint controller,
with a drift and a roll by which one hind foot lands well before the other. A covariance of its state 10 ms before
this landing is carried past it by the variational flow and `salted_update`. The foot sticks: its gap, and its
velocity in three directions, are known afterwards, so that P has the rank 36 − 4. Starts are drawn and followed; NEES
on the range of P has 32 degrees of freedom, and what lies off it is of second order. Deviations are so small that
first order holds in all 32 directions; `./run bench sensitivity_filter` has larger ones, landings on two feet, and
MuJoCo.
"""

import numpy as np

from hybrid_contact_ros import EstimatorConfig, RigidBodyModel, RobotSystem, salted_update, simulate, variational_flow
from hybrid_contact_ros.demo.go2_simulation import Go2Simulation
from hybrid_contact_ros.mechanics.example_data import example_urdf
from hybrid_contact_ros.sensitivity.consistency import consistency

RUNS, BEFORE, AFTER = 40, 0.010, 0.008  # s before and after the touchdown
SIGMA = 0.01 * np.repeat([1e-3, 2e-3, 2e-3, 1e-2, 2e-2, 5e-2], [3, 3, 12, 3, 3, 12])  # m, rad, rad, and per second
OPTIONS = {"rtol": 1e-10, "atol": 1e-12, "gap_tolerance": 1e-12}
demo = Go2Simulation(rate_hz=1000.0)
GOAL, JOINTS = demo.state()[0][7:], np.diag(np.repeat([0.0, 1.0], [6, 12]))


def hold(time, q, v, mode):
    """Joint torques: the demo's controller in a landing, without feedforward."""
    return 80.0 * (GOAL - q[7:]) - 2.0 * v[6:]


hold.gradient = lambda time, q, v, mode: (-80.0 * JOINTS, -2.0 * JOINTS)
urdf = example_urdf("go2_description/urdf/go2.urdf")
friction = {name: {"link": name, "radius": 0.02, "friction": 0.7} for name in demo.foot_names}
system = RobotSystem(RigidBodyModel.from_urdf(urdf, EstimatorConfig.from_mapping({"contacts": friction})), hold)

while demo.time < demo.scenario.hops[0] + 0.5 or system.gap(demo.state()[0]).min() < 0.012:
    demo.step()
q, v, _ = demo.state()
v[[0, 3]] += [-0.4, 0.4]  # m/s backwards, rad/s of roll
flight = simulate(system, q, v, 0.3, **OPTIONS)
touch = flight.events[0].time
q0, v0 = flight.at(touch - BEFORE)  # the filter's mean

nominal = simulate(system, q0, v0, BEFORE + AFTER, **OPTIONS)
event, flow = nominal.events[0], variational_flow(nominal)
before = flow.at(np.nextafter(event.time, 0.0))[0]
prior = before @ np.diag(SIGMA**2) @ before.T
(q1, v1), covariance = salted_update((event.q, event.velocity_before), prior, flow.saltations[0])
onward = simulate(system, q1, v1, BEFORE + AFTER, t_start=event.time, mode=event.after, **OPTIONS)
after = variational_flow(onward).matrix
covariance, ignoring = after @ covariance @ after.T, after @ prior @ after.T

rng = np.random.default_rng(1)
errors = []
for _ in range(RUNS):
    x = SIGMA * rng.normal(size=36)
    run = simulate(system, system.integrate(q0, x[:18]), v0 + x[18:], BEFORE + AFTER, **OPTIONS)
    errors.append(np.r_[system.difference(onward.q[-1], run.q[-1]), run.v[-1] - onward.v[-1]])
salted = consistency(errors, covariance, SIGMA)
smooth = consistency(errors, ignoring, SIGMA)

if __name__ == "__main__":
    low, high = salted.interval()
    print(f"{event.kind.value} of {system.contact_names[min(event.contacts)]} at {touch:.3f} s of the flight")
    print(
        f"P has rank {salted.rank}; mean NEES over that {salted.ratio:.3f}, 95 % of filters have {low:.3f} … {high:.3f}"
    )
    print(f"{100 * salted.inside():.0f} % of {RUNS} runs are within the 95 % interval of a single one")
    print(f"errors off the range of P: at most {np.abs(salted.null).max():.1e} of the deviations before")
    print(f"without the jump in P: {smooth.ratio:.0f}, rank {smooth.rank}")
