"""Kills at named points and at random moments, stopped lease holders.

``python -m benchmarks.truth.serve_faults [named] [random] [stopped] [--postgres] [--keep FILE]
[--write] [ROUNDS]`` runs 24, 200 and 20 rounds, or as many as it is told; with --keep the parts of
earlier calls are shown, too.
"""

from __future__ import annotations

import sys
import tempfile

from benchmarks.pieces import add_piece, pieces
from benchmarks.record import record
from tests.serve.faults import found
from tests.serve.postgres import fresh_database, postgres_process

ROUNDS = {"named": 24, "random": 200, "stopped": 20}


def main() -> None:
    parts = [word for word in sys.argv[1:] if word in ROUNDS] or list(ROUNDS)
    numbers = [int(word) for word in sys.argv[1:] if word.isdecimal()]
    rows = pieces()
    if "--postgres" in sys.argv:
        with postgres_process("fsync=on") as server:
            for part in parts:
                with fresh_database(server.address) as address:
                    rows.append(one("PostgreSQL", part, address, numbers, len(rows)))
    else:
        for part in parts:
            with tempfile.TemporaryDirectory() as folder:
                rows.append(one("SQLite", part, f"{folder}/faults.sqlite", numbers, len(rows)))
    record("serve-faults", "The service under faults", rows)


def one(store: str, part: str, address: str, numbers: list[int], seed: int) -> dict[str, object]:
    """Run one part and keep what it found."""
    rounds = numbers[0] if numbers else ROUNDS[part]
    row = {"store": store, "what": part, **found(part, address, rounds, seed=7 + seed)}
    add_piece(row)
    print(row, flush=True)
    return row


if __name__ == "__main__":
    main()
