"""``hybrid-contact report``: what it writes, and what it refuses."""

from __future__ import annotations

import pytest

from helpers.results import trot
from hybrid_contact_ros.cli import main
from hybrid_contact_ros.results.file import Result, write


@pytest.fixture
def result(tmp_path):
    return write(tmp_path / "walk.result.zip", Result(*trot(2.0)))


def test_the_page_has_the_name_of_the_result_and_is_not_replaced_unasked(result, tmp_path, capsys):
    assert main(["report", str(result)]) == 0
    page = tmp_path / "walk.html"
    assert "contact states are right" in page.read_text()
    assert str(page) in capsys.readouterr().err
    page.write_text("mine")
    assert main(["report", str(result)]) == 2
    assert "exists already" in capsys.readouterr().err
    assert page.read_text() == "mine"
    assert main(["report", str(result), "--force"]) == 0
    assert page.read_text() != "mine"


def test_every_plot_is_also_a_picture_and_a_pdf(result, tmp_path):
    folder = tmp_path / "a" / "figures"
    assert main(["report", str(result), "-o", str(tmp_path / "one.html"), "--figures", str(folder)]) == 0
    names = {path.stem for path in folder.iterdir()}
    wanted = {"contacts", "probability", "force_0", "gap", "next_event", "event_errors", "errors_touchdown", "set_0"}
    assert wanted | {"reliability", "flags", "friction", "impacts", "taken", "latency", "refusals", "trust"} <= names
    for name in names:
        assert (folder / f"{name}.png").read_bytes().startswith(b"\x89PNG")
        assert (folder / f"{name}.pdf").read_bytes().startswith(b"%PDF")


def test_what_cannot_be_reported_is_refused_with_a_sentence(result, tmp_path, capsys):
    def said(*arguments: str) -> str:
        assert main(["report", *arguments]) == 2
        return capsys.readouterr().err

    assert "No such file" in said(str(tmp_path / "none.result.zip"))
    cut = tmp_path / "cut.result.zip"
    cut.write_bytes(result.read_bytes()[:5000])
    assert "cut, damaged or no result file" in said(str(cut))
    assert "there is no folder" in said(str(result), "-o", str(tmp_path / "nowhere" / "a.html"))
    assert "is a folder" in said(str(result), "-o", str(tmp_path))
    empty = write(tmp_path / "empty.result.zip", Result({"contacts": []}, {}))
    assert "holds no state" in said(str(empty))
    assert not (tmp_path / "empty.html").exists() and not list(tmp_path.glob(".*"))


def test_without_bokeh_it_says_what_to_install(result, monkeypatch, capsys):
    import hybrid_contact_ros.commands.report_html as command

    monkeypatch.setattr(command, "find_spec", lambda name: None if name == "bokeh" else object())
    assert main(["report", str(result)]) == 2
    assert "pip install 'hybrid_contact_ros[report]'" in capsys.readouterr().err
