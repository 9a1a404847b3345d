"""Run the fuzzer: ``python -m tests.fuzz.run --files 20000`` (``make fuzz``).

Every case is a file and a call of the command line. A finding is a traceback, an internal error
(exit code 70), a crash of the process, a hang, or a count that is not the number of rows. With
``--same`` a case is one table written in nine ways that mean the same, and a finding is an answer, or
an exit code, that is not that of the first.

Cases run in worker processes, several hundred in one (what one file breaks, the next one shows) or
one in each (``--per-process 1``: forked, where the system can, from a worker that has imported the
command line and done nothing else). A worker that dies or hangs is replaced, and the case is named.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.checks.checks import differences
from tests.fuzz.tables import Case, case, same

ALLOWED = (0, 1, 2, 10, 11)
MOST_MEMORY = 8 << 30
PATIENCE = 120.0
"""Seconds after which a case counts as hanging, on a machine that may be busy."""

_FORKS = 100
"""Cases that are forked from one worker."""


@dataclass(frozen=True)
class Outcome:
    """How one call left: its exit code, and what it printed."""

    code: int
    out: str
    err: str


def call(one: Case, folder: Path) -> Outcome:
    """Run a case in this process, in its own folder."""
    from tallystick.cli import main

    (folder / one.name).write_bytes(one.content)
    out, err = io.StringIO(), io.StringIO()
    stdin = io.TextIOWrapper(io.BytesIO(one.content), encoding="utf-8", errors="replace")
    before, kept = Path.cwd(), sys.stdin
    os.chdir(folder)
    sys.stdin = stdin
    code: object = 0
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            main(list(one.arguments))
    except SystemExit as leaving:
        code = leaving.code or 0
    finally:
        sys.stdin = kept
        os.chdir(before)
    return Outcome(code if isinstance(code, int) else 1, out.getvalue(), err.getvalue())


def fault(one: Case, outcome: Outcome) -> str | None:
    """Say what is wrong with an outcome, None if nothing is."""
    if "Traceback" in outcome.err:
        return f"traceback: {outcome.err.strip().splitlines()[-1]}"
    if "MemoryError" in outcome.err:
        return "out of memory"
    if outcome.code == 70:
        return f"internal error: {outcome.err.strip().splitlines()[-1]}"
    if outcome.code not in ALLOWED:
        return f"exit code {outcome.code}"
    if outcome.code != 0 and not outcome.err.strip():
        return f"exit code {outcome.code} without a message"
    counted = one.arguments[0] == "tally" and "--json" in one.arguments
    if counted and outcome.code == 0 and "--weight" not in one.arguments and one.rows is not None:
        found = json.loads(outcome.out)["n_items"]
        long = "one row per vote" in outcome.err  # a long table is pivoted
        if found != one.rows and not long:
            return f"silent row loss: {found} of {one.rows} rows"
    return None


def _without_notes(answer: Any) -> Any:
    if isinstance(answer, list):
        return [_without_notes(one) for one in answer]
    if isinstance(answer, dict):
        return {key: _without_notes(held) for key, held in answer.items() if key != "notes"}
    return answer


def moved(number: int, seed: int, home: Path) -> str | None:
    """Say which way of writing one table changed its answer, None if none did."""
    known: tuple[int, Any] | None = None
    for one in same(number, seed):
        folder = home / one.name
        folder.mkdir()
        done = call(one, folder)
        if (wrong := fault(one, done)) is not None:
            return f"{one.name}: {wrong}"
        # Notes say how a file was read, which is what differs here, like its name.
        said = done.out.replace(one.name, "FILE")
        answer = _without_notes(json.loads(said)) if done.code == 0 else None
        if known is None:
            known = done.code, answer
            continue
        found = list(differences(known[1], answer))
        if done.code != known[0] or found:
            return f"moved: {one.arguments}: exit {known[0]} then {done.code}; {found[:3]}"
    return None


def _work(start: int, stop: int, seed: int, each: int) -> None:
    """Run cases one after the other, *each* in its own process if true, and report on stdout."""
    report = os.fdopen(os.dup(1), "w", buffering=1)
    with contextlib.suppress(ImportError):
        import resource

        # A small file that asks for this much is a finding, and must not take the machine along.
        resource.setrlimit(resource.RLIMIT_DATA, (MOST_MEMORY, MOST_MEMORY))
    with tempfile.TemporaryDirectory() as home:
        for number in range(start, stop):
            report.write(f"begin {number}\n")
            found = _forked(number, seed, Path(home)) if each else _found(number, seed, Path(home))
            report.write(f"end {number} {json.dumps(found)}\n")
    report.write("done\n")


def _found(number: int, seed: int, home: Path) -> str | None:
    """Run a case in a folder of its own and return what is wrong with how it went."""
    one = case(number, seed)
    folder = home / str(number)
    folder.mkdir()
    try:
        return fault(one, call(one, folder))
    except BaseException as error:  # noqa: BLE001 - whatever comes out is a finding
        return f"traceback: {type(error).__name__}: {error}"


def _forked(number: int, seed: int, home: Path) -> str | None:
    """Run a case in a child process, which has the imports of this one and none of its state."""
    # imported once, for every child
    import duckdb  # noqa: F401
    import pyarrow.compute  # noqa: F401
    import scipy.special  # noqa: F401

    import tallystick.cli  # noqa: F401

    out = home / f"{number}.json"
    child = os.fork()
    if child == 0:
        out.write_text(json.dumps(_found(number, seed, home)), encoding="utf-8")
        os._exit(0)
    _, status = os.waitpid(child, 0)
    if status:
        return f"crash: the process left with {os.waitstatus_to_exitcode(status)}"
    found: str | None = json.loads(out.read_text(encoding="utf-8"))
    return found


def findings(files: int, *, seed: int, first: int, per_process: int) -> Iterator[tuple[int, str]]:
    """Yield the number of each case that went wrong, and how."""
    each = per_process == 1 and hasattr(os, "fork")
    number = first
    while number < first + files:
        stop = min(number + (_FORKS if each else per_process), first + files)
        number = yield from _chunk(number, stop, seed, each=each)


def _chunk(start: int, stop: int, seed: int, *, each: bool) -> Iterator[tuple[int, str]]:
    """Run one worker; return the number of the first case that it did not reach."""
    command = [
        sys.executable,
        "-m",
        "tests.fuzz.run",
        "--worker",
        f"{start},{stop},{seed},{each:d}",
    ]
    running, last = start, time.monotonic()
    finished = hung = False
    with subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        start_new_session=True,
    ) as worker:

        def watch() -> None:
            nonlocal hung
            while worker.poll() is None:
                if time.monotonic() - last > PATIENCE:
                    hung = True
                    if each:  # the forked child holds the pipe too
                        os.killpg(worker.pid, signal.SIGKILL)
                    worker.kill()
                    return
                time.sleep(0.5)

        threading.Thread(target=watch, daemon=True).start()
        assert worker.stdout is not None
        for line in worker.stdout:
            last = time.monotonic()
            word, _, rest = line.strip().partition(" ")
            if word == "begin":
                running = int(rest)
            elif word == "end":
                number, _, told = rest.partition(" ")
                running = int(number) + 1
                if (found := json.loads(told)) is not None:
                    yield int(number), found
            finished = finished or word == "done"
    if finished:
        return stop
    yield running, "hang" if hung else f"crash: the process left with {worker.returncode}"
    return running + 1


def _all_moved(first: int, files: int, seed: int) -> Iterator[tuple[int, str]]:
    for number in range(first, first + files):
        with tempfile.TemporaryDirectory() as home:
            found = moved(number, seed, Path(home))
        if found is not None:
            yield number, found


def main(arguments: list[str] | None = None) -> int:
    """Fuzz, print what was found, and return 1 if anything was."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--files", type=int, default=20_000)
    parser.add_argument("--first", type=int, default=0, help="number of the first case")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--per-process", type=int, default=500)
    parser.add_argument("--same", action="store_true", help="one table written in nine ways")
    parser.add_argument("--worker", help=argparse.SUPPRESS)
    parser.add_argument("--show", type=int, help="print one case and how it goes")
    given = parser.parse_args(arguments)
    if given.worker:
        _work(*map(int, given.worker.split(",")))
        return 0
    if given.show is not None:
        one = case(given.show, given.seed)
        sys.stdout.write(f"{one.name} {one.arguments} rows={one.rows}\n{one.content[:1000]!r}\n")
        os.environ["TALLYSTICK_TRACEBACK"] = "1"
        with tempfile.TemporaryDirectory() as home:
            outcome = call(one, Path(home))
        sys.stdout.write(f"{outcome}\n")
        return 0
    began = time.monotonic()
    kinds: Counter[str] = Counter()
    every = findings(given.files, seed=given.seed, first=given.first, per_process=given.per_process)
    if given.same:
        every = _all_moved(given.first, given.files, given.seed)
    for number, found in every:
        kinds[found.partition(":")[0]] += 1
        sys.stdout.write(f"case {number}: {found}\n")
        sys.stdout.flush()
    sys.stdout.write(
        f"{given.files:,} files, {kinds.total()} findings {dict(kinds)}, "
        f"{time.monotonic() - began:.0f} s\n"
    )
    return int(bool(kinds))


if __name__ == "__main__":
    sys.exit(main())
