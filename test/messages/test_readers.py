"""What the readers for controllers take, what they refuse, and that nobody can write to what they give."""

from __future__ import annotations

import array
import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from helpers.random_messages import FULL, agreeing, messages, of_rclpy
from hybrid_contact_ros.messages.cdr import serialize
from hybrid_contact_ros.messages.definitions import blank, fields
from hybrid_contact_ros.messages.readers import (
    ConstraintStabilityReader,
    ContactModeReader,
    PostImpactVelocitySetReader,
)
from hybrid_contact_ros.time_density import QUANTILE_FIELDS

READERS = {
    "ContactMode": ContactModeReader,
    "ConstraintStability": ConstraintStabilityReader,
    "PostImpactVelocitySet": PostImpactVelocitySetReader,
}


def arrays(view):
    return [part for part in view if isinstance(part, np.ndarray)]


def told(view):
    """All that a view says, numbers by their bits and records without what lies between their fields."""

    def said(part):
        if not isinstance(part, np.ndarray):
            return repr(part)
        names = part.dtype.names
        return {name: said(part[name]) for name in names} if names else (part.dtype, part.shape, part.tobytes())

    return [said(part) for part in view]


@pytest.mark.parametrize("kind", READERS)
@settings(max_examples=25)
@given(data=st.data())
def test_any_kind_of_bytes_is_read_alike_and_no_array_can_be_written_to(kind, data):
    written = serialize(kind, agreeing(kind, data.draw(messages(kind, 3))))
    wanted = READERS[kind]()(written)
    for given_ in (
        written,
        bytearray(written),
        memoryview(written),
        memoryview(bytearray(written)),
        memoryview(array.array("B", written)),
        memoryview(bytearray(b"abc" + written + b"abc"))[3:-3],
        memoryview(array.array("I", written + bytes(-len(written) % 4)))[:].cast("B")[: len(written)],
    ):
        view = READERS[kind]()(given_)
        assert told(view) == told(wanted)
        found = arrays(view)
        assert found and not any(part.flags.writeable for part in found)


def test_empty_arrays_cannot_be_written_to_either():
    for kind, make in READERS.items():
        view = make()(serialize(kind, blank(kind)))
        assert all(part.size == 0 and not part.flags.writeable for part in arrays(view)), kind


@pytest.mark.parametrize("kind", READERS)
def test_what_is_no_bytes_is_refused_by_its_type(kind):
    written = serialize(kind, blank(kind))
    for wrong in (written.hex(), list(written), np.frombuffer(written, np.uint8), None):
        name = type(wrong).__name__
        with pytest.raises(TypeError, match=f"a message is bytes, a bytearray or a memoryview, not {name}"):
            READERS[kind]()(wrong)
    with pytest.raises(TypeError, match="with holes"):
        READERS[kind]()(memoryview(written + written)[::2])


@pytest.mark.parametrize("kind", READERS)
@settings(max_examples=25)
@given(data=st.data())
def test_readers_take_what_rclpy_takes_behind_the_last_field(kind, data):
    """``serialize_message`` leaves rubbish behind empty sequences, and ``deserialize_message`` looks at none of it."""
    pytest.importorskip("rclpy", reason="needs ROS 2")
    from rclpy.serialization import deserialize_message, serialize_message

    message = agreeing(kind, data.draw(messages(kind, 2)))
    sent = of_rclpy(kind, message)
    written, read = serialize_message(sent), READERS[kind]()
    wanted = told(READERS[kind]()(serialize(kind, message)))
    assert told(read(written)) == wanted
    longer = written + data.draw(st.binary(min_size=1, max_size=99))
    assert told(read(longer)) == wanted
    again = serialize_message(deserialize_message(longer, type(sent)))  # with rubbish of its own between the fields
    assert told(read(again)) == wanted


@pytest.mark.parametrize("kind", READERS)
def test_a_text_that_is_no_utf8_is_refused_by_its_field(kind):
    part = blank("ContactState", name="left") if kind == "ContactMode" else "left"
    written = serialize(kind, blank(kind, contacts=[part]))
    field = "contacts.0.name" if kind == "ContactMode" else "contacts.0"
    with pytest.raises(ValueError, match=rf"^{re.escape(field)} is no UTF-8: invalid start byte at its byte 1$"):
        READERS[kind]()(written.replace(b"left\0", b"l\xffft\0"))


