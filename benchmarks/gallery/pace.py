"""Pace's trotters: outcomes that jump and outcomes with a corner, the periodic orbit, its return map."""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure
from scipy.optimize import brentq

from benchmarks.gallery.page import BLUE, GREY, RED, Entry, Row, plain
from hybrid_contact_ros.orbits.outcome import outcome_derivative
from hybrid_contact_ros.orbits.piecewise import PiecewiseLinear, piecewise_linear
from hybrid_contact_ros.orbits.poincare import PoincareMap, Section
from hybrid_contact_ros.orbits.stability import OrbitStability, orbit_stability
from hybrid_contact_ros.simulation.simulate import simulate
from hybrid_contact_ros.systems.trotters import HIP, LEG, rigid_trotter, soft_trotter, soft_trotter_apex

DROP, SHOWN = 0.2, 0.13  # m; s, 30 ms after the touchdown of the soft trotter
EXACT = {"rtol": 1e-11, "atol": 1e-13}


def rigid() -> tuple[Figure, list[Row]]:
    figure = Figure(figsize=(10, 3.2), layout="constrained")
    course, outcomes = figure.subplots(1, 2)
    spins = {}
    for tilt in (*np.linspace(-0.05, -1e-6, 12), 0.0, *np.linspace(1e-6, 0.05, 12)):
        run = simulate(rigid_trotter(), [0.0, LEG + DROP, tilt], np.zeros(3), 0.28)
        spins[tilt] = float(run.events[-1].velocity_after[2])
        colour = GREY if tilt == 0.0 else BLUE if tilt > 0.0 else RED
        course.plot(run.times, run.v[:, 2], color=colour, linewidth=0.8)
        outcomes.plot(tilt, spins[tilt], "o", color=colour, markersize=3)
    course.set_xlabel("t [s]")
    course.set_ylabel("θ̇ [rad/s]")
    outcomes.set_xlabel("θ(0) [rad]; blue: the left foot first")
    outcomes.set_ylabel("θ̇ after the impacts [rad/s]")
    for axes in (course, outcomes):
        plain(axes)
    return figure, [
        Row("θ(0) = 0", "0", f"{abs(spins[0.0]):.4f} rad/s"),
        Row("θ(0) > 0, left foot first", "bounded away from 0", f"{spins[1e-6]:.4f} rad/s at 1e-6"),
        Row("θ(0) < 0, right foot first", "bounded away from 0", f"{spins[-1e-6]:.4f} rad/s at −1e-6"),
    ]


def soft() -> tuple[Figure, list[Row]]:
    figure = Figure(figsize=(10, 3.2), layout="constrained")
    names = ("ż [m/s]", "θ̇ [rad/s]")
    start = simulate(soft_trotter(), *soft_trotter_apex(), SHOWN, **EXACT)
    derivative = outcome_derivative(start).map
    tilt, upright = 0.03, soft_trotter_apex()[0]
    unit = np.concatenate((soft_trotter_apex(1e-6)[0] - upright, np.zeros(4))) / 1e-6
    slopes = {sign: sign * derivative.apply(sign * unit) for sign in (1.0, -1.0)}
    tilts = np.linspace(-tilt, tilt, 41)
    ends = np.array([simulate(soft_trotter(), *soft_trotter_apex(a), SHOWN, **EXACT).v[-1] for a in tilts])
    for axes, k, name in zip(figure.subplots(1, 2), (0, 1), names, strict=True):
        for sign, colour in ((1.0, BLUE), (-1.0, RED)):
            side = tilts * sign >= -1e-12
            axes.plot(tilts[side], ends[side, k], color=colour)
            line = start.v[-1][k] + slopes[sign][4 + k] * tilts
            axes.plot(tilts, line, color=colour, linestyle="--", linewidth=0.8)
        axes.set_xlabel("θ(0) [rad]; blue: the left foot first")
        axes.set_ylabel(f"{name} at {SHOWN} s")
        plain(axes)
    return figure, [
        Row("slope of ż at θ(0) = 0, left and right foot first", "", f"{slopes[1.0][4]:.4f}, {slopes[-1.0][4]:.4f}"),
        Row("of θ̇", "", f"{slopes[1.0][5]:.4f}, {slopes[-1.0][5]:.4f}"),
    ]


def returning() -> PoincareMap:
    """The return map over the apex."""
    apex = Section(lambda q, v: -v[0], lambda q, v: [0.0] * 4 + [-1.0, 0.0, 0.0, 0.0])
    return PoincareMap(soft_trotter(), apex, 0.85, shortest=0.5)


def orbit() -> tuple[Figure, list[Row]]:
    q, v = soft_trotter_apex()
    trot = returning()
    once = trot(q, v)
    run = once.execution
    nadir = float(brentq(lambda time: run.at(time)[1][0], 0.2, 0.6))
    figure = Figure(figsize=(10, 3.2), layout="constrained")
    snapshots, course = figure.subplots(1, 2, width_ratios=(1.4, 1.0))
    touchdown, liftoff = run.events[0].time, run.events[1].time
    for k, time in enumerate((0.0, touchdown, nadir, liftoff, once.time)):
        state, _ = run.at(time)
        centre = 1.2 * k
        snapshots.plot([centre - 0.5, centre + 0.5], [state[0]] * 2, color=BLUE, linewidth=5, alpha=0.6)
        for side, foot in ((-HIP, state[2]), (HIP, state[3])):
            snapshots.plot([centre + side] * 2, [state[0], foot], color=RED)
            snapshots.plot(centre + side, foot, "o", color=RED, markersize=3)
        snapshots.text(centre, 0.95, f"{time - nadir:+.1f} s", ha="center", fontsize=8)
    snapshots.axhline(0.0, color=GREY)
    snapshots.set_aspect("equal")
    snapshots.set_xticks([])
    snapshots.set_ylabel("height [m]")
    for tilt, colour in ((0.0, GREY), (0.1, BLUE), (-0.1, RED)):
        beside = simulate(soft_trotter(), *soft_trotter_apex(tilt), 0.8, **EXACT)
        course.plot(beside.times - nadir, np.degrees(beside.q[:, 1]), color=colour)
    course.set_xlabel("t [s]")
    course.set_ylabel("θ [deg]; blue: the left foot first")
    for axes in (snapshots, course):
        plain(axes)
    return figure, [
        Row("section z", "0.8", f"{once.q[0]:.5f} m"),
        Row("period", "0.8", f"{once.time:.5f} s"),
        Row("apex, from the nadir", "±0.4", f"{-nadir:.5f}, {once.time - nadir:+.5f} s"),
        Row("touchdown, liftoff", "±0.3", f"{touchdown - nadir:.5f}, {liftoff - nadir:+.5f} s"),
    ]


