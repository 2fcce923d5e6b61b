"""``hybrid-contact check``: what it shows, and what it finds before a node would."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest
from rich.console import Console

from hybrid_contact_ros.cli import main
from hybrid_contact_ros.commands.check_model import inspect
from hybrid_contact_ros.commands.check_tables import show
from hybrid_contact_ros.config import EstimatorConfig
from hybrid_contact_ros.mechanics.example_data import example_urdf

ROOT = Path(__file__).resolve().parents[2]
CUBE = (str(ROOT / "config" / "cube.urdf"), str(ROOT / "config" / "cube.yaml"))
LONG = "front_left_outer_corner_of_the_sole_of_the_cube"


@pytest.fixture
def file(tmp_path):
    def write(parameters: str) -> str:
        path = tmp_path / "cube.yaml"
        path.write_text(f"/**:\n  ros__parameters: {parameters}\n")
        return str(path)

    return write


def findings(capsys, *arguments: str) -> tuple[int, list[tuple[str, str]]]:
    """Exit code, and level and text of each finding."""
    code = main(["check", *arguments, "--json"])
    return code, [(found["level"], found["text"]) for found in json.loads(capsys.readouterr().out)["findings"]]


def test_it_shows_what_the_model_sees(capsys):
    assert main(["check", *CUBE]) == 0
    out = capsys.readouterr().out
    assert "floating base, 6 velocity coordinates" in out and "0.37 kg" in out and "corner_7" in out


def test_it_gives_the_same_as_json(capsys):
    assert main(["check", *CUBE, "--json"]) == 0
    seen = json.loads(capsys.readouterr().out)
    assert seen["nv"] == 6 and len(seen["contacts"]) == 8 and seen["mass"] == pytest.approx(0.37)
    # A corner of a free cube: half of its mass and more stays behind when one corner is pushed.
    assert all(0 < c["effective_mass"] < 0.37 and c["friction"] == 0.16 for c in seen["contacts"])
    assert seen["contacts"][0]["gap"] == pytest.approx(-0.0524 + 0.00115)
    assert seen["findings"] == []


def test_explain_prints_the_value_of_the_file_with_the_default_and_the_meaning(capsys):
    assert main(["check", *CUBE, "--explain", "gap_on"]) == 0
    out = capsys.readouterr().out
    assert "activation.gap_on: 0.002 m (default 0.003;" in out and "may close below this gap" in out


@pytest.mark.parametrize("order", ["eo uc", "u e c", "u c e", "e=gap_on u c", "u e=gap_on c", "e gap_on u c"])
def test_explain_may_stand_anywhere(capsys, order):
    given = {"u": CUBE[0], "c": CUBE[1], "e": "--explain", "eo": "--explain", "e=gap_on": "--explain=gap_on"}
    words = [given.get(word, word) for word in order.replace("uc", "u c").split()]
    assert main(["check", *words]) == 0
    out = capsys.readouterr().out
    assert "activation.gap_on: 0.002 m" in out
    assert ("impact.deadline" in out) == ("gap_on" not in order)


@pytest.mark.parametrize("words", [[CUBE[0]], ["--explain", "gap_on", CUBE[0]], ["--explain", CUBE[0]]])
def test_a_file_that_is_missing_is_told(capsys, words):
    with pytest.raises(SystemExit) as ended:
        main(["check", *words])
    assert ended.value.code == 2 and "required: config" in capsys.readouterr().err


def test_it_knows_the_parameters_of_the_markers_which_may_stand_in_the_same_block(capsys, tmp_path):
    config = tmp_path / "cube.yaml"
    text = Path(CUBE[1]).read_text()
    config.write_text(
        text.replace("ros__parameters:", "ros__parameters:\n    marker_rate: 10.0\n    marker_size: 0.02", 1)
    )
    assert findings(capsys, CUBE[0], str(config)) == (0, [])
    config.write_text(config.read_text().replace("marker_rate", "marker_rte"))
    assert main(["check", CUBE[0], str(config)]) == 2
    assert "unknown parameter 'marker_rte'" in capsys.readouterr().err


@pytest.mark.parametrize("width", [40, 80, 300])
def test_names_are_never_broken(width):
    config = EstimatorConfig.from_mapping({"contacts": {LONG: {"link": "cube"}, "[bold]odd[/]": {"link": "cube"}}})
    seen = inspect(CUBE[0], config)
    seen["joints"] = [f"joint_with_a_name_of_some_length_{k}" for k in range(9)]
    console = Console(file=io.StringIO(), width=max(width, len(LONG)), force_terminal=True, no_color=True)
    show(seen, console)
    out = console.file.getvalue()
    assert LONG in out and "[bold]odd[/]" in out and all(joint in out for joint in seen["joints"])
    assert "0.000 0.000 0.000" in out and "…" not in out


def test_nothing_is_wrapped_into_a_pipe(capsys, file):
    path = file(f"{{contact_names: [{LONG}, {LONG}2], contacts: {{{LONG}: {{link: cube}}, {LONG}2: {{link: cube}}}}}}")
    assert main(["check", CUBE[0], path]) == 0
    rows = [line.split() for line in capsys.readouterr().out.splitlines() if line.strip().startswith("front")]
    assert [row[0] for row in rows] == [LONG, f"{LONG}2"] and all(len(row) == 12 for row in rows)


def test_lists_of_names_that_nodes_need_are_asked_for(capsys, file):
    code, found = findings(capsys, CUBE[0], file("{contacts: {tip: {link: cube}}}"))
    assert code == 2 and found[0][0] == "error" and "contact_names is missing" in found[0][1]
    assert "contact_names: [tip]" in found[0][1]
    code, found = findings(
        capsys,
        CUBE[0],
        file("{contact_names: [a], contacts: {a: {link: cube, environment: t}}, environments: {t: {offset: 0.1}}}"),
    )
    assert code == 2 and "environment_names: [t]" in found[0][1]


def test_an_error_goes_to_stderr_and_a_warning_into_the_text(capsys, file):
    assert main(["check", CUBE[0], file("{contacts: {tip: {link: cube}}}")]) == 2
    captured = capsys.readouterr()
    assert captured.err.startswith("hybrid-contact check: contact_names is missing") and "error: " in captured.out


def test_whole_numbers_that_have_a_point_are_told(capsys, file):
    path = file("{contact_names: [a], contacts: {a: {link: cube}}, impact: {samples: 256.0}}")
    code, found = findings(capsys, CUBE[0], path)
    assert code == 2 and found == [("error", "impact.samples is 256.0; nodes need it whole: 256")]


def test_a_file_without_blocks_is_a_warning(capsys, tmp_path):
    (tmp_path / "bare.yaml").write_text("contacts: {tip: {link: cube}}")
    code, found = findings(capsys, CUBE[0], str(tmp_path / "bare.yaml"))
    assert code == 0 and [level for level, _ in found] == ["warning"] and "ros__parameters" in found[0][1]


def test_a_point_that_stands_twice_is_a_warning(capsys, file):
    path = file("{contact_names: [a, b], contacts: {a: {link: cube}, b: {link: cube}}}")
    code, found = findings(capsys, CUBE[0], path)
    assert code == 0 and found == [("warning", "b and a are the same point on the same plane")]


def test_soles_that_lie_in_each_other_are_a_warning(capsys, tmp_path):
    """An iCub, with soles along its feet and turned by a quarter; the feet are 14 cm apart."""
    urdf, path = str(example_urdf("icub_description/robots/icub_reduced.urdf")), tmp_path / "icub.yaml"
    links = ("l_sole", "r_sole")

    def warned(x: float, y: float) -> list[str]:
        points = [c for sx, sy in ((x, y), (x, -y), (-x, y), (-x, -y)) for c in (sx, sy, 0.0)]
        soles = ", ".join(f"{link}: {{link: {link}, points: {points}}}" for link in links)
        path.write_text(f"/**: {{ros__parameters: {{contact_names: [{', '.join(links)}], contacts: {{{soles}}}}}}}")
        code, found = findings(capsys, urdf, str(path))
        assert code == 0
        return [text for _, text in found if "overlap" in text]

    assert warned(0.09, 0.03) == []
    (text,) = warned(0.03, 0.09)
    assert "the soles of l_sole and r_sole overlap by 4.4 cm" in text


FIXED = """<robot name="post"><link name="base"/><link name="post"><inertial><mass value="1"/>
<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>
<joint name="turn" type="continuous"><parent link="base"/><child link="post"/><axis xyz="0 0 1"/></joint></robot>"""


def test_contacts_of_a_fixed_base_that_cannot_move_or_lie_wrong_are_warnings(capsys, tmp_path, file):
    (tmp_path / "post.urdf").write_text(FIXED)
    path = file("{floating_base: false, contact_names: [top], contacts: {top: {link: post, points: [0.0, 0.0, -0.5]}}}")
    code, found = findings(capsys, str(tmp_path / "post.urdf"), path)
    texts = [text for _, text in found]
    assert code == 0 and any("no joint moves post along its normal" in text for text in texts)
    assert any("0.500 m inside its plane" in text for text in texts)


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ("{contacts: {tip: {link: cube, points: [[0.0, 0.0, 0.0]]}}}", "a list of lists"),
        ("{contacts: {tip: {link: cube, points: [0, 0, 0.1]}}}", "write 0.0 instead of 0"),
        ("{contact_names: [a], contacts: {b: {link: cube}}}", "do not name the same entries"),
        ("{contact_names: [a], contacts: {a: {link: box}}}", "box"),
    ],
)
def test_what_cannot_be_read_is_one_line(capsys, file, parameters, words):
    assert main(["check", CUBE[0], file(parameters)]) == 2
    captured = capsys.readouterr()
    assert words in captured.err and captured.out == "" and captured.err.startswith("hybrid-contact check: ")


def test_a_typo_of_the_block_is_named(capsys, tmp_path):
    (tmp_path / "typo.yaml").write_text("/**:\n  ros_parameters: {contacts: {tip: {link: cube}}}")
    assert main(["check", CUBE[0], str(tmp_path / "typo.yaml")]) == 2
    assert "'ros_parameters' must be 'ros__parameters'" in capsys.readouterr().err


def test_friction_near_the_critical_one_is_one_warning_that_names_the_contacts(capsys):
    robots = {"anymal": "anymal_b_simple_description/robots/anymal.urdf", "go2": "go2_description/urdf/go2.urdf"}
    for name, feet in (("anymal", ("LF_FOOT", "RF_FOOT", "LH_FOOT", "RH_FOOT")), ("go2", ())):
        code, found = findings(capsys, str(example_urdf(robots[name])), str(ROOT / "config" / f"{name}.yaml"))
        told = [text for level, text in found if level == "warning" and "Painlevé" in text]
        assert code == 0 and len(told) == (1 if feet else 0)
        assert all(foot in told[0] for foot in feet)


def test_what_stands_behind_a_finding_is_told_when_asked_for(capsys):
    robot = str(example_urdf("anymal_b_simple_description/robots/anymal.urdf"))
    config = str(ROOT / "config" / "anymal.yaml")
    assert main(["check", robot, config]) == 0
    short = capsys.readouterr().out
    assert "--explain tells more" in short and "in half of them" not in short
    assert main(["check", robot, config, "--explain", "gap_on"]) == 0
    assert capsys.readouterr().out.count("in half of them") == 4


def test_a_radius_that_is_not_the_urdfs_is_a_warning(capsys, tmp_path):
    robot = str(example_urdf("hyq_description/robots/hyq_no_sensors.urdf"))
    for radius, warned in ((0.02175, 0), (0.05, 1)):
        file = tmp_path / f"{radius}.yaml"
        contact = f"{{contact_names: [LF], contacts: {{LF: {{link: lf_foot, radius: {radius}, friction: 0.2}}}}}}"
        file.write_text(f"/**:\n  ros__parameters: {contact}\n")
        code, found = findings(capsys, robot, str(file))
        told = [text for _, text in found if "the URDF's sphere of lf_foot has 0.02175 m" in text]
        assert code == 0 and len(told) == warned


def test_heights_of_a_robot_that_floats_count_from_its_lowest_contact(capsys):
    assert main(["check", *CUBE]) == 0
    out = capsys.readouterr().out
    heights = {line.split()[8] for line in out.splitlines() if line.strip().startswith("corner_")}
    assert "above lowest m" in out and heights == {"0.0000", "0.0968"}


def test_parameters_of_a_node_that_the_suite_has_not_are_an_error(capsys, tmp_path):
    file = tmp_path / "robot.yaml"
    file.write_text((ROOT / "config" / "cube.yaml").read_text().replace("/**:", "contact_suit:"))
    assert main(["check", str(ROOT / "config" / "cube.urdf"), str(file)]) == 2
    assert "contact_suit;" in capsys.readouterr().err


def test_force_sensors_that_do_not_go_with_the_links_are_an_error(capsys, file):
    parameters = "{contact_names: [c], contacts: {c: {link: cube}}, input: {wrench_topics: [a, b]}}"
    code, found = findings(capsys, CUBE[0], file(parameters))
    assert code == 2 and ("error", "input.wrench_topics has 2 entries; one for each of cube is needed") in found


@pytest.mark.parametrize(
    ("group", "words"),
    [("belief: {close_above: 0.1, open_below: 0.9}", "open_below, 0.9"), ("trust: {full: 5.0, none: 0.01}", "full, 5")],
)
def test_thresholds_in_the_wrong_order_are_refused(capsys, file, group, words):
    parameters = f"{{contact_names: [c], contacts: {{c: {{link: cube}}}}, {group}}}"
    assert main(["check", CUBE[0], file(parameters)]) == 2
    assert words in capsys.readouterr().err
