"""The message types of the suite for ``rosbags``, read from the .msg files themselves."""

from __future__ import annotations

import os
import sys
from functools import cache
from pathlib import Path

from rosbags.typesys import Stores, TypesysError, get_types_from_msg, get_typestore
from rosbags.typesys.store import Typestore

from hybrid_contact_ros.messages.types import MessageTypes

PACKAGE = "hybrid_contact_msgs"


def definition_folder() -> Path:
    """The folder of the .msg files of ``hybrid_contact_msgs``: in the checkout, of the installed package, or the copies
    that a wheel of this package brings for machines without ROS 2.

    Raises:
        FileNotFoundError: there is none; the text says what to do.
    """
    checkout = Path(__file__).resolve().parents[2]
    prefixes = [Path(p) for p in os.environ.get("AMENT_PREFIX_PATH", "").split(os.pathsep) if p]
    beside = [top / "share" / "hybrid_contact_ros" / "msg" for top in (checkout, Path(sys.prefix))]
    installed = [prefix / "share" / PACKAGE / "msg" for prefix in (*prefixes, Path(sys.prefix))]
    candidates = [checkout / PACKAGE / "msg", *beside, *installed]
    for folder in candidates:
        if (folder / "ContactMode.msg").is_file():
            return folder
    raise FileNotFoundError(
        f"the message definitions of {PACKAGE} are not installed: build that package and source its setup file"
    )


@cache
def typestore() -> Typestore:
    """Standard ROS 2 messages and those of the suite."""
    store = get_typestore(Stores.LATEST)
    types = {}
    for path in sorted(definition_folder().glob("*.msg")):
        types.update(get_types_from_msg(path.read_text(encoding="utf-8"), f"{PACKAGE}/msg/{path.stem}"))
    store.register(types)
    return store


def add_definitions(folder: str | Path) -> list[str]:
    """Know the messages of other packages too, for recordings that do not bring their definitions: ``folder`` is a
    package (with ``msg`` in it) or holds packages. The answer is the names of the types; known ones stay as they are.

    Raises:
        ValueError: there is no .msg file in a folder ``PACKAGE/msg``, or one cannot be read or names an unknown type.
    """
    files = sorted({*Path(folder).glob("msg/*.msg"), *Path(folder).glob("*/msg/*.msg")})
    if not files:
        raise ValueError(f"{folder} holds no message definitions: name a package's folder, with msg/NAME.msg in it")
    types = {}
    for path in files:
        try:
            package = path.resolve().parents[1].name
            types.update(get_types_from_msg(path.read_text(encoding="utf-8"), f"{package}/msg/{path.stem}"))
        except (TypesysError, UnicodeDecodeError) as error:
            raise ValueError(f"{path} is no message definition: {error}") from error
    store = typestore()
    known = {name: definition for name, definition in types.items() if name not in store.types}
    try:
        store.register(known)
    except (TypesysError, KeyError) as error:
        raise ValueError(f"messages of {folder} need a type that is not known: {error}") from error
    return sorted(known)


def message_types() -> MessageTypes:
    """The classes that :class:`~hybrid_contact_ros.messages.encoding.Encoder` fills, as ``rosbags`` dataclasses."""
    return MessageTypes.rosbags(typestore().types.__getitem__)
