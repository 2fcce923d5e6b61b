"""ContactProblem: what it refuses, and its views of itself."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from hybrid_contact_ros.mechanics.problem import ContactProblem


def parts(**changes) -> dict:
    """Two contacts of three coordinates, in the plane."""
    given = {
        "mass": np.diag([2.0, 2.0, 0.1]),
        "velocity": [0.1, -1.0, 0.3],
        "normal_jacobian": [[0, 1, 0.5], [0, 1, -0.5]],
        "tangent_jacobian": [[[1, 0, 0.2]], [[1, 0, 0.2]]],
        "friction": [0.5, 0.6],
    }
    return {**given, **changes}


@pytest.mark.parametrize(
    ("name", "value", "says"),
    [
        ("mass", [[1.0, 2.0]], "mass has shape .1, 2.; a square"),
        ("mass", [[1, 0.1, 0], [0, 1, 0], [0, 0, 1]], "mass is not symmetric"),
        ("mass", np.diag([1.0, -1, 1]), "negative eigenvalue"),
        ("mass", np.diag([1.0, np.nan, 1]), "mass has an entry that is not finite"),
        ("mass", "heavy", "mass is not an array of numbers"),
        ("velocity", [1.0, 2.0], r"velocity has shape \(2,\); \(3,\) is needed"),
        ("velocity", [1.0, np.inf, 0], "velocity has an entry that is not finite"),
        ("normal_jacobian", np.zeros((2, 4)), "normal_jacobian has shape"),
        ("normal_jacobian", np.zeros(3), "normal_jacobian has shape"),
        ("tangent_jacobian", np.zeros((2, 3, 3)), "d = 1 in the plane and d = 2 in space"),
        ("tangent_jacobian", np.zeros((1, 1, 3)), "tangent_jacobian has shape"),
        ("friction", [0.5, -0.1], "friction must be ≥ 0"),
        ("friction", [0.5], "friction has shape"),
        ("restitution", [0.5, 1.1], r"restitution must lie in \[0, 1\]"),
        ("gap", [0.0], "gap has shape"),
        ("bias_force", [0.0], "bias_force has shape"),
        ("jacobian_drift", np.zeros((2, 3)), r"jacobian_drift has shape \(2, 3\); \(2, 2\)"),
        ("names", ["left"], "names has 1 entries for 2 contacts"),
    ],
)
def test_bad_parts_are_refused(name, value, says):
    with pytest.raises(ValueError, match=says):
        ContactProblem(**parts(**{name: value}))


def test_parts_that_are_left_out_are_zero():
    p = ContactProblem(**parts())
    assert (p.nv, p.contacts, p.tangents, p.names) == (3, 2, 1, ())
    for array, shape in ((p.restitution, (2,)), (p.gap, (2,)), (p.bias_force, (3,)), (p.jacobian_drift, (2, 2))):
        np.testing.assert_array_equal(array, np.zeros(shape))


def test_a_massless_coordinate_is_allowed():
    """Johnson §2.3: M may be singular."""
    assert ContactProblem(**parts(mass=np.diag([1.0, 1.0, 0.0]))).nv == 3


def test_no_contacts_are_allowed():
    p = ContactProblem(np.eye(2), [0, 0], np.zeros((0, 2)), np.zeros((0, 2, 2)), [])
    assert p.jacobian().shape == (0, 2)


def test_a_problem_shares_nothing_and_cannot_be_changed():
    mass = np.eye(3)
    p = ContactProblem(**parts(mass=mass))
    mass[0, 0] = 7
    assert p.mass[0, 0] == 1
    with pytest.raises(dataclasses.FrozenInstanceError):
        p.mass = mass


def test_jacobian_rows_go_contact_by_contact_normal_first():
    p = ContactProblem(**parts())
    np.testing.assert_array_equal(p.jacobian(), [[0, 1, 0.5], [1, 0, 0.2], [0, 1, -0.5], [1, 0, 0.2]])


def test_select_keeps_the_order_that_is_asked_for():
    p = ContactProblem(**parts(gap=[0.1, 0.2], names=["left", "right"])).select([1, 0])
    assert p.names == ("right", "left")
    np.testing.assert_array_equal(p.gap, [0.2, 0.1])
    np.testing.assert_array_equal(p.normal_jacobian, [[0, 1, -0.5], [0, 1, 0.5]])
    assert p.select([]).contacts == 0


@pytest.mark.parametrize(("index", "says"), [([2], "not all in 0..1"), ([-1], "not all in"), ([0, 0], "twice")])
def test_select_refuses_contacts_that_are_not_there(index, says):
    with pytest.raises(ValueError, match=says):
        ContactProblem(**parts()).select(index)


def test_with_velocity_changes_the_velocity_alone():
    p = ContactProblem(**parts())
    other = p.with_velocity([1, 2, 3])
    np.testing.assert_array_equal(other.velocity, [1, 2, 3])
    assert other.mass is p.mass
    with pytest.raises(ValueError, match="velocity has shape"):
        p.with_velocity([1, 2])


def test_replace_changes_what_is_named_and_shares_the_rest():
    p = ContactProblem(**parts(gap=[0.1, 0.2], names=["left", "right"]))
    gap = np.array([0.3, 0.4])
    other = p.replace(gap=gap, restitution=None, names=["one", "two"])
    gap[0] = 7.0
    np.testing.assert_array_equal(other.gap, [0.3, 0.4])
    np.testing.assert_array_equal(p.gap, [0.1, 0.2])
    assert other.names == ("one", "two") and other.mass is p.mass and other.friction is p.friction
    assert not other.restitution.any()
    fields = {f.name: getattr(p, f.name) for f in dataclasses.fields(p)}
    copy = p.replace(**fields)
    for name, value in fields.items():
        np.testing.assert_array_equal(getattr(copy, name), value)


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"friction": [0.5, -0.1]}, "friction must be ≥ 0"),
        ({"restitution": [0.5, 1.1]}, r"restitution must lie in \[0, 1\]"),
        ({"mass": [[1, 0.1, 0], [0, 1, 0], [0, 0, 1]]}, "mass is not symmetric"),
        ({"mass": np.eye(2)}, r"velocity has shape \(3,\); \(2,\) is needed"),
        ({"normal_jacobian": np.zeros((3, 3))}, r"tangent_jacobian has shape \(2, 1, 3\); \(3, 1, 3\) is needed"),
        ({"tangent_jacobian": np.zeros((2, 2, 3))}, r"jacobian_drift has shape \(2, 2\); \(2, 3\) is needed"),
        ({"gap": [0.0, np.nan]}, "gap has an entry that is not finite"),
        ({"names": ["left"]}, "names has 1 entries for 2 contacts"),
    ],
)
def test_replace_refuses_what_the_constructor_refuses(changes, says):
    with pytest.raises(ValueError, match=says):
        ContactProblem(**parts()).replace(**changes)


@pytest.mark.parametrize("way", ["replace", "replace_trusted"])
def test_replace_knows_its_fields(way):
    with pytest.raises(TypeError, match="has no weight"):
        getattr(ContactProblem(**parts()), way)(weight=[1.0])


def test_replace_trusted_shares_what_it_is_given():
    p, friction = ContactProblem(**parts()), np.array([0.1, 0.2])
    other = p.replace_trusted(friction=friction)
    assert other.friction is friction and other.velocity is p.velocity and type(other) is ContactProblem
