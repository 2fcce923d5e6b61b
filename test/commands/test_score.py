"""``score`` and ``compare`` from the command line: what they print, write and refuse, and with which exit code."""

import csv
import io
import json
import shutil
from dataclasses import replace

import numpy as np
import pytest

from helpers.truth_bags import of, stamps, steps, write
from hybrid_contact_ros.bags.reader import BagReader
from hybrid_contact_ros.bags.writer import BagWriter
from hybrid_contact_ros.cli import main
from hybrid_contact_ros.recordings.write import write_recording
from hybrid_contact_ros.replay.run import replay_bag
from hybrid_contact_ros.results.file import read

CONFIG = "contacts:\n  left: {link: left_foot}\n  right: {link: right_foot}\n"
BOOL = "std_msgs/msg/Bool"


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


def test_score_and_replay_say_the_same_of_the_same_truth(place, walker, capsys):
    truths = ["--truth", "/truth/contact_mode", "--truth", "/truth/impact"]
    code, out, _ = called(
        capsys, "score", place / "b.mcap", "--config", place / "c.yaml", *truths, "--complete-sets", "--json"
    )
    said = json.loads(out)
    assert code == 0 and said["truth"] == ["/truth/contact_mode", "/truth/impact"]
    replayed = replay_bag(
        place / "b.mcap", walker, truth=("/truth/contact_mode", "/truth/impact"), complete_sets=True
    ).scores.to_dict()  # fmt: skip
    for key in ("f1", "accuracy", "contacts", "states", "touchdown_delay"):
        assert said["scores"][key] == replayed[key]
    assert said["scores"]["touchdown"][0]["error_median"] == pytest.approx(
        replayed["touchdown"][0]["error_median"], rel=1e-4
    )
    assert said["scores"]["impacts"]["distance_median"] == pytest.approx(
        replayed["impacts"]["distance_median"], rel=1e-5
    )
    again = read(place / "b.result.zip").summary
    assert again["scores"] == said["scores"] and again["self_consistency"]["events"] == 2


def test_without_a_truth_the_tables_tell_the_consistency_alone(place, capsys):
    code, out, _ = called(capsys, "score", place / "b.mcap", "--config", place / "c.yaml", "--no-result")
    assert code == 0 and "events against what was seen later: 2 events" in out and "with a truth" not in out
    assert not (place / "b.result.zip").exists()


def test_a_result_is_replaced_by_force_alone(place, capsys):
    arguments = ("score", place / "b.mcap", "--estimate", "/truth/contact_mode")
    assert called(capsys, *arguments)[0] == 0
    code, _, err = called(capsys, *arguments)
    assert code == 2 and "exists already" in err
    assert called(capsys, *arguments, "--force")[0] == 0


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((), "a configuration is needed (--config), or the topic of another estimator (--estimate)"),
        (("--estimate", "/odom"), "of which nobody knows how it tells contacts"),
        (("--estimate", "/missing"), "has no topic /missing"),
        (("--estimate", "/truth/contact_mode", "--truth", "/odom"), "of which nobody knows how it tells contacts"),
        (("--estimate", "/truth/contact_mode", "--truth", "a=b="), "is no truth"),
        (("--estimate", "/truth/contact_mode", "--threshold", "1,2,3"), "ON,OFF is needed"),
        (("--estimate", "/truth/contact_mode", "--threshold", "five"), "ON,OFF is needed"),
        (("--estimate", "/truth/contact_mode", "--threshold", "1,2"), "below that at which it opens"),
        (("--estimate", "/truth/contact_mode", "--msg", "."), "holds no message definitions"),
    ],
)
def test_mistakes_are_told_in_a_sentence_with_exit_code_2(place, capsys, monkeypatch, arguments, said):
    monkeypatch.chdir(place)
    code, _, err = called(capsys, "score", "b.mcap", *arguments, "--no-result")
    assert code == 2 and said in err and "Traceback" not in err


