"""Whether a fuzzer that knows ``openapi.json`` finds an error of ours.

``python -m benchmarks.truth.serve_schema [CASES PER OPERATION] [--keep FILE] [--write]``. With --keep
the cases of earlier calls are counted, too, and this one takes another seed.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from benchmarks.pieces import add_piece, pieces
from benchmarks.record import record
from tests.serve.schema import fuzzed


def main() -> None:
    numbers = [int(word) for word in sys.argv[1:] if word.isdecimal()]
    before = pieces()
    with tempfile.TemporaryDirectory() as folder:
        each = numbers[0] if numbers else 600
        cases, failed = fuzzed(Path(folder), each, seed=1 + len(before))
    print(failed)
    piece = {"cases": cases, "failed": bool(failed)}
    add_piece(piece)
    runs = [*before, piece]
    row = {
        "runs": len(runs),
        "cases": sum(one["cases"] for one in runs),
        "runs with an answer of 500 or above, 503 apart": sum(one["failed"] for one in runs),
    }
    record("serve-schema", "The service and a fuzzer", [row])


if __name__ == "__main__":
    main()
