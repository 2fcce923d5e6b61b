"""A block rocks through infinitely many impacts. Can one trajectory pass through all of them?

Halm and Posa (§4) let time stand still in impacts: along s, ds = dt + Σ dΛ_n, the state (t, q, v) solves one
differential inclusion, which passes the Zeno point at finite t* and s*. They publish t* = 2.67 and s* = 28.4 for this
block (Figures 7 and 8), and that each impact leaves 0.7 of θ̇ (68).
"""

import numpy as np

from hybrid_contact_ros import continuous_time_path
from hybrid_contact_ros.systems.zeno_block import zeno_block, zeno_state

path = continuous_time_path(zeno_block(), *zeno_state(), t_final=3.0)
(zeno,) = path.accumulations
zeno_time, zeno_arc = zeno.t, zeno.s  # s; s and N s

ends = [piece.stop for piece in path.pieces if piece.phase.name == "IMPACT"]
rates = np.abs(path.v[ends, 2])  # rad/s after each impact
contraction = float(rates[1] / rates[0])

if __name__ == "__main__":
    print(f"{len(ends)} impacts are followed, and each leaves {contraction:.6f} of the rate")
    print(f"t* = {zeno_time:.6f} s, s* = {zeno_arc:.4f} is their limit; from then on the block stands")
