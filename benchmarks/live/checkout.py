"""Another revision of this repository, set up beside it."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

from benchmarks.live.robot import ROOT
from benchmarks.live.session import environment


def _git(*arguments: str) -> str:
    try:
        done = subprocess.run(["git", "-C", str(ROOT), *arguments], capture_output=True, text=True)
    except FileNotFoundError:
        raise SystemExit(f"git {' '.join(arguments)}: there is no git here") from None
    if done.returncode:
        raise SystemExit(f"git {' '.join(arguments)}: {done.stderr.strip()}")
    return done.stdout.strip()


def place_of(revision: str) -> Path:
    """Where the worktree of a revision is, or will be: one folder a commit below the temporary directory."""
    commit = _git("rev-parse", "--verify", f"{revision}^{{commit}}")
    return Path(tempfile.gettempdir()) / f"hybrid_contact-{commit[:12]}"


def checkout(against: str) -> tuple[Path, str]:
    """The root of another revision that ``./run setup`` has set up, and its name.

    Args:
        against: a revision of git, or the root of a checkout that is set up already. A worktree that is there from an
            earlier call is used again.
    """
    folder = Path(against)
    if (folder / ".venv").is_dir():
        return folder.resolve(), folder.resolve().name
    place = place_of(against)
    if not place.exists():
        _git("worktree", "prune")
        _git("worktree", "add", "--detach", str(place), against)
    print(f"setting {against} up in {place}", file=sys.stderr, flush=True)
    if subprocess.run(["./run", "setup"], cwd=place, env=environment(place)).returncode:
        raise SystemExit(f"./run setup failed in {place}")
    return place, against


def leave(place: Path, remove: bool) -> None:
    """Remove a worktree that :func:`checkout` made, or say where it is. Other folders stay as they are."""
    if place.parent != Path(tempfile.gettempdir()) or not place.name.startswith("hybrid_contact-"):
        return
    if remove:
        _git("worktree", "remove", "--force", str(place))
    else:
        print(f"{place} is kept for the next run; git worktree remove --force {place}", file=sys.stderr)
