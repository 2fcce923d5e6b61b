"""Recordings of words, as the recorder of ROS 2 leaves them: one file in a folder, in each storage and compression."""

from __future__ import annotations

import numpy as np
from rosbags.rosbag2 import CompressionFormat, CompressionMode, StoragePlugin, Writer

from hybrid_contact_ros.bags.typestore import typestore

STRING = "std_msgs/msg/String"
COUNT = 600
STORAGES = {"mcap": StoragePlugin.MCAP, "db3": StoragePlugin.SQLITE3}
MODES = {
    "plain": None, "file": CompressionMode.FILE, "message": CompressionMode.MESSAGE, "storage": CompressionMode.STORAGE,
}  # fmt: skip


def word(k: int) -> str:
    """Long and unlike the others, so that compression leaves something to be cut."""
    return f"{k} " + "".join(map(chr, np.random.default_rng(k).integers(33, 126, 1500)))


def record(folder, storage: str, mode: str = "plain", start: int = 0, topics=("/words",)):
    """A rosbag2 folder, as the recorder writes it, and the one file in it. Times are in steps of 1 ms."""
    writer = Writer(folder, version=9, storage_plugin=STORAGES[storage])
    if MODES[mode] is not None:
        writer.set_compression(MODES[mode], CompressionFormat.ZSTD)
    types = typestore()
    with writer:
        connections = [writer.add_connection(topic, STRING, typestore=types) for topic in topics]
        for k in range(start, start + COUNT):
            for connection in connections:
                writer.write(connection, k * 1_000_000, types.serialize_cdr(types.types[STRING](data=word(k)), STRING))
    return next(file for file in folder.iterdir() if file.name != "metadata.yaml")
