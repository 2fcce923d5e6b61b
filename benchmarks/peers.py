"""Our solvers beside others on the same impacts, in one run; ratios are what counts.

The others are no dependencies: ``.venv/bin/pip install --no-deps quantecon drake lemkelcp`` brings those that are timed
besides Pinocchio and MuJoCo; what is absent is left out. The first table solves increment LCPs (Halm (75)) with random
caps: ours in contact space, the others the LCP as the paper prints it. A failure is no answer, or a residual above
1e-6. quantecon runs in a compiled loop as ours does. Drake's Moby solver is called through pydrake, where ``Solve``
takes its regularised Lemke route, and building the program is left out of the time. lemkelcp 0.1 assigns to a range,
which Python 3 forbids; its module gets a ``range`` that makes lists. The second table is the simultaneous impact beside
Pinocchio's PGS and ADMM at 1e-10, solved as the complementarity problem with the circular cone (ours: the polygon with
4 vertices), by the times that Pinocchio measures itself; the Go2 in 40 postures with velocities of all kinds. MuJoCo
solves another problem, a soft contact law, for the Go2 on its feet.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np
import pinocchio as pin
from numba import njit

from benchmarks.impacts import DIRECTIONS, go2_landing, halm_posa_lcp, problems
from hybrid_contact_ros.impacts.contact_space import ContactSpace
from hybrid_contact_ros.impacts.velocity_set import impulse_scale
from hybrid_contact_ros.kernels.impacts.increment import increment, simultaneous
from hybrid_contact_ros.mechanics.problem import ContactProblem

WRONG = 1e-6
ROUNDS = 200
LANDINGS = 40


def lcps(problem: ContactProblem) -> tuple[np.ndarray, np.ndarray]:
    """W (n, n) and right-hand sides (ROUNDS, n) of increments with random caps."""
    rng, unit = np.random.default_rng(0), impulse_scale(problem)
    W, w, _ = halm_posa_lcp(problem, np.ones(problem.contacts), DIRECTIONS)
    rights = np.tile(w, (ROUNDS, 1))
    rights[:, : problem.contacts] = rng.uniform(0, unit, (ROUNDS, problem.contacts))
    return np.ascontiguousarray(W), rights


def wrong(W: np.ndarray, q: np.ndarray, z: np.ndarray | None) -> bool:
    if z is None or not np.isfinite(z).all():
        return True
    w = W @ z + q
    scale = 1.0 + np.abs(q).max()
    return bool(max(-z.min(), -w.min(), np.abs(np.minimum(z, w)).max()) > WRONG * scale)


def one_by_one(W: np.ndarray, rights: np.ndarray, solve: Callable, make: Callable | None = None) -> tuple[float, float]:
    """Median time (µs) and part that failed; ``make`` prepares a problem outside the time."""
    times, failed = [], 0
    for q in rights[:50]:
        problem = make(W, q) if make else (W, q)
        begin = time.perf_counter_ns()
        z = solve(problem)
        times.append((time.perf_counter_ns() - begin) / 1e3)
        failed += wrong(W, q, z)
    return float(np.median(times)), failed / len(times)


def quantecon(W: np.ndarray, rights: np.ndarray) -> tuple[float, float] | None:
    try:
        from quantecon.optimize import lcp_lemke
    except ImportError:
        return None
    n = W.shape[0]
    tableau, basis, z = np.empty((n, 2 * n + 2)), np.empty(n, dtype=np.int64), np.empty(n)
    cover, answers = np.ones(n), np.empty_like(rights)

    @njit
    def run(W, rights, cover, tableau, basis, z, answers):
        for i in range(rights.shape[0]):
            z[:] = np.nan
            lcp_lemke(W, rights[i], cover, 10**6, tableau=tableau, basis=basis, z=z)
            answers[i] = z

    run(W, rights, cover, tableau, basis, z, answers)
    times = []
    for _ in range(7):
        begin = time.perf_counter_ns()
        run(W, rights, cover, tableau, basis, z, answers)
        times.append((time.perf_counter_ns() - begin) / len(rights) / 1e3)
    return float(np.median(times)), float(np.mean([wrong(W, q, z) for q, z in zip(rights, answers, strict=True)]))


def lemkelcp(W: np.ndarray, rights: np.ndarray) -> tuple[float, float] | None:
    try:
        import lemkelcp.lemkelcp as module
    except ImportError:
        return None
    module.range = lambda *ends: list(range(*ends))

    def solve(made):
        z, code, _ = module.lemkelcp(made[0], made[1], 1000)
        return z if code == 0 else None

    with np.errstate(all="ignore"):
        return one_by_one(W, rights, solve)


def drake(W: np.ndarray, rights: np.ndarray) -> tuple[float, float] | None:
    try:
        from pydrake.solvers import MathematicalProgram, MobyLcpSolver
    except ImportError:
        return None
    solver = MobyLcpSolver()

    def make(W, q):
        program = MathematicalProgram()
        z = program.NewContinuousVariables(len(q))
        program.AddLinearComplementarityConstraint(W, q, z)
        return program, z

    def solve(made):
        result = solver.Solve(made[0])
        return result.GetSolution(made[1]) if result.is_success() else None

    return one_by_one(W, rights, solve, make)


def increments(problem: ContactProblem, caps: np.ndarray) -> float:
    """µs of our solver on the LCPs with these caps (k, m), N s."""
    space = ContactSpace(problem, DIRECTIONS)
    caps = np.ascontiguousarray(caps * space.scale / space.speed)
    z, after = np.empty(space.w.size), np.empty(space.w.size)

    @njit
    def run(g, H, w, caps, c, tableau, lines, z, after):
        for i in range(caps.shape[0]):
            increment(g, H, w, caps[i], c, tableau, lines, z, after)

    return timed(run, (space.g, space.H, space.w, caps, space.c, space.tableau, space.lines, z, after), len(caps))


def timed(run: Callable, arguments: tuple, each: int) -> float:
    """Median µs of one of the ``each`` solves that a compiled loop makes."""
    run(*arguments)
    times = []
    for _ in range(50):
        begin = time.perf_counter_ns()
        run(*arguments)
        times.append((time.perf_counter_ns() - begin) / each / 1e3)
    return float(np.median(times))


def ours(problem: ContactProblem) -> float:
    """µs of the simultaneous impact, without Python around it."""
    space = ContactSpace(problem, DIRECTIONS)
    z, after, cap = np.empty(space.w.size), np.empty(space.w.size), np.empty(problem.contacts)
    arguments = (space.g, space.H, space.w, cap, space.c, space.tableau, space.lines, z, after)

    @njit
    def run(g, H, w, cap, c, tableau, lines, z, after):
        for _ in range(50):
            simultaneous(g, H, w, cap, c, tableau, lines, z, after)

    return timed(run, arguments, 50)


def pinocchio(problem: ContactProblem, kind: str) -> tuple[float, bool]:
    """µs that Pinocchio's solver reports for the same Delassus matrix, and whether it converged."""
    space, m = ContactSpace(problem, DIRECTIONS), problem.contacts
    order = np.concatenate([[3 * i + 1, 3 * i + 2, 3 * i] for i in range(m)])  # tangents first
    model = pin.buildSampleModelManipulator()
    models, datas = pin.StdVec_ConstraintModel(), pin.StdVec_ConstraintData()
    for i in range(m):
        contact = pin.PointContactConstraintModel(model, 1, pin.SE3.Identity())
        contact.setFriction(float(problem.friction[i]))
        models.append(pin.ConstraintModel(contact))
        datas.append(pin.ConstraintData(contact.createData()))
    solver = getattr(pin, f"{kind}ConstraintSolver")(3 * m)
    settings, result = getattr(pin, f"{kind}SolverSettings")(), getattr(pin, f"{kind}SolverResult")()
    settings.max_iterations, settings.solve_ncp, settings.measure_timings = 100_000, True, True
    settings.absolute_feasibility_tol = settings.absolute_complementarity_tol = 1e-10
    settings.relative_feasibility_tol = settings.relative_complementarity_tol = 0.0
    delassus = pin.DelassusOperatorDense(space.G[np.ix_(order, order)])
    times, converged = [], True
    for _ in range(50):
        result = getattr(pin, f"{kind}SolverResult")()
        converged &= bool(solver.solve(delassus, space.u[order], models, datas, settings, result))
        times.append(solver.getElapsedTime())
    return float(np.median(times)), converged


