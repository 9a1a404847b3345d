"""Run a pair: write its table into a folder of its own, put its commands there, keep the answer."""

from __future__ import annotations

import contextlib
import csv
import hashlib
import http.server
import io
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.corpus.kept import reduced, short

__all__ = ["Pair", "Runner", "Table", "call", "commands", "question", "run", "served"]

Table = Callable[[Path], None]
"""What writes the files of a table into a folder."""

STORED = Path(__file__).resolve().parent / "stored"


@dataclass(frozen=True, kw_only=True)
class Pair:
    """A table or source, and what is put to it; the last step answers.

    A step is the words of a command, a path of the service, or a function of the folder: a call in
    Python, or what a person does between two commands.
    """

    name: str
    verb: str
    steps: tuple[tuple[str, ...] | str | Callable[[Path], Any], ...]
    table: Table | None = None
    stdin: str | None = None
    refusal: bool = True
    """Whether the sentence of a refusal is kept."""


def commands(
    table: Table | None, *lines: str | Callable[[Path], Any], of: str, **more: Any
) -> Pair:
    """Return a pair of one or several command lines, named by the last one and where it is from."""
    steps = tuple(tuple(shlex.split(line)) if isinstance(line, str) else line for line in lines)
    name = more.pop("name", None) or lines[-1]
    return Pair(name=f"{of}: {name}", verb=steps[-1][0], steps=steps, table=table, **more)


def call(verb: str, source: Callable[[], Any], *, of: str, name: str, **options: Any) -> Pair:
    """Return a pair of a source in memory and a call of the verb."""

    def asked(folder: Path) -> Any:
        import tallystick

        return getattr(tallystick, verb)(source(), **options).to_dict()

    return Pair(name=f"{of}: {verb} {name}", verb=verb, steps=(asked,))


def question(path: str, *, of: str = "service") -> Pair:
    """Return a pair of the stored service and a question to it."""
    return Pair(name=f"{of}: {path}", verb="serve", steps=(path,))


class Runner:
    """Runs pairs in this process, in any order; what several need is made once."""

    def __init__(self) -> None:
        self._home = Path(tempfile.mkdtemp(prefix="corpus-"))
        self._tables: dict[Table, Path] = {}
        self._open = contextlib.ExitStack()
        self._service = ""
        self._api = ""
        self._count = 0

    def __enter__(self) -> Runner:
        return self

    def __exit__(self, *_: object) -> None:
        self._open.close()
        shutil.rmtree(self._home, ignore_errors=True)

    def answer(self, pair: Pair) -> dict[str, Any]:
        """Return what is kept of the answer to a pair."""
        self._count += 1
        folder = self._home / f"run{self._count}"
        folder.mkdir()
        if pair.table is not None:
            shutil.copytree(
                self._made(pair.table),
                folder,
                symlinks=True,
                copy_function=os.link,
                dirs_exist_ok=True,
            )
        code, out, err = 0, "", ""
        for step in pair.steps:
            if isinstance(step, str):
                out = self._get(step)
            elif callable(step):
                code, out, err = _called(step, folder)
            else:
                code, out, err = self._command(step, folder, pair.stdin)
        kept = {"pair": pair.name, "exit": code, **_answer(code, out, err, folder)}
        if not (code or callable(pair.steps[-1])) and "--items-out" in pair.steps[-1]:
            with (folder / "items.csv").open(encoding="utf-8", newline="") as stream:
                kept["numbers"].update(_columns(list(csv.DictReader(stream))))
        if code and not pair.refusal:
            kept.pop("verdict", None)
        return json.loads(json.dumps(kept))

    def _made(self, table: Table) -> Path:
        """Return the folder of a table, which is made when it is first needed."""
        if table not in self._tables:
            folder = self._home / f"table{len(self._tables)}"
            folder.mkdir()
            table(folder)
            self._tables[table] = folder
        return self._tables[table]

    def _command(
        self, words: tuple[str, ...], folder: Path, stdin: str | None
    ) -> tuple[int, str, str]:
        if any("{api}" in word for word in words):
            self._api = self._api or self._open.enter_context(_fake_api())
            words = tuple(word.replace("{api}", self._api) for word in words)
        content = (folder / stdin).read_bytes() if stdin else b""
        return run(words, folder, content)

    def _get(self, path: str) -> str:
        if not self._service:
            folder = self._home / "service"
            shutil.copytree(STORED / "service", folder)
            self._service = self._open.enter_context(served(folder))
        with urllib.request.urlopen(self._service + path, timeout=60) as reply:
            return str(reply.read().decode())