def border(right: tuple[float, float], left: tuple[float, float]) -> PiecewiseLinear:
    """(x, y) ↦ (τ x + y, −δ x) with (τ, δ) of the side of x = 0: continuous."""
    matrices = [[[trace, 1.0], [-determinant, 0.0]] for trace, determinant in (right, left)]
    return piecewise_linear(matrices, [[[1.0, 0.0]], [[-1.0, 0.0]]])


def return_map() -> tuple[Figure, list[Row]]:
    figure = Figure(figsize=(10, 3.6), layout="constrained")
    left, middle, right = figure.subplots(1, 3)
    # Fig. 4: two maps of the plane. One enlarges an eigenvector within its cone, the other turns it into another one
    unstable, silent = border((1.6, 0.5), (0.2, 0.1)), border((-0.5, 0.3), (-1.6, 0.5))
    angles = np.linspace(0.0, 2.0 * np.pi, 200)
    circle = np.array([np.cos(angles), np.sin(angles)])
    for axes, drawn, side, name in (
        (left, unstable, 0, "DP ν in the cone of ν"),
        (middle, silent, 1, "DP ν in another cone"),
    ):
        axes.plot(*circle, color=GREY)
        for piece, colour in zip(drawn.pieces, (BLUE, RED), strict=True):
            active = np.array([piece.depth(x) >= 0.0 for x in circle.T])
            image = piece.matrix @ circle
            axes.plot(*image, color=colour, linestyle=":", linewidth=0.8)
            axes.plot(*np.where(active, image, np.nan), color=colour)
        values, vectors = np.linalg.eig(drawn.pieces[side].matrix)
        vector = vectors[:, np.abs(values).argmax()].real
        vector *= np.sign(vector[0]) * (1.0 if side == 0 else -1.0)
        for drawn_vector, colour in ((vector, GREY), (drawn.pieces[side].matrix @ vector, "black")):
            axes.arrow(0, 0, *drawn_vector, color=colour, head_width=0.06, length_includes_head=True)
        axes.axvline(0.0, color=GREY, linewidth=0.5)
        axes.set_aspect("equal")
        axes.set_title(name, fontsize=9)
        plain(axes)
    found = stability()
    proof = found.certificate
    right.plot(np.cos(angles), np.sin(angles), color=GREY)
    for values, marker in zip(found.multipliers, ("o", "x"), strict=True):
        right.plot(values.real, values.imag, marker, color=BLUE if marker == "o" else RED, markersize=5)
    right.set_aspect("equal")
    right.set_title("multipliers of the trot", fontsize=9)
    plain(right)
    first = np.sort(np.abs(found.multipliers[0]))[::-1]
    return figure, [
        Row("the trot is exponentially stable", "", found.answer.value),
        Row("moduli of the multipliers, both selections", "", ", ".join(f"{x:.4f}" for x in first[:3])),
        Row("factor of both in one norm", "", f"{proof.factor:.4f}"),
        Row("Fig. 4 left: the fixed point is stable", "no", orbit_stability(unstable).answer.value),
        Row("right: by the test of one return", "undecided", orbit_stability(silent, length=1).answer.value),
        Row("right: by words of three", "", orbit_stability(silent, length=3).answer.value),
    ]


def stability() -> OrbitStability:
    """Of the trot."""
    return orbit_stability(returning().derivative(*soft_trotter_apex()))


ENTRIES = [
    Entry(
        "rigid_trotter",
        "A trotter on rigid legs (Pace, Fig. 1 left)",
        "Dropped with a small tilt it goes on turning, one way or the other; dropped level it stops. The paper states "
        "no number but zero; ours are in [trotters.md](trotters.md).",
        rigid,
    ),
    Entry(
        "soft_trotter",
        "A trotter on soft legs (Pace, Fig. 1 right)",
        "Outcomes (solid) are continuous and have a corner at θ(0) = 0, where the lines of the Bouligand derivative "
        "(dashed) meet.",
        soft,
    ),
    Entry(
        "trot",
        "Its periodic orbit (Pace, Fig. 3)",
        "From apex to apex through simultaneous touchdowns and liftoffs; on the right with a tilt of ±0.1 rad.",
        orbit,
    ),
    Entry(
        "return_map",
        "Stability by the Bouligand derivative (Pace, §6.2, Fig. 4)",
        "Unit circles and their images under both selections, solid where a selection is active; an eigenvector (grey) "
        "and its image. One that grows proves instability where both lie in its cone. On the right the soft trotter's "
        "multipliers, equal for both selections; one norm in which both contract proves its stability. "
        "[orbits.md](orbits.md) has the method.",
        return_map,
    ),
]
