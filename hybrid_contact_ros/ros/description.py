"""Where the URDF comes from (a parameter with its text, a file, or the latched topic), and whether it has changed."""

from __future__ import annotations

from collections.abc import Hashable
from pathlib import Path

from rclpy.node import Node
from std_msgs.msg import String

from hybrid_contact_ros.ros.parameters import declare_own
from hybrid_contact_ros.ros.qos import LATCHED, overridable


class RobotDescription:
    """The robot description of a node: the first that is given of the parameter ``robot_description`` (text), the
    parameter ``urdf_file`` and the topic ``robot_description``. The node listens to the topic from the start, so that
    its message is there when the node is configured."""

    def __init__(self, node: Node) -> None:
        self._node = node
        declare_own(node, "urdf_file", "robot_description")
        self._heard = ""
        self._used: str | None = None
        self._compared: Hashable = None
        self._replaced = False
        node.create_subscription(
            String, "robot_description", self._on_message, LATCHED, qos_overriding_options=overridable()
        )

    @property
    def there(self) -> bool:
        """Whether any of the three is given."""
        return bool(self._value("robot_description") or self._value("urdf_file") or self._heard)

    @property
    def origin(self) -> Hashable:
        """A key that changes whenever :meth:`text` may give something else than before. It is cheap: no file is
        read."""
        given = self._value("robot_description")
        if given:
            return given
        file = self._file()
        if file is None:
            return self._heard
        try:
            seen = file.stat()
        except OSError:
            return file, 0, -1
        return file, seen.st_mtime_ns, seen.st_size

    def text(self) -> str:
        """The URDF.

        Raises:
            ValueError: nothing is given, the file cannot be read, or what is given is no XML.
        """
        given, file = self._value("robot_description"), self._file()
        source = "robot_description"
        if not given and file is not None:
            source = f"urdf_file {file}"
            try:
                given = file.read_text(encoding="utf-8-sig")
            except OSError as error:
                raise ValueError(f"{source}: {error.strerror}") from None
            except UnicodeDecodeError:
                raise ValueError(f"{source} is not text, and so no URDF") from None
        given = given or (self._heard if file is None else "")
        if not given and file is None:
            raise ValueError("no robot description: set robot_description or urdf_file, or publish robot_description")
        if not given.lstrip().startswith("<"):
            raise ValueError(
                f"{source} holds {given.strip()[:40]!r}, which is no URDF text; a file goes into urdf_file"
            )
        return given

    def use(self, text: str | None) -> None:
        """The node is configured with ``text`` from now on, or with None not configured."""
        self._used, self._compared, self._replaced = text, None, False

    @property
    def replaced(self) -> bool:
        """Whether another description has come than the one in use. A text that is no URDF counts; a file that vanished
        and an empty text do not."""
        if self._used is not None and self.origin != self._compared:
            self._compared = self.origin
            try:
                self._replaced = self.text() != self._used
            except ValueError:
                given = self._value("robot_description") or ("" if self._file() else self._heard)
                self._replaced = bool(given.strip())
        return self._replaced

    def _file(self) -> Path | None:
        given = self._value("urdf_file")
        return Path(given).expanduser().absolute() if given else None

    def _value(self, name: str) -> str:
        return str(self._node.get_parameter(name).value)

    def _on_message(self, msg: String) -> None:
        self._heard = msg.data
