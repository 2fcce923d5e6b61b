"""The documentation holds: links lead somewhere, and the tutorials run as they stand."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PAGES = sorted(
    path
    for path in ROOT.rglob("*.md")
    if not {".venv", "out", "generated", "build", "install", "log"} & set(path.relative_to(ROOT).parts)
)
TUTORIALS = [*sorted((ROOT / "docs" / "tutorials").glob("*.md")), ROOT / "docs" / "walk_through.md"]
_FENCE = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
_LINK = re.compile(r"(?<!\\)\]\(([^)\s]+)\)")
_BLOCK = re.compile(r"^```(sh|python|yaml)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_FILE = re.compile(r"# ([\w.]+)")
GENERATED = ("docs/generated/messages.md", "docs/generated/api.md")  # by ./run docs


def anchors(page):
    """Those of a page's headings, as forges and the site make them: lower case, hyphens, no punctuation."""
    found = set()
    for line in _FENCE.sub("", page.read_text(encoding="utf-8")).splitlines():
        if line.startswith("#"):
            title = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", line.lstrip("#").strip().lower())
            found.add(re.sub(r"[^\w\- ]", "", title).replace(" ", "-"))
    return found


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_link_between_pages_leads_to_a_file_and_a_heading(page):
    broken = []
    for target in _LINK.findall(_FENCE.sub("", page.read_text(encoding="utf-8"))):
        name, _, anchor = target.partition("#")
        if ":" in name:
            continue
        path = (page.parent / name).resolve() if name else page
        if not path.exists():
            if not any(path == ROOT / each for each in GENERATED):
                broken.append(target)
        elif anchor and path.suffix == ".md" and anchor not in anchors(path):
            broken.append(target)
    assert not broken


@pytest.mark.parametrize("page", TUTORIALS, ids=lambda page: page.stem)
def test_a_tutorial_runs_as_it_stands(page, tmp_path):
    environment = {**os.environ, "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}
    ran = 0
    for language, text in _BLOCK.findall(page.read_text(encoding="utf-8")):
        named = _FILE.match(text)
        if named:
            (tmp_path / named[1]).write_text(text, encoding="utf-8")
            continue
        assert language == "sh", f"a block of {language} that begins with no file's name cannot be run"
        done = subprocess.run(["bash", "-euo", "pipefail", "-c", text], cwd=tmp_path, env=environment, text=True,
                              capture_output=True, timeout=600)  # fmt: skip
        assert done.returncode == 0, f"{text}\n{done.stdout[-2000:]}\n{done.stderr[-2000:]}"
        ran += 1
    assert ran > 0
