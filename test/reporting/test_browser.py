"""The page in a real browser: nothing is loaded, nothing complains, and one slider moves all that is over time."""

from __future__ import annotations

from io import BytesIO

import numpy as np
import pytest
from PIL import Image

from helpers.browser import browser, chromium
from helpers.results import trot
from hybrid_contact_ros.reporting.page import write_report

SHARED = "Bokeh.documents[0].get_model_by_name('time')"
WINDOW = f"[{SHARED}.start, {SHARED}.end]"
HOSTILE = "</script><script>document.title='owned'</script><img src=x onerror=\"document.title='owned'\">$$x$$"


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    chromium()  # or a skip
    with browser(tmp_path_factory.mktemp("browser")) as made:
        yield made


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    return write_report(tmp_path_factory.mktemp("report") / "trot.html", *trot(6.0))


@pytest.fixture
def opened(page, report):
    page.console.clear()
    page.requests.clear()
    page.open(report)
    yield page
    assert page.console == []


def place_of(page, name: str, share: float) -> tuple[float, float]:
    """A place within a plot in the window's pixels, at this share of its frame's width."""
    x, y = page.run(f"""(() => {{
        const view = Bokeh.index.find_one_by_id(Bokeh.documents[0].get_model_by_name('{name}').id);
        const box = view.frame.bbox, at = view.el.getBoundingClientRect();
        return [at.left + box.left + {share} * box.width, at.top + box.top + 0.5 * box.height];
    }})()""")
    return x, y


def shown_windows(page) -> list[list[float]]:
    """What the plots over time really show: start and end of their x scales as they were painted."""
    return page.run("""[...Bokeh.documents[0]._all_models.values()]
        .filter(one => one.type === 'Figure' && one.x_range.name === 'time')
        .map(one => Bokeh.index.find_one_by_id(one.id).frame.x_scale.source_range)
        .map(range => [range.start, range.end])""")


def test_the_page_loads_nothing_but_itself(opened, report):
    assert opened.requests == [report.as_uri()]


def test_every_panel_is_painted_in_light_and_in_dark(page, report):
    for dark, back in ((False, 230), (True, 60)):
        page.open(report, dark=dark)
        height = page.run("document.documentElement.scrollHeight")
        page.call("Emulation.setDeviceMetricsOverride", width=1280, height=height, deviceScaleFactor=1, mobile=False)
        picture = np.asarray(Image.open(BytesIO(page.screenshot())).convert("RGB"), int)
        assert (picture[5, 5].mean() > back) is not dark
        boxes = page.run(
            "[...document.querySelectorAll('figure')].filter(one => one.querySelector('div[data-root-id]')).map(one => "
            "{ const b = one.getBoundingClientRect(); return [one.id, b.left, b.top, b.right, b.bottom]; })"
        )
        assert len(boxes) >= 15
        for name, *box in boxes:
            left, top, right, bottom = (round(x) for x in box)
            part = picture[top + 80 : bottom - 40, left + 180 : right - 10]
            coloured = np.ptp(part, axis=2) > 40
            assert coloured.sum() > 20, f"nothing in colour is drawn in {name}, dark: {dark}"


def test_dragging_the_slider_moves_every_plot_over_time(opened):
    opened.run("document.getElementById('bar').scrollIntoView()")
    opened.run(f"{SHARED}.setv({{start: 1.0, end: 2.0}})")
    opened.drawn()
    before = opened.screenshot()
    begin = place_of(opened, "overview", 1.62 / 6.24)
    opened.drag(begin, (begin[0] + 300.0, begin[1]))
    start, end = opened.run(WINDOW)
    assert start > 1.5 and end - start == pytest.approx(1.0, abs=1e-6)
    windows = shown_windows(opened)
    assert len(windows) >= 10
    assert all(window == [start, end] for window in windows)
    assert opened.screenshot() != before


def test_a_click_on_what_went_wrong_zooms_there(opened):
    texts = opened.run("[...document.querySelectorAll('ol.worst button')].map(one => one.textContent)")
    assert "FL_foot is called open while it is closed" in texts[0]
    opened.run("document.querySelector('ol.worst button').click()")
    start, end = opened.run(WINDOW)
    assert 1.5 < start < 2.0 and 2.25 < end < 3.0
    opened.run("document.querySelector('button[data-impact]').click()")
    assert "30.0% of the jump outside" in opened.run("document.getElementById('impact-said').textContent")


def test_a_zoomed_line_has_every_state_and_a_whole_one_no_more_than_the_screen_shows(page, tmp_path):
    """120 s at 500 Hz are 60 000 states; the stretch around the mistake at 48 s is kept whole."""
    summary, tables = trot(120.0)
    page.console.clear()
    page.open(write_report(tmp_path / "long.html", summary, tables))
    probability = (
        "(() => { const plot = Bokeh.documents[0].get_model_by_name('probability'); "
        "const data = plot.renderers[0].data_source.data; return [Array.from(data.x), Array.from(data.y)]; })()"
    )
    x, _ = page.run(probability)
    assert 500 < len(x) <= 4 * 2400 + 8
    page.run(f"{SHARED}.setv({{start: 47.901, end: 48.399}})")
    page.drawn()
    x, y = (np.array(one) for one in page.run(probability))
    stamps = tables["states"]["stamp_ns"]
    t = (stamps - stamps[0]) * 1e-9
    inside = (t >= 47.901) & (t <= 48.399)
    seen = (x >= 47.901) & (x <= 48.399)
    assert int(seen.sum()) == int(inside.sum())
    assert np.allclose(y[seen], tables["contacts"]["probability"][inside, 0], atol=1e-6)
    assert page.console == []


def test_names_from_a_recording_are_text_and_nothing_else(page, tmp_path):
    feet = (HOSTILE, "FR", "RL", "RR")
    summary, tables = trot(3.0, feet=feet)
    summary |= {
        "bag": HOSTILE, "robot": HOSTILE, "warnings": [HOSTILE], "damage": HOSTILE, "reasons": [HOSTILE, "stale"],
        "configuration": {HOSTILE: HOSTILE}, "faults": {HOSTILE: 3}, "velocity_names": [HOSTILE] * 18,
        "truth": HOSTILE, "last_fault": [HOSTILE, HOSTILE],
    }  # fmt: skip
    page.console.clear()
    page.requests.clear()
    path = write_report(tmp_path / "hostile.html", summary, tables)
    page.open(path)
    page.screenshot()
    assert page.run("document.title") != "owned"
    assert page.run("document.images.length + document.querySelectorAll('main script').length") == 0
    assert HOSTILE in page.run("document.querySelector('main').innerText")
    assert page.requests == [path.as_uri()]
    assert page.console == []
