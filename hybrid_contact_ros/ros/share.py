"""Files that are installed beside the package: its configurations."""

from __future__ import annotations

from pathlib import Path


def configuration(name: str) -> Path:
    """Path of a shipped parameter file, in the checkout that this runs from or in the installed package."""
    checkout = Path(__file__).resolve().parents[2] / "config" / name
    if checkout.is_file():
        return checkout
    from ament_index_python.packages import get_package_share_directory

    return Path(get_package_share_directory("hybrid_contact_ros")) / "config" / name