def go2_landings() -> list[ContactProblem]:
    """Landings of all kinds: PGS takes from 5 to 15 µs, as much as the posture makes it."""
    rng = np.random.default_rng(0)
    found = [go2_landing(rng) for _ in range(LANDINGS)]
    return [problem for problem in found if problem is not None]


def mujoco_constraint() -> None:
    """Print µs of MuJoCo's constraint solve with the Go2's four feet on the ground, where both are installed."""
    try:
        import mujoco

        from hybrid_contact_ros.demo.go2_model import go2_model
        from hybrid_contact_ros.mechanics.example_data import example_urdf

        with open(example_urdf("go2_description/urdf/go2.urdf")) as file:
            model = go2_model(file.read())
    except (ImportError, OSError):
        return
    data = mujoco.MjData(model)
    data.qpos[7:] = np.tile([0.0, 0.9, -1.8], 4)
    mujoco.mj_forward(model, data)
    feet = [data.geom(f"{leg}_foot").xpos[2] for leg in ("FL", "FR", "RL", "RR")]
    data.qpos[2] -= min(feet) - 0.0195  # half a millimetre into the floor
    data.qvel[2] = -1.0
    mujoco.mj_forward(model, data)
    times = []
    for _ in range(500):
        data.qacc_warmstart[:] = 0.0
        begin = time.perf_counter_ns()
        mujoco.mj_fwdConstraint(model, data)
        times.append((time.perf_counter_ns() - begin) / 1e3)
    print(f"\nMuJoCo, Go2 on {data.ncon} feet, soft law: mj_fwdConstraint {np.median(times):.1f} µs")


