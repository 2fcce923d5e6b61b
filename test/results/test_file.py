"""The result file: what is written is read, and what is no result is refused with a sentence."""

import json
import zipfile

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from hybrid_contact_ros.results import file
from hybrid_contact_ros.results.file import FORMAT, KIND, Result, ResultError, read, result_path, write


def example() -> Result:
    tables = {
        "states": {"stamp_ns": np.arange(5, dtype=np.int64), "base_position": np.ones((5, 3), np.float32)},
        "contacts": {"closed": np.eye(5, 2, dtype=bool), "gap": np.full((5, 2), np.nan, np.float32)},
        "sets": {"stamp_ns": np.array([3, 4]), "offsets": np.array([0, 1, 3]), "velocities": np.ones((3, 8))},
        "refusals": {"stamp_ns": np.empty(0, np.int64)},
    }
    return Result({"robot": "dog", "scores": {"f1": float("nan")}, "contacts": ("left", "right")}, tables)


def assert_same(found: dict, expected: dict) -> None:
    assert found.keys() == expected.keys()
    for table, columns in expected.items():
        assert found[table].keys() == columns.keys()
        for name, values in columns.items():
            assert found[table][name].dtype == values.dtype
            np.testing.assert_array_equal(found[table][name], values)


def test_what_is_written_is_read(tmp_path):
    write(tmp_path / "a.result.zip", example())
    found = read(tmp_path / "a.result.zip")
    assert_same(found.tables, example().tables)
    assert found.summary == {
        "kind": KIND, "format": FORMAT, "robot": "dog", "scores": {"f1": None}, "contacts": ["left", "right"],
    }  # fmt: skip
    assert found.table("states")["stamp_ns"].size == 5 and found.table("nothing") == {}


def test_of_tables_that_are_not_asked_for_nothing_is_read(tmp_path):
    write(tmp_path / "a.result.zip", example())
    assert read(tmp_path / "a.result.zip", ["states"]).tables.keys() == {"states"}
    assert read(tmp_path / "a.result.zip", ()).tables == {}


def test_plain_numpy_and_json_read_it_too(tmp_path):
    write(tmp_path / "a.result.zip", example())
    with zipfile.ZipFile(tmp_path / "a.result.zip") as archive:
        assert json.loads(archive.read("summary.json"))["robot"] == "dog"
        with archive.open("contacts/closed.npy") as column:
            np.testing.assert_array_equal(np.load(column), example().tables["contacts"]["closed"])


@given(
    hnp.arrays(
        st.sampled_from([np.float32, np.float64, np.int64, np.uint8, np.bool_]),
        hnp.array_shapes(min_dims=1, max_dims=3, min_side=0, max_side=4),
    )
)
@settings(max_examples=40)
def test_any_column_comes_back_to_the_bit(tmp_path_factory, values):
    path = tmp_path_factory.mktemp("columns") / "a.result.zip"
    write(path, Result({}, {"table": {"column": values}}))
    found = read(path).tables["table"]["column"]
    assert found.dtype == values.dtype and found.shape == values.shape and found.tobytes() == values.tobytes()


def test_every_cut_and_every_spoilt_byte_is_refused_or_changes_nothing(tmp_path):
    path = tmp_path / "a.result.zip"
    write(path, example())
    whole = path.read_bytes()
    for end in range(0, len(whole) - 1, 97):
        path.write_bytes(whole[:end])
        with pytest.raises(ResultError, match=r"a\.result\.zip"):
            read(path)
    for at in range(0, len(whole), 53):
        spoilt = bytearray(whole)
        spoilt[at] ^= 0x5A
        path.write_bytes(spoilt)
        try:
            found = read(path)
        except ResultError as error:
            assert "a.result.zip" in str(error)
        else:  # the time of an entry, say, means nothing here
            for table, columns in found.tables.items():
                for name, values in columns.items():
                    if name in example().tables.get(table, {}):
                        np.testing.assert_array_equal(values, example().tables[table][name])


def other(path, summary):
    with zipfile.ZipFile(path, "w") as archive:
        if summary is not None:
            archive.writestr("summary.json", summary)


@pytest.mark.parametrize(
    ("summary", "said"),
    [
        (None, "no result: it has no summary.json"),
        ("{", "its summary.json is no JSON"),
        ("[1]", "is no result of this package"),
        ('{"kind": "something"}', "is no result of this package"),
        (json.dumps({"kind": KIND, "format": FORMAT + 1, "package_version": "9.1"}), "use version 9.1 or newer"),
        (json.dumps({"kind": KIND}), "has format None"),
    ],
)
def test_other_zip_files_are_refused_by_what_they_lack(tmp_path, summary, said):
    other(tmp_path / "b.zip", summary)
    with pytest.raises(ResultError, match=said):
        read(tmp_path / "b.zip")


def test_columns_of_one_table_have_the_same_rows(tmp_path):
    write(tmp_path / "a.zip", Result({}, {"states": {"a": np.ones(3), "b": np.ones(4)}}))
    with pytest.raises(ResultError, match=r"columns of states have \[3, 4\] rows"):
        read(tmp_path / "a.zip")
    sets = {"stamp_ns": np.ones(1), "offsets": np.array([0, 9]), "velocities": np.ones((2, 3))}
    write(tmp_path / "a.zip", Result({}, {"sets": sets}))
    with pytest.raises(ResultError, match="sets/offsets do not fit"):
        read(tmp_path / "a.zip")


def test_objects_are_neither_written_nor_read(tmp_path):
    with pytest.raises(ValueError, match="Object arrays cannot be saved"):
        write(tmp_path / "a.zip", Result({}, {"t": {"c": np.array([{}])}}))
    with pytest.raises(ValueError, match="a summary cannot hold"):
        write(tmp_path / "a.zip", Result({"x": object()}, {}))
    assert list(tmp_path.iterdir()) == []


def test_a_file_that_could_not_be_written_leaves_the_old_one_and_no_rest(tmp_path, monkeypatch):
    path = tmp_path / "a.result.zip"
    write(path, example())
    before = path.read_bytes()

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(file.os, "replace", full)
    with pytest.raises(OSError, match="No space"):
        write(path, Result({}, {}))
    assert path.read_bytes() == before and list(tmp_path.iterdir()) == [path]


def test_the_suffix_is_put_behind_names_without_one():
    assert str(result_path("a/walk")) == "a/walk.result.zip" and str(result_path("a/walk.zip")) == "a/walk.zip"
    assert str(result_path("walk.1")) == "walk.1.result.zip"
