"""Opens pages in the machine's own Chromium and says what it did: no library is needed for that.

Chromium takes orders on file descriptor 3 and answers on 4: JSON objects that end in a zero byte.
"""

from __future__ import annotations

import base64
import itertools
import json
import os
import select
import shutil
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

_WORDS = (
    "--headless --no-sandbox --disable-gpu --disable-background-networking "
    "--disable-component-update --disable-sync --no-first-run --disable-extensions "
    "--hide-scrollbars --remote-debugging-pipe"
)
_PATIENCE = 60


@dataclass
class Page:
    """One page that was opened.

    requests: the addresses that were asked for, the page itself first.
    messages: whatever reached the console, and errors.
    """

    _browser: Browser
    _session: str
    requests: list[str] = field(default_factory=list)
    messages: list[str] = field(default_factory=list)

    def value(self, expression: str) -> Any:
        """What an expression of JavaScript gives in the page; the debugger is above its policy."""
        given = {"expression": expression, "returnByValue": True}
        return self._browser.order("Runtime.evaluate", given, self._session)["result"]["value"]

    def picture(self, path: Path) -> None:
        """The whole page as a PNG."""
        size = self._browser.order("Page.getLayoutMetrics", {}, self._session)["cssContentSize"]
        clip = {"x": 0, "y": 0, "width": size["width"], "height": size["height"], "scale": 1}
        given = {"captureBeyondViewport": True, "clip": clip}
        made = self._browser.order("Page.captureScreenshot", given, self._session)
        path.write_bytes(base64.b64decode(made["data"]))

    def heard(self, event: dict[str, Any]) -> None:
        name, said = event["method"], event["params"]
        if name == "Network.requestWillBeSent":
            self.requests.append(said["request"]["url"])
        elif name == "Log.entryAdded":
            self.messages.append(said["entry"]["text"])
        elif name in ("Runtime.consoleAPICalled", "Runtime.exceptionThrown"):
            self.messages.append(json.dumps(said))


class Browser:
    """A Chromium with an empty profile."""

    def __init__(self, profile: Path) -> None:
        there, orders = os.pipe()
        answers, back = os.pipe()
        program = shutil.which("chromium")
        line = f'exec "$0" {_WORDS} --user-data-dir="$1" about:blank 3<&{there} 4>&{back}'
        self._process = subprocess.Popen(
            ["bash", "-c", line, str(program), str(profile)],
            pass_fds=(there, back),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(there)
        os.close(back)
        self._orders, self._answers = orders, answers
        self._numbers = itertools.count(1)
        self._read = b""
        self._page: Page | None = None

    def close(self) -> None:
        """Ends this Chromium, and no other."""
        self._process.terminate()
        self._process.wait(_PATIENCE)
        os.close(self._orders)
        os.close(self._answers)

    def order(
        self, method: str, params: dict[str, Any] | None = None, session: str | None = None
    ) -> dict[str, Any]:
        """Does something and waits for what comes of it."""
        number = next(self._numbers)
        said: dict[str, Any] = {"id": number, "method": method, "params": params or {}}
        if session is not None:
            said["sessionId"] = session
        os.write(self._orders, json.dumps(said).encode() + b"\0")
        found: dict[str, Any] = self._wait(lambda one: one.get("id") == number)
        assert "result" in found, found
        result: dict[str, Any] = found["result"]
        return result

    def _wait(self, wanted: Any) -> dict[str, Any]:
        end = time.monotonic() + _PATIENCE
        while True:
            while b"\0" not in self._read:
                left = end - time.monotonic()
                assert left > 0, "Chromium does not answer"
                if select.select([self._answers], [], [], left)[0]:
                    self._read += os.read(self._answers, 1 << 20)
            text, self._read = self._read.split(b"\0", 1)
            one: dict[str, Any] = json.loads(text)
            if "method" in one and self._page is not None:
                self._page.heard(one)
            if wanted(one):
                return one

    def open(self, path: Path, *, width: int, height: int = 900, dark: bool = False) -> Page:
        """A file in a window of that width."""
        target = self.order("Target.createTarget", {"url": "about:blank"})["targetId"]
        given = {"targetId": target, "flatten": True}
        session = self.order("Target.attachToTarget", given)["sessionId"]
        for room in ("Page", "Runtime", "Log", "Network"):
            self.order(f"{room}.enable", {}, session)
        size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600}
        self.order("Emulation.setDeviceMetricsOverride", size, session)
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.order("Emulation.setEmulatedMedia", {"features": [scheme]}, session)
        self._page = page = Page(self, session)
        self.order("Page.navigate", {"url": path.absolute().as_uri()}, session)
        if page.value("document.readyState") != "complete":
            self._wait(lambda one: one.get("method") == "Page.loadEventFired")
        return page


@contextmanager
def chromium(profile: Path) -> Iterator[Browser]:
    """A Chromium for the time of a test."""
    browser = Browser(profile)
    try:
        yield browser
    finally:
        browser.close()
