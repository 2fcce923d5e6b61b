"""Robots from a URDF: a Go2 that lands, and a ball that slides until it rolls."""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure

from benchmarks.gallery.page import BLUE, GREY, RED, ROOT, Entry, Row, plain
from hybrid_contact_ros.config import EstimatorConfig
from hybrid_contact_ros.mechanics.example_data import example_urdf
from hybrid_contact_ros.mechanics.model import RigidBodyModel
from hybrid_contact_ros.simulation.simulate import simulate
from hybrid_contact_ros.systems.robot import RobotSystem

_BALL = """<robot name="ball"><link name="ball"><inertial><mass value="2"/>
<inertia ixx="0.008" iyy="0.008" izz="0.008" ixy="0" ixz="0" iyz="0"/></inertial></link></robot>"""
_FRICTION, _SPEED = 0.3, 1.0


def landing(axes) -> Row:
    config = EstimatorConfig.from_file(ROOT / "config" / "go2.yaml")
    model = RigidBodyModel.from_urdf(example_urdf("go2_description/urdf/go2.urdf"), config)
    crouch = np.tile([0.0, 0.9, -1.8], 4)
    q = model.neutral()
    q[3:7] = 0.05, -0.075, 0.0, np.sqrt(1.0 - 0.05**2 - 0.075**2)
    q[7:] = crouch
    q[2] += 0.05 - RobotSystem(model).gap(q).min()
    run = simulate(model, q, np.zeros(18), 0.3, effort=lambda t, q, v, mode: 40.0 * (crouch - q[7:]) - 2.0 * v[6:])
    gaps = np.array([RobotSystem(model).gap(state) for state in run.q])
    for i, name in enumerate(run.names):
        axes.plot(run.times, 100.0 * gaps[:, i], label=name)
        for part in run.intervals:
            if i in part.mode.closed:
                colour = RED if i in part.mode.sliding else BLUE
                height = -0.6 - 0.5 * i
                axes.plot([part.start, part.end], [height, height], color=colour, linewidth=4, solid_capstyle="butt")
    axes.set_ylabel("gap [cm]; bars: closed")
    axes.legend(fontsize=8, frameon=False)
    expected = np.sqrt(2 * 0.05 / 9.81)
    what = f"Go2: first foot touches (free fall of 5 cm: {expected:.4f} s)"
    return Row(what, "", f"{run.events[0].time:.4f} s")


def rolling(axes) -> Row:
    contact = {"link": "ball", "radius": 0.1, "friction": _FRICTION}
    model = RigidBodyModel.from_urdf(_BALL, EstimatorConfig.from_mapping({"contacts": {"ground": contact}}))
    run = simulate(model, [0, 0, 0.1, 0, 0, 0, 1], [_SPEED, 0, 0, 0, 0, 0], 0.3 / _FRICTION)
    axes.plot(run.times, [np.hypot(v[0], v[2]) for v in run.v], color=BLUE, label="of the centre")
    axes.plot(run.times, 0.1 * run.v[:, 4], color=RED, label="r ω")
    axes.axhline(5.0 * _SPEED / 7.0, color=GREY, linewidth=0.8)
    axes.set_ylabel("speed [m/s]")
    axes.legend(fontsize=8, frameon=False)
    expected = 2.0 * _SPEED / (7.0 * _FRICTION * 9.81)
    return Row(f"ball: rolls from 2 v / (7 μ g) = {expected:.6f} s", "", f"{run.events[0].time:.6f} s")


def robots() -> tuple[Figure, list[Row]]:
    figure = Figure(figsize=(10, 3.2), layout="constrained")
    left, right = figure.subplots(1, 2)
    rows = [landing(left), rolling(right)]
    for axes in (left, right):
        axes.set_xlabel("t [s]")
        plain(axes)
    return figure, rows


ENTRIES = [
    Entry(
        "robots",
        "Robots from a URDF",
        "The same engine on Pinocchio's models, with quaternions: a Go2 dropped tilted with a joint controller, and a "
        "ball pushed without spin (grey: 5/7 of its first speed). More in "
        "[simulation.md](simulation.md).",
        robots,
    )
]
