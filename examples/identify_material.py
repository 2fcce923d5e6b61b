"""Which restitution and friction does a material have? Found from a recording of throws onto it.

A puck is thrown onto the ground a few times, slides and bounces. Of every bounce ``identify_material`` (in a terminal:
``hybrid-contact identify``) finds the e and μ whose impulse explains the jump of the velocity best; by Poisson's law
with Coulomb friction that is Λ_n = (1 + e) m |φ̇⁻| and |Λ_t| = μ Λ_n. The recording is made in closed form, with 20 ms
of free flight before and after every bounce.
"""

from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from hybrid_contact_ros import EstimatorConfig, Recording, identify_material, write_recording

RESTITUTION, FRICTION, GRAVITY = 0.4, 0.15, np.array([0.0, 0.0, -9.81])
URDF = """<robot name="puck"><link name="puck"><inertial><mass value="2"/>
<inertia ixx="0.01" iyy="0.01" izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial></link></robot>"""

times, positions, velocities = [], [], []
for throw in range(8):
    before = np.array([1.0 + 0.1 * throw, 0.0, -0.8 - 0.1 * throw])  # m/s
    push = (1.0 + RESTITUTION) * -before[2]  # Λ_n / m, m/s
    after = before + np.array([-FRICTION * push, 0.0, push])
    for time in np.arange(-0.019, 0.02, 0.002):  # s from the bounce, at 500 Hz
        start = before if time < 0 else after
        times.append(throw + 0.02 + time)
        positions.append(start * time + GRAVITY * time**2 / 2)
        velocities.append(start + GRAVITY * time)
n = len(times)
upright = np.tile([0.0, 0.0, 0.0, 1.0], (n, 1))
recording = Recording(np.array(times), np.array(positions), upright, np.array(velocities), np.zeros((n, 3)), urdf=URDF)

config = EstimatorConfig.from_mapping({"contacts": {"tip": {"link": "puck"}}})
with TemporaryDirectory() as folder:
    bag = Path(folder) / "throws.mcap"
    write_recording(recording, bag)
    found = identify_material(bag, config)

if __name__ == "__main__":
    for name, estimate in (("restitution", found.restitution), ("friction", found.friction)):
        interval = f"between {estimate.low:.5f} and {estimate.high:.5f}"
        print(f"{name} {estimate.value:.5f}, {interval}, from {estimate.count} bounces")
