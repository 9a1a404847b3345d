"""Whether anything that was acknowledged is lost, or counted twice, under kill -9.

``python -m benchmarks.truth.serve_kill [ROUNDS] [--postgres] [--keep FILE] [--write]`` kills ROUNDS
times; with --keep the rounds of earlier calls are counted, too. With --postgres two servers share
a database, and each is killed in every round.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from benchmarks.pieces import add_piece, pieces
from benchmarks.record import record
from tests.serve.kill import kill_rounds
from tests.serve.postgres import postgres_process


def main() -> None:
    numbers = [int(word) for word in sys.argv[1:] if word.isdecimal()]
    rounds = numbers[0] if numbers else 200
    before = pieces()
    seed = 20 + len(before)
    with tempfile.TemporaryDirectory() as folder:
        if "--postgres" in sys.argv:
            with postgres_process("fsync=on") as server:
                found = kill_rounds(Path(folder), rounds, seed=seed, db=server.address, servers=2)
        else:
            found = kill_rounds(Path(folder), rounds, seed=seed)
    store = "PostgreSQL, two servers" if "--postgres" in sys.argv else "SQLite"
    piece = {"store": store, "rounds": rounds, **found}
    add_piece(piece)
    rows = []
    for name in ("SQLite", "PostgreSQL, two servers"):
        mine = [one for one in (*before, piece) if one["store"] == name]
        if not mine:
            continue
        problems = [problem for one in mine for problem in one["problems"]]
        rows.append(
            {
                "store": name,
                "rounds": sum(one["rounds"] for one in mine),
                "batches acknowledged": sum(one["acknowledged"] for one in mine),
                "committed but not answered": sum(one["again"] for one in mine),
                "lost": sum(one["lost"] for one in mine),
                "twice": sum(one["twice"] for one in mine),
                "counts and replay": str(problems) if problems else "agree",
                "integrity": ", ".join(sorted({one["integrity"] for one in mine})),
            }
        )
    notes = ["Four threads post; the process is killed 0.02 to 0.4 s later and started again."]
    record("serve-kill", "The service under kill -9", rows, notes=notes)


if __name__ == "__main__":
    main()
