"""One headless Chromium for all pages, driven over a pipe by the DevTools protocol: no driver
library is needed."""

from __future__ import annotations

import base64
import fcntl
import json
import os
import select
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

CHROMIUM = next(
    filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome", "chrome"))),
    None,
)
ABSENT = (
    "no Chromium on this machine (no package registry of Python carries one; on Debian: apt-get"
    " install chromium)"
)

_PATIENCE = 60.0
_FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--no-first-run",
    "--disable-quic",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-extensions",
    "--host-resolver-rules=MAP * ~NOTFOUND",
    "--window-size=900,1600",
    "--remote-debugging-pipe",
)
# The browser reads commands from descriptor 3 and answers on descriptor 4.
_LAUNCH = (
    "import os, sys; os.dup2(int(sys.argv[1]), 3); os.dup2(int(sys.argv[2]), 4);"
    " os.execvp(sys.argv[3], sys.argv[3:])"
)


@dataclass
class Visit:
    """What happened while a page was open, and the page itself, still open."""

    browser: Browser
    session: str
    requests: list[str] = field(default_factory=list)
    complaints: list[str] = field(default_factory=list)

    def send(self, method: str, **parameters: Any) -> dict[str, Any]:
        return self.browser.send(method, session=self.session, **parameters)

    def evaluate(self, expression: str) -> Any:
        """Return what a JavaScript expression gives in the page; this is the test looking, not the
        page running."""
        out = self.send(
            "Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True
        )
        assert "exceptionDetails" not in out, out
        return out["result"].get("value")

    def prefer(self, **features: str) -> None:
        """Emulate what the reader's system prefers, e.g. ``color_scheme="dark"``."""
        wanted = [
            {"name": f"prefers-{name.replace('_', '-')}", "value": value}
            for name, value in features.items()
        ]
        self.send("Emulation.setEmulatedMedia", features=wanted)

    def screenshot(self, path: Path, *, whole: bool = True) -> None:
        """Write the *whole* page, or what the window shows of it."""
        shot = self.send("Page.captureScreenshot", captureBeyondViewport=whole)
        path.write_bytes(base64.b64decode(shot["data"]))


class Browser:
    """A running Chromium."""

    def __init__(self, profile: Path, *, local: bool = False, names: str = "") -> None:
        """*local* also lets it reach servers on this machine, and nothing else; *names* maps more,
        as ``MAP tally.test 127.0.0.2,``."""
        assert CHROMIUM is not None
        rules = f"--host-resolver-rules={names} MAP * ~NOTFOUND, EXCLUDE 127.0.0.1"
        reach = [rules] if local else []
        theirs_in, ours_out = _pipe()
        ours_in, theirs_out = _pipe()
        command = [
            sys.executable,
            "-c",
            _LAUNCH,
            str(theirs_in),
            str(theirs_out),
            CHROMIUM,
            *_FLAGS,
        ]
        self._process = subprocess.Popen(
            [*command, *reach, f"--user-data-dir={profile}", "about:blank"],
            pass_fds=(theirs_in, theirs_out),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(theirs_in)
        os.close(theirs_out)
        self._out, self._in = ours_out, ours_in
        self._rest = b""
        self._number = 0
        self._events: list[dict[str, Any]] = []

    def send(self, method: str, session: str | None = None, **parameters: Any) -> dict[str, Any]:
        self._number += 1
        message: dict[str, Any] = {"id": self._number, "method": method, "params": parameters}
        if session is not None:
            message["sessionId"] = session
        os.write(self._out, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._next()
            if answer.get("id") == self._number:
                assert "error" not in answer, answer
                return dict(answer["result"])
            self._events.append(answer)

    @contextmanager
    def visit(self, path: Path | str, *, patient: bool = True) -> Iterator[Visit]:
        """Open a file or an address, wait until it has loaded (*patient*: drawn), and note all requests and
        complaints meanwhile."""
        target = self.send("Target.createTarget", url="about:blank")["targetId"]
        session = self.send("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        visit = Visit(self, session)
        for domain in ("Page", "Network", "Runtime", "Log"):
            visit.send(f"{domain}.enable")
        self._events.clear()
        url = path if isinstance(path, str) else path.resolve().as_uri()
        visit.send("Page.navigate", url=url)
        while not any(event.get("method") == "Page.loadEventFired" for event in self._of(session)):
            self._events.append(self._next())
        if patient:
            visit.evaluate("Promise.all([...document.images].map(image => image.decode()))")
        self.heard(visit)
        try:
            yield visit
        finally:
            self.send("Target.closeTarget", targetId=target)

    def heard(self, visit: Visit) -> None:
        """Note what was heard of a page since the last time."""
        for event in self._of(visit.session):
            _note(event, visit)
        self._events = [one for one in self._events if one.get("sessionId") != visit.session]

    def wait(self, visit: Visit, method: str) -> None:
        """Wait until a page reports *method*, and note everything heard meanwhile."""
        while not any(event.get("method") == method for event in self._of(visit.session)):
            self._events.append(self._next())
        self.heard(visit)

    def _of(self, session: str) -> list[dict[str, Any]]:
        """Return what was heard of one page."""
        return [event for event in self._events if event.get("sessionId") == session]

    def _next(self) -> dict[str, Any]:
        deadline = time.monotonic() + _PATIENCE
        while b"\0" not in self._rest:
            ready, _, _ = select.select([self._in], [], [], max(0.0, deadline - time.monotonic()))
            assert ready, "the browser does not answer"
            read = os.read(self._in, 1 << 20)
            assert read, "the browser has gone"
            self._rest += read
        message, self._rest = self._rest.split(b"\0", 1)
        return dict(json.loads(message))

    def close(self) -> None:
        self.send("Browser.close")
        self._process.wait(timeout=_PATIENCE)
        os.close(self._out)
        os.close(self._in)


def _pipe() -> tuple[int, int]:
    """Make a pipe with descriptors above 4, so that nothing is overwritten at the launch."""
    ends = os.pipe()
    read, write = (fcntl.fcntl(end, fcntl.F_DUPFD, 10) for end in ends)
    for end in ends:
        os.close(end)
    return read, write


def _note(event: dict[str, Any], visit: Visit) -> None:
    method, details = event.get("method"), event.get("params", {})
    if method == "Network.requestWillBeSent":
        visit.requests.append(details["request"]["url"])
    elif method in ("Runtime.consoleAPICalled", "Runtime.exceptionThrown", "Log.entryAdded"):
        visit.complaints.append(json.dumps(details))
