"""An API on loopback that answers as its test wants, and counts what it was asked."""

from __future__ import annotations

import http.server
import json
import random
import threading
import time
from collections import Counter
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
