"""``./run gallery [NAME ...]``: draws the entries to docs/images, and writes docs/gallery.md when all are drawn."""

from __future__ import annotations

import argparse
import sys
import time

from benchmarks.gallery import halm_posa, johnson, or_ames, pace, robots
from benchmarks.gallery.page import IMAGES, ROOT, markdown

ENTRIES = {entry.name: entry for part in (halm_posa, johnson, or_ames, pace, robots) for entry in part.ENTRIES}
HEAD = """# Gallery

The papers' systems as this suite computes them, and published numbers beside ours. `./run gallery` makes every picture
and this page; a name after it makes one. Halm, Johnson, Or and Pace are cited for the papers of Halm and Posa, of
Johnson, Burden and Koditschek, of Or and Ames, and of Pace and Burden.
"""


def main() -> int:
    parser = argparse.ArgumentParser(prog="./run gallery", description="Draws the papers' systems.")
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(ENTRIES)}; without any, all")
    chosen = parser.parse_args().names
    unknown = sorted(set(chosen) - set(ENTRIES))
    if unknown:
        parser.error(f"no entry named {', '.join(unknown)}; there are {', '.join(ENTRIES)}")
    IMAGES.mkdir(parents=True, exist_ok=True)
    page = [HEAD]
    for name in chosen or ENTRIES:
        begin = time.perf_counter()
        figure, rows = ENTRIES[name].draw()
        figure.savefig(IMAGES / f"gallery_{name}.png", dpi=70)
        page.append(markdown(ENTRIES[name], rows))
        print(f"\n{ENTRIES[name].title} ({time.perf_counter() - begin:.0f} s): docs/images/gallery_{name}.png")
        for row in rows:
            print(f"  {row.what:<40}{row.published:<36}{row.ours}", flush=True)
    if not chosen:
        (ROOT / "docs" / "gallery.md").write_text("\n".join(page).rstrip() + "\n")
        print("\nwrote docs/gallery.md")
    return 0


if __name__ == "__main__":
    sys.exit(main())
