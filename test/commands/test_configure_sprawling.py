"""``hybrid-contact configure`` and ``check`` with robots that stand between their feet, as insects do, not on top."""

from __future__ import annotations

import numpy as np
import pytest

from helpers.mechanics_robots import joint, link, robot
from hybrid_contact_ros.cli import main
from hybrid_contact_ros.config import EstimatorConfig
from hybrid_contact_ros.mechanics.example_data import example_urdf
from hybrid_contact_ros.mechanics.limbs import Limbs
from hybrid_contact_ros.mechanics.urdf import read_urdf

SHANK = 0.15  # m, from the last joint to the foot
BALL = '<collision><geometry><sphere radius="0.012"/></geometry></collision>'
BOX = f'<collision><origin xyz="{SHANK / 2} 0 0"/><geometry><box size="{SHANK} 0.02 0.02"/></geometry></collision>'


def spider(legs: int, foot: str | None, spread: float = 2.0 * np.pi) -> str:
    """A body with legs all around, stretched out at zero: a ball on a link "k_end", or a shank with a box."""
    parts = [link("body")]
    for k in range(legs):
        yaw = spread * k / legs
        at = f"{0.15 * np.cos(yaw)} {0.15 * np.sin(yaw)} 0"
        parts += [link(f"{k}_hip"), link(f"{k}_thigh")]
        shank = link(f"{k}_shank")
        parts.append(shank.replace("</link>", f"{BOX}</link>") if foot is None else shank)
        parts.append(joint(f"{k}_a", "body", f"{k}_hip", axis="0 0 1", at=at, turned=f"0 0 {yaw}"))
        parts.append(joint(f"{k}_b", f"{k}_hip", f"{k}_thigh", at="0.05 0 0", turned="0 0 0"))
        parts.append(joint(f"{k}_c", f"{k}_thigh", f"{k}_shank", at="0.1 0 0", turned="0 0 0"))
        if foot is not None:
            parts.append(f'<link name="{k}_{foot}">{BALL}</link>')
            parts.append(joint(f"{k}_d", f"{k}_shank", f"{k}_{foot}", "fixed", at=f"{SHANK} 0 0", turned="0 0 0"))
    return robot(*parts)


@pytest.mark.parametrize("legs", [3, 4, 6, 8])
def test_legs_that_are_stretched_out_all_around_are_drafted_as_feet(legs, tmp_path):
    urdf, out = tmp_path / "spider.urdf", tmp_path / "spider.yaml"
    urdf.write_text(spider(legs, "end"))
    assert main(["configure", str(urdf), "--out", str(out)]) == 0
    assert main(["check", str(urdf), str(out)]) == 0
    config = EstimatorConfig.from_file(out)
    assert config.floating_base
    assert [contact.link for contact in config.contacts.values()] == [f"{k}_end" for k in range(legs)]
    assert all(contact.radius == 0.012 for contact in config.contacts.values())


def test_the_end_of_a_shank_touches_and_not_the_middle_of_its_side(tmp_path):
    """Where the legs are stretched out, the lowest points of a shank are all along it."""
    urdf, out = tmp_path / "spider.urdf", tmp_path / "spider.yaml"
    urdf.write_text(spider(6, None))
    assert main(["configure", str(urdf), "--out", str(out)]) == 0
    for contact in EstimatorConfig.from_file(out).contacts.values():
        assert len(contact.points) == 3 and contact.points[0] == pytest.approx(SHANK, abs=1e-3)


def test_limbs_on_one_side_of_a_body_are_fingers(tmp_path):
    urdf = tmp_path / "hand.urdf"
    urdf.write_text(spider(4, "tip", spread=0.6 * np.pi))
    assert Limbs(read_urdf(urdf), urdf).sprawling() == []
    for name in ("allegro_hand_description/urdf/allegro_left_hand.urdf", "iris_description/robots/iris.urdf"):
        path = example_urdf(name)
        assert Limbs(read_urdf(path), path).sprawling() == []


def test_check_says_that_legs_are_left_out(tmp_path, capsys):
    urdf, out = tmp_path / "spider.urdf", tmp_path / "spider.yaml"
    urdf.write_text(spider(6, "end"))
    assert main(["configure", str(urdf), "--fixed-base", "--out", str(out)]) == 0
    assert main(["check", str(urdf), str(out)]) == 0
    said = capsys.readouterr().out
    assert "the base is bolted down, though this looks like a robot that walks on 0_end, 1_end" in said
    some = tmp_path / "some.yaml"
    ends = [f"{k}_end" for k in range(4)]
    assert main(["configure", str(urdf), "--contact", *ends, "--out", str(some)]) == 0
    assert main(["check", str(urdf), str(some)]) == 0
    assert "no contact on what look like feet, too: 4_end, 5_end" in capsys.readouterr().out


def test_a_contact_on_the_root_link_is_on_no_leg(tmp_path, capsys):
    urdf, out = tmp_path / "spider.urdf", tmp_path / "spider.yaml"
    urdf.write_text(spider(3, "end"))
    assert main(["configure", str(urdf), "--contact", "body", "1_end", "--out", str(out)]) == 0
    assert main(["check", str(urdf), str(out)]) == 0
    assert "no contact on what look like feet, too: 0_end, 2_end" in capsys.readouterr().out
