"""The bytes of predictions are those of the Encoder's messages, and readers find every number in them."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from helpers.random_messages import FULL, agreeing, bits, littered, messages
from hybrid_contact_ros.bags.typestore import message_types, typestore
from hybrid_contact_ros.codes import EventKind, LandingPhase, Status
from hybrid_contact_ros.messages import definitions
from hybrid_contact_ros.messages.cdr import Layout, serialize
from hybrid_contact_ros.messages.encoding import Encoder
from hybrid_contact_ros.messages.impact_set import MAX_GENERATORS, MAX_NUMBERS
from hybrid_contact_ros.messages.readers import (
    ConstraintStabilityReader,
    ContactModeReader,
    PostImpactVelocitySetReader,
)
from hybrid_contact_ros.messages.serialized_encoding import SerializedEncoder
from hybrid_contact_ros.prediction import Event, ImpactPrediction, ModePrediction, ModeSequence, StabilityPrediction


@dataclass
class Names:
    contact_names: tuple[str, ...]
    contact_frames: tuple[str, ...]
    velocity_names: tuple[str, ...] = ("x", "y", "z")
    hash: int = 2**64 - 1


ALIKE = Names(("FL", "FR", "RL"), ("FL_foot", "FR_foot", "RL_foot"))
UNLIKE = Names(("a", "left hand", "über", "x" * 30), ("f", "frame", "", "yy"))
MANY = Names(tuple(f"c{k}" for k in range(64)), tuple("f" * k for k in range(64)))
NONE = Names((), ())


def mode(m: int, k: int, seed: int) -> ModePrediction:
    rng = np.random.default_rng(seed)
    codes = lambda n, most: rng.integers(0, most, n).astype(np.uint8)  # noqa: E731
    sequence = ModeSequence(
        rng.integers(0, max(m, 1), k), codes(k, 5), rng.normal(size=(k, 3)), rng.integers(0, 2**62, k), bool(seed % 2)
    )
    floats = {f.name: rng.normal(size=m) for f in fields(ModePrediction) if str(f.type) == "Array"}
    vectors = ("position", "normal", "tangential_velocity", "force_model", "force_estimate")
    floats |= {name: rng.normal(size=(m, 3)) for name in vectors}
    floats["time_to_event"][rng.random(m) < 0.5] = np.nan
    floats["latest"][rng.random(m) < 0.5] = np.inf
    return ModePrediction(
        stamp_ns=int(rng.integers(0, 2**60)), status=codes(m, 4), probability_valid=bool(seed % 3),
        force_valid=rng.random(m) < 0.5, bounds_valid=rng.random(m) < 0.5,
        slip_warning=rng.random(m) < 0.5, jammed=codes(m, 3),
        next_event=codes(m, 5), sequence=sequence,
        validity=int(rng.integers(0, 128)), residual=float(rng.normal()), time_bounds_valid=bool(seed % 5),
        density_valid=rng.random(m) < 0.5, **floats,
    )  # fmt: skip


def stability(m: int, pairs: int, seed: int) -> StabilityPrediction:
    rng = np.random.default_rng(seed)
    made = {}
    for field in fields(StabilityPrediction):
        n = pairs if field.name.startswith("pair") else m
        kind = str(field.type)
        if kind == "Codes":
            made[field.name] = rng.integers(0, 3, n).astype(np.uint8)
        elif kind == "Array":
            made[field.name] = np.where(rng.random(n) < 0.2, np.nan, rng.normal(size=n))
    made |= {"pair_first": rng.integers(0, 64, pairs).astype(np.uint32), "closed": rng.random(m) < 0.5}
    made["pair_second"] = made["pair_first"] + np.uint32(1)
    return StabilityPrediction(stamp_ns=int(rng.integers(0, 2**60)), chatter_bounds_valid=bool(seed % 2), **made)


def landing(dof: int, seed: int) -> dict[str, object]:
    """What a landing adds to a set: nothing, or all of it."""
    if seed % 4 == 0:
        return {}
    rng = np.random.default_rng(seed)
    g, r = seed % 7, seed % 3
    return {
        "generators": np.asfortranarray(rng.normal(size=(g, dof))), "margin": 0.25, "jump": 1.5, "level": 0.95,
        "calibration_count": [0, 19][seed % 2], "calibration_method": ["", "split"][seed % 2],
        "quantile_lower": rng.normal(size=dof), "quantile_upper": rng.normal(size=dof), "quantile_level": 0.9,
        "basis": rng.normal(size=(r, dof)), "basis_change": rng.normal(size=r), "earliest": -0.001, "latest": np.inf,
        "phase": LandingPhase.INCOMPLETE, "order_probability": 0.75, "joint_jump": rng.normal(size=dof),
        "mass": np.asfortranarray(rng.normal(size=(dof, dof))), "time_bounds_valid": bool(seed % 2),
        "order_probability_valid": bool(seed % 3),
    }  # fmt: skip


def impact(contacts, rows: int, dof: int, seed: int, **more) -> ImpactPrediction:
    rng = np.random.default_rng(seed)
    names = ("coverage", "coverage_radius", "confidence", "kinetic_energy_minus", "kinetic_energy_min", "residual")
    return ImpactPrediction(
        stamp_ns=int(rng.integers(0, 2**60)), contacts=np.array(contacts, np.intp), status=Status.SOLVED,
        time_to_impact=float(rng.choice([0.0125, np.nan, 3.0])), velocity_minus=rng.normal(size=dof),
        nominal=rng.normal(size=dof), velocities=np.asfortranarray(rng.normal(size=(rows, dof))),
        lower=rng.normal(size=dof), upper=rng.normal(size=dof), kinetic_energy_max=np.inf, truncated=bool(seed % 2),
        law=["inelastic", "poisson"][seed % 2], terminated=bool(seed % 3), coverage_valid=bool(seed % 2),
        **{name: float(rng.normal()) for name in names}, **more,
    )  # fmt: skip


def expected(kind: str, message) -> bytes:
    return bytes(typestore().serialize_cdr(message, FULL[kind]))


def both(names: Names, frame: str = "odom") -> tuple[Encoder, SerializedEncoder]:
    return Encoder(message_types(), names, frame), SerializedEncoder(message_types(), names, frame)


@pytest.mark.parametrize("names", [ALIKE, UNLIKE, MANY, NONE], ids=["alike", "unlike", "many", "none"])
@pytest.mark.parametrize("frame", ["", "odom", "a frame"])
def test_a_mode_has_the_bytes_of_its_message_and_a_reader_finds_all_of_it(names, frame):
    one, other = both(names, frame)
    read, m = ContactModeReader(), len(names.contact_names)
    for seed in range(40):
        prediction = mode(m, [0, 1, 2, 5, 64][seed % 5], seed)
        times = seed * 987_654_321, -seed * 10**18
        data = other.mode(prediction, *times)
        assert data == expected("ContactMode", one.mode(prediction, *times))
        view = read(data)
        assert (view.stamp_ns, view.frame_id, view.mode) == (prediction.stamp_ns, frame, prediction.bitmask)
        assert (view.names, view.frames) == (names.contact_names, names.contact_frames)
        assert (view.validity, view.residual, view.model_hash) == (prediction.validity, prediction.residual, 2**64 - 1)
        assert view.compute_time_ns == times[0]
        assert_records(view.contacts, "ContactState", one.mode(prediction).contacts)
        assert_records(view.sequence, "ModeTransition", one.mode(prediction).sequence)


def assert_records(found, kind, wanted):
    """The same numbers in the records as in the messages, and none that could be overwritten."""
    assert len(found) == len(wanted) and not found.flags.writeable
    told = [field.name for field in definitions.fields(kind) if field.kind != "string"]
    assert list(found.dtype.names) == told
    for record, message in zip(found, wanted, strict=True):
        for name in told:
            value = getattr(message, name)
            value = [value.x, value.y, value.z] if hasattr(value, "x") else value
            np.testing.assert_array_equal(record[name], value)


@pytest.mark.parametrize("names", [ALIKE, UNLIKE, MANY, NONE], ids=["alike", "unlike", "many", "none"])
def test_flags_have_the_bytes_of_their_message_and_a_reader_finds_all_of_them(names):
    one, other = both(names)
    read = ConstraintStabilityReader()
    for seed in range(20):
        flags = stability(len(names.contact_names), [0, 1, 6][seed % 3], seed)
        data = other.stability(flags, seed)
        assert data == expected("ConstraintStability", one.stability(flags, seed))
        view = read(data)
        assert view.names == names.contact_names and view.compute_time_ns == seed and view.frame_id == "odom"
        for field in fields(StabilityPrediction):
            found = getattr(view, field.name)
            np.testing.assert_array_equal(found, getattr(flags, field.name))
            assert not isinstance(found, np.ndarray) or not found.flags.writeable


@pytest.mark.parametrize("law", [0, 1])
def test_a_set_has_the_bytes_of_its_message_whatever_its_size(law):
    one, other = both(UNLIKE)
    read = PostImpactVelocitySetReader()
    for k, (rows, contacts) in enumerate([(5, [1]), (2, [1]), (9, [0, 3]), (0, [1]), (1, [2]), (5, [1]), (0, [0, 3])]):
        sample = impact(contacts, rows, 3, 2 * k + law)
        data = other.impact(sample, k)
        assert data == expected("PostImpactVelocitySet", one.impact(sample, k))
        view = read(data)
        np.testing.assert_array_equal(view.velocities, sample.velocities)
        message = one.impact(sample, k)
        for name in ("v_minus", "v_nominal", "lower", "upper", "coverage", "kinetic_energy_max", "law", "truncated"):
            np.testing.assert_array_equal(getattr(view, name), getattr(message, name))
        assert view.names == tuple(UNLIKE.contact_names[i] for i in contacts) and view.velocity_names == ("x", "y", "z")
        assert view.impact_time_ns == message.impact_time.sec * 10**9 + message.impact_time.nanosec
        assert not view.velocities.flags.writeable and not view.lower.flags.writeable
    assert len(read._layouts._known) == 5  # contacts, and whether there are outcomes; not how many


@pytest.mark.parametrize("rows", [0, 4])
def test_what_a_landing_adds_to_a_set_has_the_bytes_of_its_message_and_a_reader_finds_all_of_it(rows):
    one, other = both(UNLIKE)
    read = PostImpactVelocitySetReader()
    own = {"phase", "earliest", "latest", "calibration_method"}
    for seed in [*range(24), *range(24)]:
        added = landing(3, seed)
        sample = impact([1, 2], rows, 3, seed, **added)
        data = other.impact(sample, seed)
        assert data == expected("PostImpactVelocitySet", one.impact(sample, seed))
        view = read(data)
        for name, value in added.items():
            if name not in own:
                np.testing.assert_array_equal(getattr(view, name), value)
        assert (view.phase, view.calibration_method) == (sample.phase, sample.calibration_method)
        np.testing.assert_array_equal(
            (view.time_to_impact_earliest, view.time_to_impact_latest), (sample.earliest, sample.latest)
        )
        assert view.level_valid == (bool(added) and seed % 2 == 1)  # neither a count nor a method otherwise
        assert view.generators.shape == (len(added.get("generators", ())), 3)
        assert view.mass.shape == (3 if added else 0, 3) and not view.mass.flags.writeable


def test_more_generators_than_a_message_holds_are_replaced_by_a_zonotope_that_holds_theirs():
    one, other = both(ALIKE)
    rng = np.random.default_rng(0)
    many = rng.normal(size=(MAX_GENERATORS + 50, 3)) * np.geomspace(1e-3, 1.0, MAX_GENERATORS + 50)[:, None]
    sample = impact([1], 2, 3, 1, generators=many)
    view = PostImpactVelocitySetReader()(other.impact(sample))
    assert other.impact(sample) == expected("PostImpactVelocitySet", one.impact(sample))
    assert len(view.generators) == MAX_GENERATORS
    for direction in rng.normal(size=(200, 3)):
        wide, was = np.abs(view.generators @ direction).sum(), np.abs(many @ direction).sum()
        assert was * (1.0 - 1e-12) <= wide <= 1.05 * was


def test_a_set_beyond_the_documented_maximum_is_thinned_alike():
    one, other = both(ALIKE)
    sample = impact([1], MAX_NUMBERS // 3 + 500, 3, 0)
    data = other.impact(sample)
    assert data == expected("PostImpactVelocitySet", one.impact(sample)) and len(data) < 8 * MAX_NUMBERS + 2000


def test_events_have_the_bytes_of_their_messages_and_are_numbered_without_holes():
    one, other = both(UNLIKE)
    for k in range(9):
        event = Event(10 + k, k % 4, EventKind(1 + k % 4), bool(k % 2), 10**10 + k, k, 2**62, 0.5, bool(k % 3))
        assert other.event(event) == expected("ContactEvent", one.event(event))
    for encoder in (one, other):
        encoder.reset()
    assert other.event(event) == expected("ContactEvent", one.event(event))


def test_another_frame_makes_other_bytes():
    one, other = both(ALIKE, "odom")
    for frame in ("odom", "map", "a longer name", "odom"):
        one.frame_id = other.frame_id = frame
        assert other.frame_id == frame
        assert other.mode(mode(3, 2, 1)) == expected("ContactMode", one.mode(mode(3, 2, 1)))
        flags, sample, event = stability(3, 1, 2), impact([0], 3, 3, 3), Event(1, 0, EventKind.SLIP, True, 2, 3, 4, 0.5)
        assert other.stability(flags) == expected("ConstraintStability", one.stability(flags))
        assert other.impact(sample) == expected("PostImpactVelocitySet", one.impact(sample))
        assert other.event(event) == expected("ContactEvent", one.event(event))


def test_arrays_that_the_message_cannot_hold_are_an_error_and_no_message():
    _, other = both(ALIKE)
    flags = stability(3, 1, 0)
    with pytest.raises(TypeError, match="another type or size"):
        other.stability(replace(flags, chatter_end=flags.chatter_end.astype(np.float32)))
    with pytest.raises(TypeError, match="bytes-like"):
        other.stability(replace(flags, chatter_end=np.zeros(6)[::2]))


@pytest.mark.parametrize(
    "kind, make",
    [
        ("ContactMode", ContactModeReader),
        ("ConstraintStability", ConstraintStabilityReader),
        ("PostImpactVelocitySet", PostImpactVelocitySetReader),
    ],
)
@settings(max_examples=60)
@given(data=st.data())
def test_readers_read_what_others_write_and_refuse_the_rest(kind, make, data):
    """Messages of any writer, with rubbish in their gaps; and none that is cut or not what it should be."""
    read = make()
    for _ in range(3):
        message = agreeing(kind, data.draw(messages(kind, 3)))
        plain = serialize(kind, message)
        layout = Layout(kind, plain)
        written = littered(plain, layout.gaps, data.draw(st.integers(0, 99)))
        view = read(written)
        stamp = message.header.stamp
        assert view.stamp_ns == stamp.sec * 10**9 + stamp.nanosec and view.model_hash == message.model_hash
        if kind == "ContactMode":
            assert_bits(view.contacts, "ContactState", message.contacts)
            assert_bits(view.sequence, "ModeTransition", message.sequence)
        else:
            name = "friction_margin" if kind == "ConstraintStability" else "velocities"
            assert getattr(view, name).tobytes() == np.array(getattr(message, name), np.float64).tobytes()
        with pytest.raises(ValueError):
            read(plain[: data.draw(st.integers(0, len(plain) - 1))])
        with pytest.raises(ValueError):
            read(b"\0\0" + plain[2:])


def assert_bits(records, kind, wanted):
    assert len(records) == len(wanted)
    for record, message in zip(records, wanted, strict=True):
        for field in definitions.fields(kind):
            if field.kind == "float64":
                assert record[field.name].tobytes() == np.float64(getattr(message, field.name)).tobytes()
            elif field.kind in ("Point", "Vector3"):
                vector = getattr(message, field.name)
                assert record[field.name].tobytes() == np.array((vector.x, vector.y, vector.z)).tobytes()
            elif field.kind != "string":
                assert record[field.name] == getattr(message, field.name)


def test_a_set_whose_count_is_not_that_of_its_numbers_is_refused():
    message = definitions.blank("PostImpactVelocitySet", velocities=[1.0, 2.0], count=1, dof=2)
    read = PostImpactVelocitySetReader()
    assert read(serialize("PostImpactVelocitySet", message)).velocities.tolist() == [[1.0, 2.0]]
    message.count = 2
    with pytest.raises(ValueError, match="no 2 outcomes of 2 numbers"):
        read(serialize("PostImpactVelocitySet", message))


def test_a_view_lives_as_long_as_it_is_held_and_the_next_message_leaves_it_alone():
    _, other = both(ALIKE)
    read = ContactModeReader()
    first = read(other.mode(mode(3, 1, 1)))
    gaps = first.contacts["gap"].copy()
    read(other.mode(mode(3, 1, 2)))
    np.testing.assert_array_equal(first.contacts["gap"], gaps)
    with pytest.raises(ValueError, match="read-only"):
        first.contacts["gap"][0] = 1.0


def test_bits_tell_every_difference():
    """Of the comparison that other tests of messages rest on."""
    one = definitions.blank("ContactEvent", confidence=0.0)
    assert bits("ContactEvent", one) != bits("ContactEvent", definitions.blank("ContactEvent", confidence=-0.0))
