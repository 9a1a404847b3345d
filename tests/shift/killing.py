"""Kill a run at random moments, resume it, and compare with the run that was never killed.

    python killing.py URL KILLS CALLS FOLDER SEED

A process of its own, so that it may fork: the libraries are loaded once, and every run is a real
process that really dies. Prints one JSON object."""

import json
import os
import random
import signal
import sys
import time
from dataclasses import replace
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

# Loaded before the fork, so that a run is only a run.
import httpx
import scipy.special
import scipy.stats

from tallystick.clients import client_of
from tallystick.verbs.shift import ShiftQuestion, run
from tests.shift.conftest import COLUMNS, items_of, table

PRELOADED = (httpx, scipy.special, scipy.stats)


def go(url: str, calls: int, journal: Path) -> dict:
    rows = table(4 * calls)
    request = {"id": journal.name + "/{id}", "new": "{new}"}
    how = ShiftQuestion(budget=calls, journal=journal, repeats=calls // 10)
    client = client_of(replace(how, api=url, request=request, timeout=10), columns=COLUMNS)
    return run(items_of(rows), client, rows, how).to_dict()


def child(url: str, calls: int, journal: Path) -> int:
    pid = os.fork()
    if pid == 0:
        journal.with_suffix(".json").write_text(json.dumps(go(url, calls, journal)))
        os._exit(0)
    return pid


def same(result: dict) -> str:
    return json.dumps(
        {
            key: value
            for key, value in result.items()
            if key not in ("requests", "cost", "notes", "usage", "asked_hash")
        },
        sort_keys=True,
    )


def _lines(path: Path) -> int:
    return path.read_bytes().count(b"\n") if path.exists() else 0


def main(url: str, kills: int, calls: int, folder: Path, seed: int) -> None:
    start = time.time()
    os.waitpid(child(url, calls, folder / "whole"), 0)
    length = time.time() - start
    whole = json.loads((folder / "whole.json").read_text())
    lines = _lines(folder / "whole")
    chance = random.Random(seed)
    report = {"identical": 0, "killed": 0, "resent": 0, "from_journal": [], "length": length}
    for number in range(kills):
        journal = folder / f"j{number}"
        pid = child(url, calls, journal)
        # A random moment of the run, not of the clock: however busy the machine is, it dies in the
        # middle.
        moment = chance.randrange(1, int(0.8 * lines))
        while _lines(journal) < moment:
            time.sleep(0.001)
        os.kill(pid, signal.SIGKILL)
        report["killed"] += os.WIFSIGNALED(os.waitpid(pid, 0)[1])
        os.waitpid(child(url, calls, journal), 0)
        result = json.loads(journal.with_suffix(".json").read_text())
        report["identical"] += same(result) == same(whole)
        report["resent"] += result["requests"]["resent"]
        report["from_journal"].append(result["requests"]["from_journal"])
    sys.stdout.write(json.dumps(report))


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), Path(sys.argv[4]), int(sys.argv[5]))
