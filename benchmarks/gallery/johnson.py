"""Johnson's systems: the four curves, point and hill, settling block, ceiling, a robot of RHex's kind."""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure

from benchmarks.gallery.page import BLUE, GREY, RED, Entry, Row, plain
from hybrid_contact_ros.impacts.plastic import plastic_impact
from hybrid_contact_ros.modes.force_acceleration import force_acceleration_mode
from hybrid_contact_ros.simulation.simulate import simulate
from hybrid_contact_ros.systems.ceiling import ceiling
from hybrid_contact_ros.systems.curves import STAYS, curve
from hybrid_contact_ros.systems.point_and_hill import point_and_hill, stopping_speed
from hybrid_contact_ros.systems.rhex_leaps import DURATION, LEAPS, nose_height, two_footed_landing
from hybrid_contact_ros.systems.settling_block import LEAN, leaning, resting_speed, settling_block


def curves() -> tuple[Figure, list[Row]]:
    figure = Figure(figsize=(10, 2.6), layout="constrained")
    rows = []
    for axes, (case, stays) in zip(figure.subplots(1, 4), STAYS.items(), strict=True):
        system = curve(case)
        execution = simulate(system, [0.0, 0.0], [1.0, 0.0], 1.5)
        x = np.linspace(-1.5, 1.8, 200)
        surface = {"a": -(x**2) / 4, "b": x**2 / 4, "c": -(x**3) / 8, "d": x**3 / 8}[case]
        axes.fill_between(x, surface, surface.min() - 0.2, color=GREY, alpha=0.5)
        axes.plot(*execution.q.T, color=BLUE)
        axes.plot(0, 0, "o", color=RED, markersize=4)
        axes.set_title(f"({case})")
        axes.set_xlabel("x [m]")
        plain(axes)
        ours = "stays" if execution.modes[-1].closed else "leaves"
        rows.append(Row(f"curve ({case})", "stays" if stays else "leaves", ours))
    return figure, rows


def hill() -> tuple[Figure, list[Row]]:
    slope, duration = np.radians(30.0), 0.03
    limit = stopping_speed(slope, duration)
    figure = Figure(figsize=(8, 3), layout="constrained")
    axes = figure.subplots()
    axes.fill_between([-0.1, 0.0, 0.1], [0.0, 0.0, 0.1 * np.tan(slope)], -0.01, color=GREY, alpha=0.5)
    rows = []
    for factor, colour in ((0.9, BLUE), (1.1, RED)):
        speed = factor * limit
        run = simulate(point_and_hill(slope), [-0.05, 0.0], [speed, 0.0], 1.2, law="pseudo-impulse", duration=duration)
        axes.plot(*run.q.T, color=colour, label=f"{factor} of the stopping speed: {' '.join(run.word)}")
        ours = "rests at the foot" if len(run.modes[-1].closed) == 2 else "goes up the hill"
        rows.append(Row(f"{factor} δt g tan θ", "rests at the foot" if factor < 1 else "goes up the hill", ours))
    axes.legend(fontsize=8, frameon=False)
    axes.set_xlabel("x [m]")
    axes.set_ylabel("y [m]")
    plain(axes)
    return figure, rows


def block() -> tuple[Figure, list[Row]]:
    figure = Figure(figsize=(10, 3.2), layout="constrained")
    left, right = figure.subplots(1, 2)
    system, start = settling_block(), leaning(LEAN)
    plain_run = simulate(system, start, np.zeros(3), 1.0)
    cut = simulate(system, start, np.zeros(3), 1.0, law="pseudo-impulse", duration=0.03)
    for run, colour, name in ((plain_run, GREY, "plastic impacts only"), (cut, BLUE, "with the pseudo-impulse")):
        left.plot(run.times, np.degrees(run.q[:, 2]), color=colour, label=name)
        right.plot(run.times, run.v[:, 1], color=colour, label=name)
    limit = resting_speed()
    for sign in (-1, 1):
        right.axhline(sign * limit, color=RED, linewidth=0.8)
    left.set_ylabel("θ [deg]")
    right.set_ylabel("ż of the centre [m/s]; red: 6.3 cm/s")
    for axes in (left, right):
        axes.set_xlabel("t [s]")
        plain(axes)
    left.legend(fontsize=8, frameon=False)
    impacts = [e for e in cut.events if e.kind.value == "touchdown"]
    last = abs(impacts[-1].velocity_before[1])
    before = min(abs(e.velocity_before[1]) for e in impacts[:-1]) if len(impacts) > 1 else np.inf
    return figure, [
        Row("comes to rest below", "6.3 cm/s", f"{100 * abs(limit):.2f} cm/s"),
        Row("the impact that ends it", "0.27 s", f"{impacts[-1].time:.4f} s"),
        Row("its speed, and that of the one before", "", f"{100 * last:.2f}, {100 * before:.2f} cm/s"),
        Row("word", "", " ".join(cut.word)),
    ]


def under_ceiling() -> tuple[Figure, list[Row]]:
    run = simulate(ceiling(), [0.0], [6.0], 1.5)
    figure = Figure(figsize=(6, 2.6), layout="constrained")
    axes = figure.subplots()
    axes.axhline(1.0, color=GREY, linewidth=4)
    axes.plot(run.times, run.q[:, 0], color=BLUE)
    axes.set_xlabel("t [s]")
    axes.set_ylabel("height [m]")
    plain(axes)
    return figure, [Row("transitions at the instant of the impact", "2", str(run.most_at_once))]


