"""Panels over time, and of these the ones with lines and points: probabilities, forces, gaps, events, friction,
impacts, time taken."""

from __future__ import annotations

import numpy as np

from hybrid_contact_ros.reporting.bar_panels import contact_panel, flag_panel, refusal_panel
from hybrid_contact_ros.reporting.chosen import absent, drawn_contacts, of_many
from hybrid_contact_ros.reporting.events import KINDS, Foretold
from hybrid_contact_ros.reporting.impacts import Impact
from hybrid_contact_ros.reporting.panels import Band, Item, Line, Panel, Points
from hybrid_contact_ros.reporting.record import Record


def time_panels(record: Record, events: list[Foretold], impacts: list[Impact]) -> list[Panel]:
    """All panels over time, in the order of the page."""
    shown = drawn_contacts(record)
    return [
        contact_panel(record),
        _probability(record, shown),
        *_forces(record, shown),
        _gap(record, shown),
        _next_event(record, shown),
        _event_errors(record, events),
        _friction(record, shown),
        _lines(record, shown, "force_weight", "trust", "Trust in efforts",
               "How far the measured efforts explain each limb's motion: at 1 its forces count fully, at 0 they do not "
               "(docs/effort_trust.md). It is a weight, and no probability.", "weight [-]"),
        flag_panel(record, shown),
        _impacts(record, impacts),
        _taken(record),
        refusal_panel(record),
    ]  # fmt: skip


def _lines(record: Record, shown: list[int], column: str, key: str, title: str, caption: str, label: str) -> Panel:
    """A line from 0 to 1 for each contact."""
    values = record.column("contacts", column)
    caption += of_many(record, shown)
    if values is None:
        return Panel(key, title, caption, label, empty=absent("contacts", column))
    lines = tuple(Line(record.contacts[i], record.t, values[:, i].astype(float), i) for i in shown)
    return Panel(key, title, caption, label, lines, limits=(None, (-0.02, 1.02)))


def _probability(record: Record, shown: list[int]) -> Panel:
    valid = record.column("contacts", "probability_valid")
    if valid is None:
        claim = "The result does not say whether these are calibrated."
    else:
        share = float(np.mean(valid)) if valid.size else 0.0
        claim = (
            f"They are claimed to be calibrated (probability_valid) in {share:.1%} of the states; in the others they "
            "are scores without that claim."
        )
    text = f"Probability that each contact is closed. {claim}"
    return _lines(record, shown, "probability", "probability", "Probability of contact", text, "probability [-]")


def _forces(record: Record, shown: list[int]) -> list[Panel]:
    """A panel for each contact, so that bands do not lie over each other."""
    force, sigma = record.column("contacts", "normal_force"), record.column("contacts", "normal_force_sigma")
    if force is None:
        return [Panel("force", "Normal forces", "", "force [N]", empty=absent("contacts", "normal_force"))]
    panels = []
    for i in shown:
        name, y = record.contacts[i], force[:, i].astype(float)
        items: list[Item] = []
        caption = "Estimated normal force of the contact, positive pushes on the robot."
        if sigma is None:
            caption += " The result has no deviation of it, so there is no band."
        else:
            wide = 2.0 * sigma[:, i].astype(float)
            items.append(Band("± 2 σ", record.t, y - wide, y + wide, i))
            caption += (
                " The band is ± 2 standard deviations by noise and the observer's lag. It is not calibrated; it held "
                "84 to 100 % of the true forces of simulated robots."
            )
        items.append(Line(name, record.t, y, i))
        nothing = (
            ""
            if np.isfinite(y).any()
            else "no force was estimated: no effort was measured, or the observer had not settled"
        )
        panels.append(Panel(f"force_{i}", f"Normal force: {name}", caption, "force [N]", tuple(items), empty=nothing))
    return panels


def _gap(record: Record, shown: list[int]) -> Panel:
    gap = record.column("contacts", "gap")
    caption = "Distance of each contact from the ground as learned; negative is inside it."
    if gap is None:
        return Panel("gap", "Gaps", caption, "gap [mm]", empty=absent("contacts", "gap"))
    name = "gap_sigma" if record.column("contacts", "gap_sigma") is not None else "ground_sigma"
    sigma = record.column("contacts", name)
    items: list[Item] = []
    for i in shown:
        y = 1e3 * gap[:, i].astype(float)
        if sigma is not None:
            wide = 2e3 * sigma[:, i].astype(float)
            items.append(Band(record.contacts[i], record.t, y - wide, y + wide, i))
        items.append(Line(record.contacts[i], record.t, y, i))
    if sigma is not None:
        what = "the gap" if name == "gap_sigma" else "the height of the ground"
        caption += f" Bands are ± 2 standard deviations of {what}; they are not calibrated."
    return Panel("gap", "Gaps", caption + of_many(record, shown), "gap [mm]", tuple(items))