def run(words: tuple[str, ...], folder: Path, stdin: bytes = b"") -> tuple[int, str, str]:
    """Run a command in this process, as if it had been typed in the folder."""
    from tallystick.cli import main

    out, err = io.StringIO(), io.StringIO()
    code: Any = 0
    kept = sys.stdin, os.environ.get("COLUMNS")
    path, loaded = list(sys.path), set(sys.modules)
    sys.stdin = io.TextIOWrapper(io.BytesIO(stdin), encoding="utf-8", errors="replace")
    os.environ["COLUMNS"] = "100"
    with contextlib.chdir(folder):
        try:
            with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
                main(list(words))
        except SystemExit as leaving:
            code = leaving.code or 0
        finally:
            sys.stdin = kept[0]
            os.environ.pop("COLUMNS") if kept[1] is None else os.environ.update(COLUMNS=kept[1])
            # A module of the folder (--api python:…) is not there for the next command.
            sys.path[:] = path
            for name in set(sys.modules) - loaded:
                if str(getattr(sys.modules[name], "__file__", "")).startswith(str(folder)):
                    del sys.modules[name]
    return code if isinstance(code, int) else 1, out.getvalue(), err.getvalue()


def _called(step: Callable[[Path], Any], folder: Path) -> tuple[int, str, str]:
    """Call a verb; a refusal leaves like that of the command line."""
    from tallystick import TallystickError

    try:
        return 0, json.dumps(step(folder)), ""
    except TallystickError as error:
        return 1, "", f"tallystick: {error}"


def _answer(code: int, out: str, err: str, folder: Path) -> dict[str, Any]:
    """Return what is kept of what a command printed and wrote."""
    said = [line for line in err.splitlines() if line.startswith(("tallystick: ", "Error: "))]
    refused = {"verdict": said[-1].replace(str(folder), ".")[:300]} if said and code else {}
    if not out.strip():
        return refused
    if not out.startswith("{"):
        return {"text": out.splitlines()[:12], **refused}
    objects = [json.loads(line) for line in out.splitlines() if line.strip()]
    return {**refused, **reduced(objects[0] if len(objects) == 1 else objects)}


def _columns(rows: list[dict[str, str]]) -> dict[str, Any]:
    """Return the columns of a table of items: sums of numbers, or how often each word stands."""
    kept: dict[str, Any] = {}
    for name in rows[0] if rows else ():
        cells = [row[name] for row in rows if row[name] not in ("", None)]
        try:
            kept[f"items.csv {name}"] = short([float(cell) for cell in cells])
        except ValueError:
            words = sorted(set(cells))
            few = {word: cells.count(word) for word in words} if len(words) <= 12 else len(words)
            kept[f"items.csv {name}"] = few
    return kept


@contextlib.contextmanager
def served(folder: Path) -> Any:
    """Serve a folder in a process of its own, on a free port of this machine."""
    words = [sys.executable, "-m", "tallystick", "serve", "--port", "0", "--data", str(folder)]
    with subprocess.Popen(words, stderr=subprocess.PIPE, text=True) as process:
        try:
            for line in process.stderr or ():
                if found := re.search(r"serves (http://\S+)", line):
                    drain = threading.Thread(target=lambda: list(process.stderr or ()))
                    drain.start()
                    _wait_for(f"{found[1]}/readyz")
                    yield found[1]
                    process.terminate()
                    drain.join()
                    return
            raise RuntimeError("the service did not start")
        finally:
            process.terminate()


def _wait_for(address: str) -> None:
    """Wait until a service answers: it names its address before it listens."""
    for _ in range(600):
        with contextlib.suppress(OSError), urllib.request.urlopen(address, timeout=60):
            return
        time.sleep(0.05)
    raise RuntimeError(f"{address} does not answer")


class _Handler(http.server.BaseHTTPRequestHandler):
    """A chat model: it says the word in brackets in the prompt, and now and then another one."""

    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        prompt = body["messages"][-1]["content"] if "messages" in body else json.dumps(body)
        chance = int(hashlib.sha256(prompt.encode()).hexdigest()[:8], 16) / 16**8
        word = (re.findall(r"\[(\w+)\]", prompt) or ["none"])[0]
        other = {"good": "bad", "bad": "good"}.get(word, word)
        said = f"The verdict is {word if chance < 0.9 else other}."
        answer: Mapping[str, Any] = {
            "model": body.get("model"),
            "choices": [
                {
                    "index": 0,
                    "message": {"role": "assistant", "content": said},
                    "finish_reason": "stop",
                }
            ],
            "usage": {"prompt_tokens": 40, "completion_tokens": 6, "total_tokens": 46},
            "label": word if chance < 0.9 else other,
        }
        text = json.dumps(answer).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def log_message(self, *_: object) -> None:
        pass


class _Server(http.server.ThreadingHTTPServer):
    """A server whose queue holds every connection: a full one resets some, by chance."""

    daemon_threads, request_queue_size = True, 64


@contextlib.contextmanager
def _fake_api() -> Any:
    """Answer as a chat model on a free port of this machine."""
    with _Server(("127.0.0.1", 0), _Handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_address[1]}"
        server.shutdown()
        thread.join()
