"""CDR as we write and read it is that of the middleware and of rosbags."""

from __future__ import annotations

import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rosbags.interfaces import Nodetype

from helpers.random_messages import FULL, bits, littered, masked, messages, of_rclpy, of_rosbags
from hybrid_contact_ros.bags.typestore import typestore
from hybrid_contact_ros.messages.cdr import Layout, serialize
from hybrid_contact_ros.messages.definitions import DEFINITIONS, PRIMITIVES, blank, fields

KINDS = [
    "JointState",
    "Odometry",
    "ContactMode",
    "ContactEvent",
    "ConstraintStability",
    "PostImpactVelocitySet",
    "JointCommand",
    "Imu",
    "WrenchStamped",
]


@pytest.mark.parametrize("kind", FULL)
def test_definitions_are_those_of_the_msg_files(kind):
    def told(description, size=-1):
        node, of = description
        if node in (Nodetype.ARRAY, Nodetype.SEQUENCE):
            return told(*of)
        return (of[0] if node == Nodetype.BASE else of.split("/")[-1], size)

    expected = [(name, *told(description)) for name, description in typestore().get_msgdef(FULL[kind]).fields]
    assert [tuple(field) for field in fields(kind)] == expected


def test_a_contact_mode_is_its_head_and_its_tail():
    assert DEFINITIONS["ContactMode"] == DEFINITIONS["ContactModeHead"] + ", " + DEFINITIONS["ContactModeTail"]


@pytest.mark.parametrize("kind", KINDS)
@given(data=st.data())
def test_bytes_are_those_of_rosbags(kind, data):
    message = data.draw(messages(kind))
    theirs = bytes(typestore().serialize_cdr(of_rosbags(kind, message), FULL[kind]))
    ours = serialize(kind, message)
    assert ours == theirs
    assert bits(kind, typestore().deserialize_cdr(ours, FULL[kind])) == bits(kind, message)


@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=40)
@given(data=st.data())
def test_bytes_are_those_of_rclpy_but_for_what_means_nothing(kind, data):
    pytest.importorskip("rclpy", reason="needs ROS 2")
    from rclpy.serialization import deserialize_message, serialize_message

    message = data.draw(messages(kind))
    theirs = of_rclpy(kind, message)
    written, ours = serialize_message(theirs), serialize(kind, message)
    layout = Layout(kind, written)
    assert masked(layout, written) == ours
    assert layout.end == len(ours)
    assert bits(kind, deserialize_message(ours, type(theirs))) == bits(kind, message)
    # Rubbish in all gaps but the options, in which Fast CDR wants zeros.
    assert bits(kind, deserialize_message(littered(ours, layout.gaps[1:]), type(theirs))) == bits(kind, message)


@pytest.mark.parametrize("kind", KINDS)
@given(data=st.data())
def test_a_layout_knows_every_number_and_every_text(kind, data):
    message = data.draw(messages(kind))
    written = littered(
        serialize(kind, message), Layout(kind, serialize(kind, message)).gaps, data.draw(st.integers(0, 9))
    )
    layout = Layout(kind, written)
    found = {path: written[n.offset : n.end] for path, n in layout.numbers.items()}
    found |= layout.texts
    found |= {f"{path} count": count for path, count in layout.counts.items() if path not in layout.texts}
    assert found == dict(_leaves(kind, message))
    assert layout.fits(written) and masked(layout, written) == serialize(kind, message)


def _leaves(kind, message, path=""):
    """Path and content of every number, text and sequence."""
    for field in fields(kind):
        value, where = getattr(message, field.name), f"{path}{field.name}"
        if field.size == 0:
            yield f"{where} count", len(value)
        entries = [(where, value)] if field.size < 0 else [(f"{where}.{i}", v) for i, v in enumerate(value)]
        if field.kind in PRIMITIVES:
            yield where, np.array(value, f"<{PRIMITIVES[field.kind]}").tobytes()
            continue
        for place, each in entries:
            if field.kind == "string":
                yield place, each
            else:
                yield from _leaves(field.kind, each, f"{place}.")


@given(data=st.data())
def test_a_message_that_differs_in_numbers_only_fits_and_no_other_does(data):
    kind = data.draw(st.sampled_from(KINDS))
    one, other = data.draw(messages(kind, 2)), data.draw(messages(kind, 2))
    first, second = serialize(kind, one), serialize(kind, other)
    layout = Layout(kind, first)
    same = _shape(kind, one) == _shape(kind, other)
    assert layout.fits(second) == same
    changed = bytearray(first)
    for number in layout.numbers.values():
        changed[number.offset : number.end] = bytes(b ^ 0xFF for b in changed[number.offset : number.end])
    assert layout.fits(bytes(changed)) and layout.fits(littered(first, layout.gaps))
    assert not layout.fits(b"\0\0" + first[2:]) and not layout.fits(first[:-1]) and not layout.fits(first + b"\0")


def _shape(kind, message):
    """Texts and counts."""
    layout = Layout(kind, serialize(kind, message))
    return layout.texts, {path: n.size for path, n in layout.numbers.items()}


@pytest.mark.parametrize("kind", KINDS)
@given(data=st.data())
def test_what_is_cut_or_damaged_is_no_layout_or_one_within_the_bytes(kind, data):
    whole = serialize(kind, data.draw(messages(kind)))
    with pytest.raises(ValueError):
        Layout(kind, whole[: data.draw(st.integers(0, len(whole) - 1))])
    damaged = bytearray(whole)
    for _ in range(data.draw(st.integers(1, 8))):
        damaged[data.draw(st.integers(0, len(whole) - 1))] = data.draw(st.integers(0, 255))
    try:
        layout = Layout(kind, bytes(damaged))
    except ValueError:
        return
    assert layout.end <= len(damaged) and all(n.end <= layout.end for n in layout.numbers.values())


def test_what_is_no_little_endian_cdr_is_told():
    with pytest.raises(ValueError, match=re.escape("not PLAIN_CDR in little endian: it begins with 0000")):
        Layout("Header", b"\0\0" + serialize("Header", blank("Header"))[2:])
    with pytest.raises(ValueError, match=r"name\.0 is no text"):
        Layout("JointState", serialize("JointState", blank("JointState", name=["a"])).replace(b"a\0", b"ab"))