def _next_event(record: Record, shown: list[int]) -> Panel:
    ahead, kind = record.column("contacts", "time_to_event"), record.column("contacts", "next_event")
    caption = (
        "Time from each state to the touchdown or liftoff that it foretells; a good prediction falls to zero along a "
        "straight line."
    )
    if ahead is None or kind is None:
        return Panel("next_event", "Next event", caption, "time to it [ms]", empty=absent("contacts", "time_to_event"))
    low, high, valid = (record.column("contacts", name) for name in ("earliest", "latest", "bounds_valid"))
    items: list[Item] = []
    for i in shown:
        told = np.isin(kind[:, i], list(KINDS))
        if low is not None and high is not None:
            least, most = (1e3 * np.where(told, x[:, i], np.nan) for x in (low, high))
            items.append(Band(record.contacts[i], record.t, least, most, i))
        items.append(Line(record.contacts[i], record.t, 1e3 * np.where(told, ahead[:, i], np.nan), i))
    if low is not None:
        share = (
            f" in {float(np.mean(valid[np.isin(kind, list(KINDS))])):.1%} of these"
            if valid is not None and np.isin(kind, list(KINDS)).any()
            else ""
        )
        claim = f"they claim to be calibrated (bounds_valid){share}" if valid is not None else "they are not calibrated"
        caption += f" Bands go from the earliest to the latest time; {claim}."
    drawn = any(isinstance(x, Line) and np.isfinite(x.y).any() for x in items)
    nothing = "" if drawn else "no touchdown or liftoff was foretold"
    return Panel(
        "next_event", "Next event", caption + of_many(record, shown), "time to it [ms]", tuple(items), empty=nothing
    )


def _event_errors(record: Record, events: list[Foretold]) -> Panel:
    """Of 20 ms ahead."""
    whose = "true" if record.truth is not None else f"detected ({record.without_truth})"
    caption = (
        f"Foretold − {whose} time of each touchdown and liftoff, as foretold 20 ms before it; above zero it came "
        "earlier than foretold. Crosses at zero were not foretold."
    )
    items: list[Item] = []
    for one in (x for x in events if x.horizon == 0.02):
        colour, name = list(KINDS).index(one.kind), KINDS[one.kind]
        text = tuple(record.groups[j][0] for j in one.groups.tolist())
        items.append(Points(name, one.times, 1e3 * one.errors, colour, "circle", text))
        text = tuple(record.groups[j][0] for j in one.missed_groups.tolist())
        items.append(Points(f"{name}, not foretold", one.missed, np.zeros(one.missed.size), "wrong", "cross", text))
    count = sum(x.events for x in events)
    nothing = "" if count else "there is no touchdown or liftoff" if events else absent("contacts", "next_event")
    return Panel("event_errors", "Errors of foretold events", caption, "error [ms]", tuple(items), empty=nothing)


def _friction(record: Record, shown: list[int]) -> Panel:
    low, high = (record.column("contacts", name) for name in ("friction_lower", "friction_upper"))
    caption = (
        "Bounds of each contact's friction coefficient that forces have shown: full lines the least that held, dashed "
        "ones the greatest that slid (docs/friction.md); nothing is drawn where they have shown none."
    )
    if low is None or high is None:
        return Panel("friction", "Friction", caption, "μ [-]", empty=absent("contacts", "friction_lower"))
    items: list[Item] = []
    for i in shown:
        least, most = low[:, i].astype(float), high[:, i].astype(float)
        items.append(Line(f"{record.contacts[i]}, at least", record.t, np.where(least > 0, least, np.nan), i))
        items.append(
            Line(f"{record.contacts[i]}, at most", record.t, np.where(np.isfinite(most), most, np.nan), i, True)
        )
    shows = any(isinstance(x, Line) and np.isfinite(x.y).any() for x in items)
    nothing = "" if shows else "forces have shown no bound of friction"
    return Panel("friction", "Friction", caption + of_many(record, shown), "μ [-]", tuple(items), empty=nothing)


def _impacts(record: Record, impacts: list[Impact]) -> Panel:
    """Distances of observed velocities from their sets."""
    caption = (
        "Observed velocities after impacts: their distance from the predicted set, and the radius of that set, both as "
        "a part of the observed jump in the kinetic norm. A click on one shows it among the sets."
    )
    told = [one for one in impacts if np.isfinite(one.distance)]
    nothing = (
        ""
        if told
        else "no impact was observed: none was told by a truth"
        if not impacts
        else "no observed impact had a predicted set"
    )
    t = np.array([one.time for one in told])
    text = tuple(one.names for one in told)
    items = (
        Points("radius of the set", t, np.array([100 * one.radius for one in told]), "muted", "square", text),
        Points("distance from it", t, np.array([100 * one.distance for one in told]), 0, "circle", text),
    )
    return Panel("impacts", "Impacts against their sets", caption, "part of the jump [%]", items, empty=nothing)


def _taken(record: Record) -> Panel:
    columns = {"compute": ("compute_ns", 1e-3), "age of the input": ("input_age_ns", 1e-3)}
    items = []
    for i, (name, (column, scale)) in enumerate(columns.items()):
        values = record.column("states", column)
        if values is not None and np.any(values != 0):
            items.append(Line(name, record.t, scale * values.astype(float), i))
    caption = (
        "Time that the estimator took for each state on the machine of the replay, and age of the measurement then."
    )
    nothing = "" if items else absent("states", "compute_ns")
    return Panel("taken", "Time taken", caption, "time [µs]", tuple(items), empty=nothing)
