"""Whether anything that was acknowledged is lost, or counted twice, under kill -9.

``python benchmarks/truth/serve_kill.py [ROUNDS] [--write]``
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from record import record
from tests.serve.kill import kill_rounds


def main() -> None:
    numbers = [int(word) for word in sys.argv[1:] if word.isdecimal()]
    rounds = numbers[0] if numbers else 200
    with tempfile.TemporaryDirectory() as folder:
        found = kill_rounds(Path(folder), rounds, seed=20)
    row = {
        "rounds": rounds,
        "batches acknowledged": found["acknowledged"],
        "committed but not answered": found["again"],
        "lost": found["lost"],
        "twice": found["twice"],
        "counts and replay": "agree" if not found["problems"] else str(found["problems"]),
        "integrity": found["integrity"],
    }
    record("serve-kill", "The service under kill -9", [row])


if __name__ == "__main__":
    main()
