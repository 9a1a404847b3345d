"""An API on loopback that answers as its test wants, and counts what it was asked."""

from __future__ import annotations

import contextlib
import http.server
import json
import random
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any


class FakeApi:
    """Answers the label of an item, wrong with a chance that the test sets."""

    def __init__(self, truth: dict[str, str]) -> None:
        self.truth, self.wrong, self.delay = truth, 0.05, 0.0
        self.asked: Counter[str] = Counter()
        self._rng, self._lock = random.Random(5), threading.Lock()
        outer = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            disable_nagle_algorithm = True  # else each answer waits 40 ms for an acknowledgement

            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["content-length"])))
                said = json.dumps({"label": outer.answer(body["text"])}).encode()
                self.send_response(200)
                self.send_header("Content-Length", str(len(said)))
                self.end_headers()
                self.wfile.write(said)

            def log_message(self, *_: Any) -> None:
                return

        self._server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_port}/label"

    def answer(self, text: str) -> str:
        time.sleep(self.delay)
        with self._lock:
            self.asked[text] += 1
            right = self.truth[text]
            return right if self._rng.random() >= self.wrong else "b" if right == "a" else "a"

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()


class ApiProcess:
    """Such an API in a process of its own: it outlives whoever asks it."""

    def __init__(self, process: subprocess.Popen[str], url: str) -> None:
        self._process, self.url = process, url

    def asked(self) -> dict[str, int]:
        """Return how often each text was asked."""
        pipe, answers = self._process.stdin, self._process.stdout
        if pipe is None or answers is None:
            raise RuntimeError("the API has no pipes")
        pipe.write("asked\n")
        pipe.flush()
        found: dict[str, int] = json.loads(answers.readline())
        return found

    def calls(self) -> int:
        """Return how many calls came."""
        return sum(self.asked().values())


@contextlib.contextmanager
def api_process(n: int, *, delay: float) -> Iterator[ApiProcess]:
    """Run an API that knows *n* texts; it is stopped at the end."""
    words = [sys.executable, "-m", "tests.serve.watches.fake_api", str(n), str(delay)]
    root = Path(__file__).resolve().parents[3]
    with subprocess.Popen(
        words,
        cwd=root,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,  # it complains of every caller that is killed
        text=True,
    ) as process:
        if process.stdout is None:
            raise RuntimeError("the API has no pipe")
        yield ApiProcess(process, process.stdout.readline().strip())
        if process.stdin is not None:
            process.stdin.close()


def main() -> None:
    api = FakeApi({f"text {i}": "ab"[i % 2] for i in range(int(sys.argv[1]))})
    api.delay = float(sys.argv[2])
    sys.stdout.write(api.url + "\n")
    sys.stdout.flush()
    for _ in sys.stdin:
        with api._lock:
            found = dict(api.asked)
        sys.stdout.write(json.dumps(found) + "\n")
        sys.stdout.flush()
    api.close()


if __name__ == "__main__":
    main()
