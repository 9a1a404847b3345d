"""Kills at named points and at random moments, stopped lease holders, watches under kills.

``python benchmarks/truth/serve_faults.py [named] [random] [stopped] [watch] [--postgres] [--keep FILE]
[--write]`` runs 24, 200, 20 and 50 rounds; with --keep the parts of earlier calls are shown, too.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from pieces import add_piece, pieces
from record import record
from tests.serve.faults import found
from tests.serve.postgres import fresh_database, postgres_process

ROUNDS = {"named": 24, "random": 200, "stopped": 20, "watch": 50}


def main() -> None:
    parts = [word for word in sys.argv[1:] if word in ROUNDS] or list(ROUNDS)
    rows = pieces()
    if "--postgres" in sys.argv:
        with postgres_process("fsync=on") as server:
            for part in parts:
                with fresh_database(server.address) as address:
                    rows.append(one("PostgreSQL", part, address))
    else:
        for part in parts:
            with tempfile.TemporaryDirectory() as folder:
                rows.append(one("SQLite", part, f"{folder}/faults.sqlite"))
    record("serve-faults", "The service under faults", rows)


def one(store: str, part: str, address: str) -> dict[str, object]:
    """Run one part and keep what it found."""
    row = {"store": store, "what": part, **found(part, address, ROUNDS[part], seed=7)}
    add_piece(row)
    print(row, flush=True)
    return row


if __name__ == "__main__":
    main()
