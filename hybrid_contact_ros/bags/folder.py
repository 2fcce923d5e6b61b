"""Whether a file can be written where it is wanted, before any work is done for it."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryFile

from hybrid_contact_ros.bags.unreadable import BagError


def check_folder(path: Path) -> None:
    """Check that a file can be made where ``path`` will be, by making one.

    Raises:
        BagError: there is no such folder, or nothing can be written in it.
    """
    folder = path.absolute().parent
    if not folder.is_dir():
        raise BagError(f"{path} cannot be written: there is no folder {folder}")
    try:
        with TemporaryFile(dir=folder):
            pass
    except OSError as error:  # a full disk, a read-only one, another user's, or none that keeps files
        raise BagError(f"{path} cannot be written in {folder}: {error.strerror}") from None
