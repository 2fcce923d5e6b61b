"""``--report`` and ``--rrd`` of ``score`` and ``replay``, and scores of impacts alone."""

from __future__ import annotations

import json

import numpy as np
import pytest

from hybrid_contact_ros.bags.reader import BagReader
from hybrid_contact_ros.bags.writer import BagWriter
from hybrid_contact_ros.cli import main
from hybrid_contact_ros.recordings.write import write_recording
from hybrid_contact_ros.results.file import read

CONFIG = "contacts:\n  left: {link: left_foot}\n  right: {link: right_foot}\n"
TRUTH = ("--truth", "/truth/contact_mode", "--truth", "/truth/impact")


@pytest.fixture
def place(fall, tmp_path):
    """A folder with a recording and a parameter file."""
    write_recording(fall, tmp_path / "b.mcap")
    (tmp_path / "c.yaml").write_text(CONFIG)
    return tmp_path


def called(capsys, *arguments):
    code = main([str(each) for each in arguments])
    out, err = capsys.readouterr()
    return code, out, err


def words(page):
    """What a reader sees, without the plots' identifiers."""
    return page.read_text().split("<main>")[1].split("<section class='card'><h2>Diagnostics")[0]


@pytest.mark.parametrize("verb", ["score", "replay"])
def test_the_report_is_that_of_the_result_and_names_its_truth(place, capsys, verb):
    ends = ("--no-out", "--result", place / "r") if verb == "replay" else ("--result", place / "r")
    code, _, err = called(
        capsys, verb, place / "b.mcap", "--config", place / "c.yaml", *TRUTH, *ends, "--report", place / "r1.html"
    )
    assert code == 0 and str(place / "r1.html") in err
    page = (place / "r1.html").read_text()
    scores = read(place / "r.result.zip").summary["scores"]
    assert f"{scores['accuracy']:.1%} of contact states are right" in page
    assert "Below each prediction stands the truth (/truth/contact_mode, /truth/impact)" in page
    assert "1 observed impacts 1 had a predicted set" in page and "not told" not in page
    assert main(["report", str(place / "r.result.zip"), "-o", str(place / "r2.html")]) == 0
    assert "left_knee [m/s]" in page and "rad/s or m/s" not in page  # the knees slide
    said = [line for line in words(place / "r1.html").split("<li>") if "contact states are right" in line]
    assert said and all(each in words(place / "r2.html") for each in said)


def test_a_report_that_cannot_be_written_is_told_before_anything_is_replayed(place, capsys, monkeypatch):
    import hybrid_contact_ros.replay.run as run
    import hybrid_contact_ros.replay.score as score

    for module, name in ((score, "score_bag"), (run, "replay_bag")):
        monkeypatch.setattr(module, name, lambda *given, **options: pytest.fail("it was replayed"))
    (place / "there.html").write_text("mine")
    for verb in ("score", "replay"):
        for name, said in (
            ("there.html", "exists already"), ("b.mcap", "ends in .html"), ("nowhere/a.html", "there is no folder"),
        ):  # fmt: skip
            force = () if name == "there.html" else ("--force",)  # which replaces no recording
            arguments = (verb, place / "b.mcap", "--config", place / "c.yaml", "--report", place / name, *force)
            code, _, err = called(capsys, *arguments)
            assert code == 2 and said in err
    assert (place / "there.html").read_text() == "mine"


def test_the_topic_of_another_estimator_has_a_report_and_no_rerun_file(place, capsys):
    arguments = ("score", place / "b.mcap", "--estimate", "/truth/contact_mode", "--truth", "/truth/contact_mode",
                 "--no-result")  # fmt: skip
    code, _, err = called(capsys, *arguments, "--report", place / "other.html")
    assert code == 0, err
    page = (place / "other.html").read_text()
    assert "100.0% of contact states are right" in page and "does not hold the configuration" in page
    code, _, err = called(capsys, *arguments, "--rrd", place / "other.rrd")
    assert code == 2 and "cannot be made with --estimate" in err


def test_score_writes_a_rerun_file_where_rerun_is_installed(place, capsys):
    pytest.importorskip("rerun", reason="rerun-sdk is not there: pip install rerun-sdk")
    code, _, err = called(
        capsys, "score", place / "b.mcap", "--config", place / "c.yaml", "--no-result", "--rrd", place / "b.rrd"
    )
    assert code == 0 and (place / "b.rrd").stat().st_size > 1000, err


def test_a_truth_of_impacts_alone_scores_impacts_alone(place, capsys):
    arguments = (place / "b.mcap", "--config", place / "c.yaml", "--truth", "/truth/impact", "--complete-sets")
    code, out, _ = called(capsys, "score", *arguments, "--json")
    scores = json.loads(out)["scores"]
    assert code == 0 and (scores["impacts"]["true"], scores["impacts"]["with_set"]) == (1, 1)
    assert scores["contacts"] == {} and scores["states"] == 0 and scores["accuracy"] is scores["brier"] is None
    replayed = json.loads(called(capsys, "replay", *arguments, "--no-out", "--json")[1])["scores"]
    assert replayed["impacts"]["distance_median"] == pytest.approx(scores["impacts"]["distance_median"], rel=1e-5)
    code, out, _ = called(capsys, "score", *arguments, "--no-result")
    assert "1 known impacts, 1 with a predicted set" in out and "with a truth" not in out
    code, out, _ = called(capsys, "replay", *arguments, "--no-out")
    assert "1 known impacts, 1 with a predicted set" in out and "contact mode" not in out


def test_nothing_to_report_is_said(fall, place, capsys):
    with BagReader(place / "b.mcap") as reader, BagWriter(place / "nan.mcap") as bag:
        for topic, kind in reader.topics.items():
            bag.add(topic, kind)
        for topic, time_ns, message in reader.messages(list(reader.topics)):
            if topic == "/joint_states":
                message.position = np.full(len(message.position), np.nan)
            bag.write(topic, time_ns, message)
    for verb, ends in (("score", ("--no-result",)), ("replay", ("--no-out",))):
        code, _, err = called(
            capsys, verb, place / "nan.mcap", "--config", place / "c.yaml", *ends, "--report", place / "nan.html"
        )
        assert code == 1 and "no state came of it" in err and not (place / "nan.html").exists()
