"""Predictions into messages: the same fields whichever classes hold them."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pytest

from hybrid_contact_ros.codes import ContactStatus, EventKind, Flag, Status, Validity
from hybrid_contact_ros.messages.cdr import Layout
from hybrid_contact_ros.messages.encoding import Encoder
from hybrid_contact_ros.messages.impact_set import MAX_NUMBERS
from hybrid_contact_ros.messages.thinning import thin
from hybrid_contact_ros.messages.truth import TruthEncoder
from hybrid_contact_ros.messages.types import MESSAGES, MessageTypes
from hybrid_contact_ros.prediction import Event, ImpactPrediction, ModePrediction, ModeSequence, StabilityPrediction

ROOT = Path(__file__).resolve().parents[2]


@dataclass
class Names:
    contact_names: tuple[str, ...] = ("left", "right")
    contact_frames: tuple[str, ...] = ("l_foot", "r_foot")
    velocity_names: tuple[str, ...] = ("x", "y", "z")
    hash: int = 2**64 - 1


def rclpy_types() -> MessageTypes:
    pytest.importorskip("rclpy", reason="needs rclpy")
    import importlib

    def lookup(full: str):
        package, _, name = full.split("/")
        try:
            return getattr(importlib.import_module(f"{package}.msg"), name)
        except ImportError:
            pytest.skip(f"{package} is not built")

    return MessageTypes.rclpy(lookup)


def rosbags_types() -> MessageTypes:
    from hybrid_contact_ros.bags.typestore import message_types

    return message_types()


@pytest.fixture(params=[rclpy_types, rosbags_types], ids=["rclpy", "rosbags"])
def types(request) -> MessageTypes:
    return request.param()


def mode(stamp_ns: int = 1_500_000_000) -> ModePrediction:
    rng = np.random.default_rng(1)
    return ModePrediction(
        stamp_ns=stamp_ns,
        status=np.array([ContactStatus.OPEN, ContactStatus.SLIPPING], np.uint8),
        probability=np.array([0.25, 0.875]),
        probability_valid=False,
        position=rng.normal(size=(2, 3)),
        normal=rng.normal(size=(2, 3)),
        gap=rng.normal(size=2),
        gap_velocity=rng.normal(size=2),
        gap_acceleration=rng.normal(size=2),
        tangential_velocity=rng.normal(size=(2, 3)),
        force_model=rng.normal(size=(2, 3)),
        force_valid=np.array([True, False]),
        force_estimate=np.full((2, 3), np.nan),
        friction_coefficient=np.array([0.5, 0.75]),
        friction_margin=rng.normal(size=2),
        critical_friction=np.array([0.9, np.inf]),
        force_weight=np.array([1.0, 0.25]),
        ground_offset=np.array([0.001, 0.0]),
        ground_sigma=np.array([0.002, 0.01]),
        friction_lower=np.array([0.0, 0.4]),
        friction_upper=np.array([np.inf, 0.6]),
        friction_ratio=np.array([np.nan, 0.45]),
        slip_warning=np.array([False, True]),
        time_to_slip=np.array([np.nan, 0.015]),
        jammed=np.zeros(2, np.uint8),
        next_event=np.array([EventKind.TOUCHDOWN, EventKind.NONE], np.uint8),
        time_to_event=np.array([0.02, np.nan]),
        earliest=np.array([0.01, np.nan]),
        latest=np.array([np.inf, np.nan]),
        time_q05=np.array([0.012, np.nan]),
        time_q25=np.array([0.018, np.nan]),
        time_q75=np.array([0.023, np.nan]),
        time_q95=np.array([0.03, np.nan]),
        event_probability=np.array([0.96875, np.nan]),
        bounds_valid=np.array([True, False]),
        density_valid=np.array([False, True]),
        sequence=ModeSequence(
            np.array([0, 1]),
            np.array([1, 2], np.uint8),
            np.array([[0.02, 0.01, 0.03], [0.04, 0.04, np.inf]]),
            np.array([3, 1]),
            bounds_valid=True,
        ),
        validity=int(Validity.STATE | Validity.BASE),
        residual=1e-9,
        time_bounds_valid=True,
    )


def stability() -> StabilityPrediction:
    flags = np.array([Flag.HOLDS, Flag.FAILS], np.uint8)
    numbers = np.array([1.5, np.nan])
    return StabilityPrediction(
        7, np.array([True, False]), flags, numbers, flags, numbers, flags, numbers, numbers, numbers + 1,
        flags, numbers, flags, numbers, flags, numbers,
        np.array([0], np.uint32), np.array([1], np.uint32), np.array([-0.5]), np.array([Flag.HOLDS], np.uint8),
        np.array([0.25]),
    )  # fmt: skip


def impact(velocities: np.ndarray) -> ImpactPrediction:
    dof = velocities.shape[1]
    v = np.arange(dof, dtype=float)
    return ImpactPrediction(
        stamp_ns=2_000_000_000, contacts=np.array([1]), time_to_impact=0.0125, velocity_minus=v, nominal=2 * v,
        velocities=velocities, lower=v - 1, upper=v + 1, coverage=0.9, coverage_radius=0.1, confidence=0.95,
        kinetic_energy_minus=3.0, kinetic_energy_min=1.0, kinetic_energy_max=2.0, law="inelastic", truncated=False,
        terminated=True, residual=1e-12, status=Status.SOLVED,
    )  # fmt: skip


def test_a_mode_message_carries_every_number_to_the_bit(types):
    prediction = mode()
    msg = Encoder(types, Names(), "odom").mode(prediction, 2_000_000_001, 5)
    assert (msg.header.stamp.sec, msg.header.stamp.nanosec, msg.header.frame_id) == (1, 500_000_000, "odom")
    assert (msg.mode, msg.validity, msg.residual, msg.model_hash) == (0b10, 17, 1e-9, 2**64 - 1)
    assert (msg.compute_time.sec, msg.compute_time.nanosec, msg.input_age.nanosec) == (2, 1, 5)
    for i, contact in enumerate(msg.contacts):
        assert (contact.name, contact.frame) == (("left", "right")[i], ("l_foot", "r_foot")[i])
        assert contact.status == prediction.status[i] and contact.next_event == prediction.next_event[i]
        for vector, array in (
            (contact.position, prediction.position),
            (contact.normal, prediction.normal),
            (contact.tangential_velocity, prediction.tangential_velocity),
            (contact.force_model, prediction.force_model),
            (contact.force_estimate, prediction.force_estimate),
        ):
            np.testing.assert_array_equal([vector.x, vector.y, vector.z], array[i])
        scalars = [
            contact.probability, contact.gap, contact.normal_velocity, contact.friction_coefficient,
            contact.friction_margin, contact.time_to_event, contact.time_to_event_earliest,
            contact.time_to_event_latest, contact.critical_friction, contact.force_weight, contact.force_valid,
            contact.time_bounds_valid, contact.ground_offset, contact.ground_sigma, contact.time_to_event_q05,
            contact.time_to_event_q25, contact.time_to_event_q75, contact.time_to_event_q95, contact.event_probability,
            contact.time_density_valid, contact.friction_lower, contact.friction_upper, contact.friction_ratio,
            contact.slip_warning, contact.time_to_slip,
        ]  # fmt: skip
        expected = [
            prediction.probability[i], prediction.gap[i], prediction.gap_velocity[i],
            prediction.friction_coefficient[i], prediction.friction_margin[i], prediction.time_to_event[i],
            prediction.earliest[i], prediction.latest[i], prediction.critical_friction[i], prediction.force_weight[i],
            prediction.force_valid[i], prediction.time_bounds_valid, prediction.ground_offset[i],
            prediction.ground_sigma[i], prediction.time_q05[i], prediction.time_q25[i], prediction.time_q75[i],
            prediction.time_q95[i], prediction.event_probability[i], prediction.density_valid[i],
            prediction.friction_lower[i], prediction.friction_upper[i], prediction.friction_ratio[i],
            prediction.slip_warning[i], prediction.time_to_slip[i],
        ]  # fmt: skip
        np.testing.assert_array_equal(scalars, expected)
    told = [(e.contact, e.kind, e.time, e.earliest, e.latest, e.mode) for e in msg.sequence]
    assert told == [(0, 1, 0.02, 0.01, 0.03, 3), (1, 2, 0.04, 0.04, np.inf, 1)]
    assert all(e.bounds_valid for e in msg.sequence)


def test_bounds_are_valid_contact_by_contact(types):
    prediction = replace(mode(), time_bounds_valid=False)
    told = Encoder(types, Names()).mode(prediction).contacts
    assert [c.time_bounds_valid for c in told] == [True, False]
    assert [c.time_density_valid for c in told] == [False, True]


def test_a_reused_mode_message_is_the_same_message(types):
    fresh, reusing = Encoder(types, Names()), Encoder(types, Names(), reuse=True)
    reusing.mode(mode(1))
    assert repr(reusing.mode(mode(), 1, 2)) == repr(fresh.mode(mode(), 1, 2))


def test_a_stability_message_carries_flags_margins_and_pairs(types):
    msg = Encoder(types, Names()).stability(stability(), 3)
    assert list(msg.contacts) == ["left", "right"] and list(msg.closed) == [True, False]
    assert list(msg.zeno) == [Flag.HOLDS, Flag.FAILS]
    np.testing.assert_array_equal(msg.friction_margin, [1.5, np.nan])
    assert (list(msg.pair_first), list(msg.pair_second), list(msg.pair_coupling)) == ([0], [1], [-0.5])
    assert (list(msg.pair_order_sensitive), list(msg.pair_order_margin)) == ([Flag.HOLDS], [0.25])


def test_a_set_message_is_row_major_and_names_its_contacts(types):
    velocities = np.arange(6.0).reshape(2, 3)
    # A Fortran-ordered set must not come out transposed.
    msg = Encoder(types, Names()).impact(impact(np.asfortranarray(velocities)))
    assert (msg.count, msg.dof, list(msg.velocities)) == (2, 3, [0.0, 1.0, 2.0, 3.0, 4.0, 5.0])
    assert list(msg.contacts) == ["right"] and not msg.truncated
    assert (msg.impact_time.sec, msg.impact_time.nanosec) == (2, 12_500_000)


def test_an_empty_set_is_a_message_too(types):
    msg = Encoder(types, Names()).impact(impact(np.empty((0, 3))))
    assert msg.count == 0 and len(msg.velocities) == 0


def test_a_set_beyond_the_documented_maximum_is_thinned_and_says_so(types):
    velocities = np.random.default_rng(0).normal(size=(MAX_NUMBERS // 3 + 500, 3))
    msg = Encoder(types, Names()).impact(impact(velocities))
    kept = np.asarray(msg.velocities).reshape(msg.count, 3)
    assert msg.truncated and len(msg.velocities) <= MAX_NUMBERS and msg.count > MAX_NUMBERS // 3 - 7
    np.testing.assert_array_equal(kept.min(axis=0), velocities.min(axis=0))
    np.testing.assert_array_equal(kept.max(axis=0), velocities.max(axis=0))


@pytest.mark.parametrize("rows", [1, 6, 7, 50, 99, 100, 101])
def test_thinning_keeps_the_extremes_in_order_without_repeating_a_row(rows):
    velocities = np.random.default_rng(rows).normal(size=(100, 3))
    kept = thin(velocities, rows)
    place = [int(np.flatnonzero((velocities == row).all(axis=1))[0]) for row in kept]
    assert len(kept) == min(rows, 100) and place == sorted(set(place))
    if rows >= 6:
        np.testing.assert_array_equal(kept.max(axis=0), velocities.max(axis=0))


@pytest.mark.parametrize("dimensions", [2, 6])
@pytest.mark.parametrize("rows, least", [(64, 0.8), (400, 0.93)])
def test_thinning_keeps_the_width_of_the_set_in_every_direction(dimensions, rows, least):
    """Of points in a box, turned, whose few outermost ones would be lost among so many."""
    rng = np.random.default_rng(dimensions)
    turn = np.linalg.qr(rng.normal(size=(dimensions, dimensions)))[0]
    velocities = rng.uniform(-1, 1, (4000, dimensions)) * np.geomspace(1, 1e-3, dimensions) @ turn
    kept = thin(velocities, rows)
    assert len(kept) == rows
    directions = rng.normal(size=(500, dimensions)) @ np.diag(np.geomspace(1, 1e3, dimensions)) @ turn
    part = np.ptp(kept @ directions.T, axis=0) / np.ptp(velocities @ directions.T, axis=0)
    spaced = np.ptp(velocities[:: len(velocities) // rows] @ directions.T, axis=0)
    assert part.min() > least and part.mean() > 0.97
    assert part.mean() > (spaced / np.ptp(velocities @ directions.T, axis=0)).mean()
    np.testing.assert_array_equal(kept, thin(velocities, rows))


def test_a_set_without_extent_is_thinned_to_any_of_its_rows():
    assert thin(np.ones((50, 3)), 7).shape == (7, 3)
    assert thin(np.ones((50, 3)), 1).shape == (1, 3)


def test_events_are_numbered_without_holes(types):
    encoder = Encoder(types, Names())
    event = Event(10, 1, EventKind.LIFTOFF, True, 20, 15, 2**62, 0.5)
    first, second = encoder.event(event), encoder.event(event)
    assert (first.sequence, second.sequence) == (0, 1)
    assert (first.contact, first.kind, first.source) == ("right", EventKind.LIFTOFF, 2)
    # 2**62 ns is 146 years: beyond what a message's int32 seconds hold, so it stands at their end.
    assert first.latest.sec == 2**31 - 1


def test_a_truth_message_says_what_is_known_and_nothing_more(types):
    msg = TruthEncoder(types, Names()).truth(
        5, [True, False], np.array([[0.0, 0.0, 9.0], [0.0, 0.0, 0.0]]), [True, False]
    )
    assert msg.mode == 1 and [c.status for c in msg.contacts] == [ContactStatus.SLIPPING, ContactStatus.OPEN]
    assert msg.contacts[0].force_estimate.z == 9.0 and np.isnan(msg.contacts[0].gap)


def test_models_that_the_messages_cannot_hold_are_refused():
    types = rosbags_types()
    with pytest.raises(ValueError, match="65 contacts"):
        Encoder(types, Names(contact_names=("c",) * 65))
    with pytest.raises(ValueError, match="257 velocity"):
        Encoder(types, Names(velocity_names=("v",) * 257))


def test_enumerations_have_the_values_of_the_message_definitions():
    text = "".join((ROOT / "hybrid_contact_msgs/msg" / f"{n}.msg").read_text() for n in ("ContactState", "ContactMode",
                   "ContactEvent", "ConstraintStability"))  # fmt: skip
    constants = dict(re.findall(r"uint(?:8|32) ([A-Z_]+) = (\d+)", text))
    for kind, prefix in ((ContactStatus, ""), (EventKind, ""), (EventKind, "EVENT_"), (Flag, ""), (Validity, "VALID_")):
        for member in kind:
            assert int(constants[prefix + member.name]) == member


def test_both_kinds_of_classes_have_the_fields_that_are_filled():
    store = rosbags_types()
    for name in MESSAGES:
        assert getattr(store, name) is not None


def test_messages_serialize_alike_from_both_kinds_of_classes():
    rclpy, rosbags = rclpy_types(), rosbags_types()
    from rclpy.serialization import serialize_message

    from hybrid_contact_ros.bags.typestore import typestore

    for build in (
        lambda e: e.mode(mode(), 1, 2),
        lambda e: e.stability(stability(), 1),
        lambda e: e.impact(impact(np.arange(6.0).reshape(2, 3))),
        lambda e: e.event(Event(10, 1, EventKind.SLIP, False, 20, 15, 25, 0.5)),
    ):
        one, other = build(Encoder(rclpy, Names())), build(Encoder(rosbags, Names()))
        name = f"hybrid_contact_msgs/msg/{type(one).__name__}"
        # Alignment padding holds arbitrary bytes in some CDR writers, so both are read back by one reader, which wants
        # nothing behind the last field: rclpy leaves room there for what empty sequences might align.
        written = serialize_message(one)
        theirs = typestore().deserialize_cdr(written[: Layout(type(one).__name__, written).end], name)
        ours = typestore().deserialize_cdr(typestore().serialize_cdr(other, name), name)
        assert repr(theirs) == repr(ours)
