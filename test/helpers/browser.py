"""A real browser without a display: Chromium, spoken to over two pipes (its DevTools protocol): no port is open."""

from __future__ import annotations

import base64
import json
import os
import select
import shutil
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

_NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
_OPTIONS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync",
    "--disable-background-networking", "--disable-component-update", "--disable-default-apps",
    "--disable-dev-shm-usage", "--hide-scrollbars", "--remote-debugging-pipe",
)  # fmt: skip
_LIMIT = 120.0  # s for one answer, on a machine that is busy


def chromium() -> str:
    """The browser's program, or a skip."""
    for name in _NAMES:
        found = shutil.which(name)
        if found:
            return found
    pytest.skip("there is no Chromium here: install Debian's package chromium")


class Page:
    """One tab.

    Attributes:
        console: errors and warnings of the console, and exceptions, as they came. requests: addresses that were loaded.
    """

    def __init__(self, write: int, read: int) -> None:
        self._write, self._read, self._rest = write, read, b""
        self._count, self._session = 0, None
        self.console: list[str] = []
        self.requests: list[str] = []
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")

    def call(self, method: str, **parameters: Any) -> dict[str, Any]:
        """A command of the protocol, and its answer."""
        self._count += 1
        asked = {"id": self._count, "method": method, "params": parameters}
        if self._session is not None:
            asked["sessionId"] = self._session
        os.write(self._write, json.dumps(asked).encode() + b"\0")
        until = time.monotonic() + _LIMIT
        while (told := self._message(until)).get("id") != self._count:
            self._event(told)
        assert "error" not in told, f"{method}: {told['error']}"
        return told["result"]

    def open(self, path: Path, width: int = 1280, height: int = 900, dark: bool = False) -> None:
        """Open a file, and wait until the report in it is drawn."""
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.call("Emulation.setEmulatedMedia", features=[scheme])
        self.call("Page.navigate", url=path.as_uri())
        self.until("document.documentElement?.dataset.ready === 'yes'")

    def run(self, script: str) -> Any:
        """The value of a JavaScript expression."""
        told = self.call("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in told, told["exceptionDetails"]
        return told["result"].get("value")

    def until(self, script: str) -> None:
        """Wait until an expression is true."""
        end = time.monotonic() + _LIMIT
        while not self.run(script):
            assert time.monotonic() < end, f"never came true: {script}; console: {self.console}"
            time.sleep(0.05)

    def drawn(self) -> None:
        """Wait until two frames were drawn."""
        self.run("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done, 50))))")

    def drag(self, begin: tuple[float, float], end: tuple[float, float]) -> None:
        """Press the mouse at one place of the window and let it go at another."""
        steps = 8
        places = [tuple(a + (b - a) * k / steps for a, b in zip(begin, end, strict=True)) for k in range(steps + 1)]
        self._mouse("mouseMoved", begin, 0)
        self._mouse("mousePressed", begin, 1)
        for place in places:
            self._mouse("mouseMoved", place, 1)
        self._mouse("mouseReleased", end, 0)
        self.drawn()

    def screenshot(self, path: Path | None = None, whole: bool = False) -> bytes:
        """A picture of the window, or of the whole page, as PNG."""
        self.drawn()
        picture = base64.b64decode(self.call("Page.captureScreenshot", captureBeyondViewport=whole)["data"])
        if path is not None:
            path.write_bytes(picture)
        return picture

    def _mouse(self, kind: str, place: tuple[float, ...], buttons: int) -> None:
        button = "none" if kind == "mouseMoved" and not buttons else "left"
        self.call(
            "Input.dispatchMouseEvent", type=kind, x=place[0], y=place[1], button=button, buttons=buttons, clickCount=1
        )

    def _message(self, until: float) -> dict[str, Any]:
        while b"\0" not in self._rest:
            ready, _, _ = select.select([self._read], [], [], max(0.0, until - time.monotonic()))
            block = os.read(self._read, 1 << 20) if ready else b""
            assert block, "the browser does not answer"
            self._rest += block
        message, _, self._rest = self._rest.partition(b"\0")
        return json.loads(message)

    def _event(self, told: dict[str, Any]) -> None:
        what, said = told.get("method"), told.get("params", {})
        if what == "Runtime.exceptionThrown":
            self.console.append(json.dumps(said["exceptionDetails"])[:2000])
        elif what == "Runtime.consoleAPICalled" and said["type"] in ("error", "warning", "assert"):
            self.console.append(f"{said['type']}: {[x.get('value', x.get('description')) for x in said['args']]}")
        elif what == "Log.entryAdded" and said["entry"]["level"] in ("error", "warning"):
            self.console.append(f"{said['entry']['level']}: {said['entry']['text']}")
        elif what == "Network.requestWillBeSent":
            self.requests.append(said["request"]["url"])


@contextmanager
def browser(profile: Path) -> Iterator[Page]:
    """A browser with an empty profile; it is ended at the end."""
    program = chromium()
    to_browser, ours = os.pipe()
    theirs, from_browser = os.pipe()[::-1]

    def places() -> None:  # the browser reads from 3 and writes to 4
        low, high = os.dup(to_browser), os.dup(theirs)
        os.dup2(low, 3)
        os.dup2(high, 4)

    with open(profile / "log", "wb") as log:
        process = subprocess.Popen(
            [program, *_OPTIONS, f"--user-data-dir={profile / 'profile'}"], close_fds=False, preexec_fn=places,
            stdin=subprocess.DEVNULL, stdout=log, stderr=log,
        )  # fmt: skip
        os.close(to_browser)
        os.close(theirs)
        try:
            yield Page(ours, from_browser)
        finally:
            process.terminate()
            try:
                process.wait(20)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
            os.close(ours)
            os.close(from_browser)