def rhex() -> tuple[Figure, list[Row]]:
    figure = Figure(figsize=(10, 3.6), layout="constrained")
    rows = []
    for axes, (name, leap) in zip(figure.subplots(1, 3, sharey=True), LEAPS.items(), strict=True):
        robot = leap.robot()
        p = robot.parameters
        law = {"law": "pseudo-impulse", "duration": DURATION}
        run = simulate(robot, robot.crouch(), np.zeros(5), leap.t_final, **law)
        for time in np.linspace(run.times[0], run.times[-1], 9):
            q, _ = run.at(float(time))
            c, s = np.cos(q[2]), np.sin(q[2])
            body = q[:2] + np.array([[-0.5 * c, -0.5 * s], [0.5 * c, 0.5 * s]]) * p.body_length
            axes.plot(*body.T, color=BLUE, linewidth=3, alpha=0.3 + 0.7 * time / run.times[-1])
            for side, angle in ((1, q[3]), (-1, q[4])):
                hip = q[:2] + (p.hip_offset + side * p.hip) * np.array([c, s])
                toe = hip + p.leg * np.array([np.sin(q[2] + angle), -np.cos(q[2] + angle)])
                axes.plot(*np.array([hip, toe]).T, color=RED, alpha=0.5)
        axes.axhline(0.0, color=GREY)
        axes.axhline(leap.published, color=GREY, linestyle=":")
        axes.set_aspect("equal")
        axes.set_xlabel("x [m]")
        axes.set_title(f"{name} ({leap.figure})", fontsize=9)
        plain(axes)
        rise, nose = run.q[:, 1].max() - run.q[0, 1], nose_height(robot, run.q).max()
        vertical = name == "vertical"
        rows.append(Row(f"{name}: rise of the centre", "0.37 m" if vertical else "", f"{rise:.3f} m"))
        rows.append(
            Row(
                f"{name}: height of the nose",
                "" if vertical else f"{100 * leap.published:.0f} cm ledge",
                f"{nose:.3f} m",
            )
        )
        rows.append(Row(f"{name}: word", "", " ".join(run.word)))
    return figure, rows


def chatter() -> tuple[Figure, list[Row]]:
    robot, q, v = two_footed_landing()
    figure = Figure(figsize=(10, 3), layout="constrained")
    runs = []
    for axes, law, title in zip(
        figure.subplots(1, 2, sharey=True), ("impulse-velocity", "pseudo-impulse"), ("without", "with"), strict=True
    ):
        run = simulate(robot, q, v, 0.1, law=law, duration=DURATION)
        runs.append(run)
        gaps = np.array([robot.gap(state)[:2] for state in run.q])
        for i, colour in ((0, BLUE), (1, RED)):
            axes.plot(run.times, 1e3 * gaps[:, i], color=colour, label=run.names[i])
        axes.set_title(f"{title} the pseudo-impulse", fontsize=9)
        axes.set_xlabel("t [s]")
        axes.set_ylabel("height of the toe [mm]")
        axes.legend(fontsize=8, frameon=False)
        plain(axes)
    landing = runs[0].events[1]
    held = plastic_impact(robot.problem(landing.q, landing.velocity_before), [0, 1])
    pull = held.impulse[0, 0]
    steady = force_acceleration_mode(robot.problem(landing.q, held.velocity), [0, 1]).forces[0, 0]
    counts = [sum(e.kind.value == "touchdown" for e in run.events) for run in runs]
    return figure, [
        Row("the rear leg lands", "0.023 s", f"{landing.time:.4f} s"),
        Row("impulse at the front leg, were it held", "−1.47 N s", f"{pull:.2f} N s"),
        Row("δt times its steady force", "7.91 N s", f"{DURATION * steady:.2f} N s"),
        Row("landings without and with it", "", f"{counts[0]}, {counts[1]}"),
    ]


ENTRIES = [
    Entry(
        "curves",
        "Four curves (Johnson, Fig. 2)",
        "A point touches a curve without normal speed. Whether the curve holds it is decided by the first derivative "
        "of the gap that does not vanish (Johnson, Definition 1); in (c) and (d) that is the third.",
        curves,
    ),
    Entry(
        "hill",
        "Point and hill (Johnson, Fig. 7)",
        "A point slides to the foot of a hill. Without the pseudo-impulse it goes up at any speed; with δt = 0.03 s it "
        "rests below δt g tan θ.",
        hill,
    ),
    Entry(
        "block",
        "Rocking block (Johnson, Figs. 8 and 9)",
        "Rocks from corner to corner, ever faster and lower: Zeno. The pseudo-impulse ends it. It starts from rest "
        "with a lean of 0.1709 rad, which gives the 0.27 s of Fig. 9. Johnson (100)-(103) print +2 I where the balance "
        "of momenta, and Johnson's own 6.3 cm/s, have −2 I.",
        block,
    ),
    Entry(
        "ceiling",
        "Ball under a ceiling (Johnson §3.4)",
        "The impact stops the ball, and gravity takes it away at once: two transitions at one instant, the most there "
        "can be (Johnson, Theorem 8).",
        under_ceiling,
    ),
    Entry(
        "rhex",
        "Leaps of a robot with massless legs (Johnson, Figs. 1, 5, 10)",
        "Planar, of X-RHex's size, with the paper's friction, timing and pseudo-impulse. Mass, motors and postures are "
        "not in the paper; ours stand in `systems/rhex_leaps.py`, and the motors' speed was chosen for the 37 cm. A "
        "ledge (dotted) is a height that the nose comes above, and no contact: the robot does not land on it.",
        rhex,
    ),
    Entry(
        "chatter",
        "Two legs that land in turns (Johnson, Figs. 3 and 4)",
        "Without the pseudo-impulse each landing pulls the other leg off the ground, again and again; with it both "
        "stay. The impulses are those of our robot.",
        chatter,
    ),
]