def test_arrays_of_different_lengths_are_refused_by_name():
    flags = [f.name for f in fields("ConstraintStability") if f.size == 0 and f.kind != "string"]
    own = {name: [0, 0] for name in flags}
    read = ConstraintStabilityReader()
    read(serialize("ConstraintStability", blank("ConstraintStability", contacts=["a", "b"], **own)))
    for name in flags:
        wrong = blank("ConstraintStability", contacts=["a", "b"], **(own | {name: [0, 0, 0]}))
        says = "has 2 entries, and pair_first 3" if name == "pair_first" else f"^{name} has 3 entries, and "
        with pytest.raises(ValueError, match=says):
            read(serialize("ConstraintStability", wrong))

    own = {"velocity_names": ["x", "y"], "v_minus": [0, 0], "v_nominal": [0, 0], "lower": [0, 0], "upper": [0, 0]}
    full = {"count": 2, "dof": 2, "velocities": [0] * 4}
    read = PostImpactVelocitySetReader()
    assert read(serialize("PostImpactVelocitySet", blank("PostImpactVelocitySet", **own, **full))).dof == 2
    for name, values in own.items():
        wrong = blank("PostImpactVelocitySet", **(own | {name: [*values, values[0]]}), **full)
        with pytest.raises(ValueError, match="entries, and"):
            read(serialize("PostImpactVelocitySet", wrong))
        empty = blank("PostImpactVelocitySet", **(own | {name: []}), **full)  # an observed impact has no bounds
        assert read(serialize("PostImpactVelocitySet", empty)).velocities.shape == (2, 2)
    wrong = blank("PostImpactVelocitySet", **own, count=4, dof=1, velocities=[0] * 4)
    with pytest.raises(ValueError, match="dof is 1, and there are 2 coordinates"):
        read(serialize("PostImpactVelocitySet", wrong))


def test_matrices_of_a_set_whose_sizes_are_not_told_right_are_refused_by_name():
    own = {"count": 1, "dof": 2, "velocities": [0, 0], "generator_count": 2, "generators": [1, 2, 3, 4]}
    own |= {"mass": [1, 0, 0, 1], "basis_rows": 1, "basis": [1, 0], "basis_change": [0.5]}
    read = PostImpactVelocitySetReader()
    assert read(serialize("PostImpactVelocitySet", blank("PostImpactVelocitySet", **own))).generators[1].tolist() == [
        3,
        4,
    ]
    for name, value in {"generator_count": 1, "basis_rows": 2, "mass": [1, 0], "basis_change": [1, 2]}.items():
        wrong = blank("PostImpactVelocitySet", **(own | {name: value}))
        refused = {"generator_count": "generators", "basis_rows": "basis"}.get(name, name)
        with pytest.raises(ValueError, match=rf"^{refused} has "):
            read(serialize("PostImpactVelocitySet", wrong))


def test_views_have_the_fields_of_their_messages():
    """By the names of the messages; contacts are told by their names, and stamps and durations in nanoseconds."""
    for kind, renamed in (
        ("ContactMode", {}),
        ("ConstraintStability", {"contacts": "names"}),
        ("PostImpactVelocitySet", {"contacts": "names"}),
    ):
        view = READERS[kind]()(serialize(kind, blank(kind)))
        for field in fields(kind):
            if field.kind in ("Time", "Duration"):
                assert getattr(view, f"{field.name}_ns") == 0
            elif field.name != "header":
                assert not callable(getattr(view, renamed.get(field.name, field.name))), field.name
    view = PostImpactVelocitySetReader()(
        serialize("PostImpactVelocitySet", blank("PostImpactVelocitySet", count=3, dof=2, velocities=[0.5] * 6))
    )
    assert (view.count, view.dof) == view.velocities.shape == (3, 2)


def test_contacts_with_names_of_any_lengths_are_read_from_the_bytes_alone():
    """Also where a text ends so that the numbers of one contact stand as those of the next, and of another not."""
    for lengths in ((1, 2, 3), (4, 8, 12), (0, 7, 8, 15, 16, 17), (9,)):
        feet = [
            blank("ContactState", name="n" * n, frame="f" * (2 * n), status=k + 1, gap=k + 0.5, time_bounds_valid=k % 2)
            for k, n in enumerate(lengths)
        ]
        received = bytearray(serialize("ContactMode", blank("ContactMode", contacts=feet)))
        found = ContactModeReader()(bytes(received)).contacts
        assert found["status"].tolist() == [k + 1 for k in range(len(feet))]
        assert found["gap"].tolist() == [k + 0.5 for k in range(len(feet))]
        assert found["time_bounds_valid"].tolist() == [bool(k % 2) for k in range(len(feet))]


def test_every_reader_is_tested_here():
    from hybrid_contact_ros.messages import readers

    assert {re.sub("Reader$", "", name) for name in readers.__all__} == set(READERS) <= set(FULL)


def test_the_density_of_a_time_is_read_from_the_bytes():
    quantiles = [0.01, 0.018, 0.02, 0.023, 0.04]
    foot = blank("ContactState", name="left", event_probability=0.75, time_density_valid=True)
    for name, value in zip(QUANTILE_FIELDS, quantiles, strict=True):
        setattr(foot, name, value)
    other = blank("ContactState", name="right", time_to_event=0.02, time_to_event_q05=np.nan)
    view = ContactModeReader()(serialize("ContactMode", blank("ContactMode", contacts=[foot, other])))
    told = view.density(0)
    assert (told.quantiles.tolist(), told.probability, told.valid) == (quantiles, 0.75, True)
    assert told.cdf(0.02) == 0.5
    assert np.isnan(view.density(1).quantiles).all() and np.isnan(view.density(1).cdf(0.02))