def test_an_empty_recording_is_refused(tmp_path, capsys):
    write(tmp_path / "empty.mcap", {"/c": (BOOL, [])})
    code, _, err = called(capsys, "score", tmp_path / "empty.mcap", "--estimate", "/c", "--no-result")
    assert code == 2 and "empty" in err


def test_a_truth_of_another_time_is_exit_code_1_and_the_result_is_kept(fall, place, capsys):
    other = stamps(100) + 10**12
    with BagReader(place / "b.mcap") as reader, BagWriter(place / "late.mcap") as late:
        for topic, kind in reader.topics.items():
            late.add(topic, kind)
        late.add("/left", BOOL)
        for topic, time_ns, data in reader.messages(list(reader.topics), raw=reader.topics):
            late.write(topic, time_ns, data)
        for k, time in enumerate(other):
            late.write("/left", int(time), of(BOOL, data=bool(k // 20 % 2)))
    code, _, err = called(
        capsys, "score", place / "late.mcap", "--config", place / "c.yaml", "--truth", "/left", "--result", place / "x"
    )
    assert code == 1 and "do both have the same clock?" in err
    assert read(place / "x.result.zip").summary["states"] == fall.time.size


def test_a_recording_that_is_cut_is_scored_up_to_the_cut_with_exit_code_3(place, capsys):
    data = (place / "b.mcap").read_bytes()
    (place / "cut.mcap").write_bytes(data[: int(0.6 * len(data))])
    code, out, _ = called(
        capsys, "score", place / "cut.mcap", "--config", place / "c.yaml", "--truth", "/truth/contact_mode", "--json"
    )
    said = json.loads(out)
    assert code == 3 and "is not whole" in said["damage"]
    assert 0 < said["states"] < 200 and said["scores"]["accuracy"] == 1.0


@pytest.fixture
def rivals(tmp_path, capsys):
    """Results of two detectors in one recording of 40 s, of which one is late, and of a copy of the recording."""
    closed, times = steps(20000, seed=3), stamps(20000)
    rng = np.random.default_rng(0)
    streams = {}
    for name, shift, wrong in (("truth", 0, 0.0), ("good", 1, 0.002), ("late", 6, 0.002)):
        said = np.roll(closed, shift, axis=0) ^ (rng.random(closed.shape) < wrong)
        for foot, column in zip(("left", "right"), said.T, strict=True):
            rows = [(t, of(BOOL, data=bool(x))) for t, x in zip(times, column, strict=True)]
            streams[f"/{name}/{foot}"] = BOOL, rows
    both = "std_msgs/msg/UInt8MultiArray"
    layout = of("std_msgs/msg/MultiArrayLayout", dim=[], data_offset=0)
    for name in ("good", "late"):
        pairs = zip(streams[f"/{name}/left"][1], streams[f"/{name}/right"][1], strict=True)
        rows = [(t, of(both, layout=layout, data=np.uint8([a.data, b.data]))) for (t, a), (_, b) in pairs]
        streams[f"/{name}"] = both, rows
    path = write(tmp_path / "walk.mcap", streams)
    shutil.copy(path, tmp_path / "copy.mcap")
    write(tmp_path / "other.mcap", {topic: (kind, held[:-100]) for topic, (kind, held) in streams.items()})
    for name, bag in (("good", "walk"), ("late", "copy"), ("other", "other")):
        topic = "good" if name == "other" else name
        code, _, err = called(
            capsys, "score", tmp_path / f"{bag}.mcap", "--estimate", f"left,right=/{topic}",
            "--truth", "/truth/left", "--truth", "/truth/right", "--result", tmp_path / name,
        )  # fmt: skip
        assert code == 0, err
    return [tmp_path / f"{name}.result.zip" for name in ("good", "late", "other")]


def rows_of(out):
    return {row["name"]: row for row in json.loads(out)[0]["rows"]}


def test_a_detector_that_is_later_is_told_to_be_worse_and_the_earlier_one_better(rivals, capsys):
    good, late, _ = rivals
    code, out, _ = called(capsys, "compare", good, late, "--json")
    rows = rows_of(out)
    assert code == 0
    for name in ("accuracy", "F1", "touchdown seen late by, mean", "liftoff seen late by, mean"):
        assert rows[name]["verdict"] == "worse", name
    late_by = rows["touchdown seen late by, mean"]
    assert late_by["other"] - late_by["first"] == pytest.approx(0.010, abs=0.002)
    assert late_by["low"] <= late_by["other"] - late_by["first"] <= late_by["high"]
    backward = rows_of(called(capsys, "compare", late, good, "--json")[1])
    assert backward["accuracy"]["verdict"] == "better"
    assert called(capsys, "compare", good, late, "--fail-if-worse")[0] == 1
    assert called(capsys, "compare", late, good, "--fail-if-worse")[0] == 0


def test_a_result_is_not_better_than_itself(rivals, capsys):
    good = rivals[0]
    code, out, _ = called(capsys, "compare", good, good, "--json", "--fail-if-worse")
    rows = rows_of(out)
    assert code == 0 and len(rows) >= 5 and all(row["verdict"] == "" for row in rows.values())
    assert rows["accuracy"]["low"] == rows["accuracy"]["high"] == 0.0


def test_tables_and_csv_tell_the_same_numbers(rivals, capsys):
    good, late, _ = rivals
    told = rows_of(called(capsys, "compare", good, late, "--json")[1])
    held = list(csv.DictReader(io.StringIO(called(capsys, "compare", good, late, "--csv")[1])))
    assert [row["score"] for row in held] == list(told)
    assert all(float(row["first_value"]) == told[row["score"]]["first"] for row in held if row["first_value"] != "nan")
    table = called(capsys, "compare", good, late)[1]
    assert "worse" in table and f"{told['accuracy']['first']:.4f}" in table


def test_results_that_cannot_be_held_against_each_other_are_refused(rivals, place, capsys):
    good, _, other = rivals
    code, _, err = called(capsys, "compare", good, other)
    assert code == 2 and "different recordings" in err and "--unpaired" in err
    assert called(capsys, "compare", good, other, "--unpaired")[0] == 0
    for files, said in (((good,), "two result files or more"), ((good, place / "c.yaml"), "no result file")):
        code, _, err = called(capsys, "compare", *files)
        assert code == 2 and said in err
    walk = good.parent / "walk.mcap"
    called(capsys, "score", walk, "--estimate", "left,right=/good", "--truth", "/late/left", "--result", place / "x")
    code, _, err = called(capsys, "compare", good, place / "x.result.zip")
    assert code == 2 and "different truths" in err
    called(capsys, "score", walk, "--estimate", "left,right=/good", "--result", place / "none")
    code, _, err = called(capsys, "compare", good, place / "none.result.zip")
    assert code == 2 and "no score in common" in err


def test_parameters_that_differ_are_told(place, capsys):
    (place / "d.yaml").write_text(CONFIG + "prediction: {horizon: 0.31}\n")
    for name in ("c", "d"):
        called(capsys, "score", place / "b.mcap", "--config", place / f"{name}.yaml", "--truth", "/truth/contact_mode",
               "--result", place / name)  # fmt: skip
    code, out, _ = called(capsys, "compare", place / "c.result.zip", place / "d.result.zip")
    assert code == 0 and " | 0.31" in out and out.count("prediction.") == 1 and "floating_base" not in out


def test_refusals_of_the_recording_are_in_the_summary(fall, place, capsys):
    q = fall.q.copy()
    q[50:53, 0] = np.nan
    write_recording(replace(fall, q=q), place / "bad.mcap")
    code, out, _ = called(
        capsys, "score", place / "bad.mcap", "--config", place / "c.yaml", "--truth", "/truth/contact_mode", "--json"
    )
    assert code == 0 and json.loads(out)["faults"]["not_finite"] == 3