def cell(found: tuple[float, float] | None, own: float) -> str:
    return f"{'-':>24}" if found is None else f"{found[0]:9.2f} ({found[0] / own:5.1f}×, {found[1]:4.0%})"


def main() -> None:
    """Print both tables."""
    print("increment LCP, µs (times ours, part that failed)")
    print(f"{'problem':<22}{'ours':>8}{'quantecon':>24}{'Drake Moby':>24}{'lemkelcp':>26}")
    for name, problem in problems().items():
        W, rights = lcps(problem)
        own = increments(problem, rights[:, : problem.contacts])
        cells = "".join(cell(peer(W, rights), own) for peer in (quantecon, drake, lemkelcp))
        print(f"{name:<22}{own:8.2f}{cells}", flush=True)
    print("\nsimultaneous impact, µs, means (times ours; least and most of the problems)")
    print(f"{'problem':<22}{'count':>6}{'ours':>8}{'PGS, 1e-10':>30}{'ADMM, 1e-10':>30}")
    for name, problem in problems().items():
        if problem.tangents != 2:
            continue
        landings = go2_landings() if name.startswith("Go2") else [problem]
        own, cells = np.array([ours(p) for p in landings]), ""
        for kind in ("PGS", "ADMM"):
            found, converged = np.array([pinocchio(p, kind) for p in landings]).T
            ratio, low, high = found.sum() / own.sum(), (found / own).min(), (found / own).max()
            span = f"; {low:.1f}-{high:.1f}" if len(landings) > 1 else ""
            cells += f"{found.mean():9.1f} ({ratio:.1f}×{span}{'' if converged.all() else ', not converged'})".rjust(30)
        print(f"{name:<22}{len(landings):>6}{own.mean():8.2f}{cells}", flush=True)
    mujoco_constraint()


if __name__ == "__main__":
    main()
