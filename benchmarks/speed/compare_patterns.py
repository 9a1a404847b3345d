"""Right/wrong scores of five models in a large Parquet file: compare against DuckDB's GROUP BY.

The file is generated on the fly (``--rows 1e8`` takes about a minute and 150 MB of disk), and each
reading runs in a process of its own, so that peak memory is that of the reading alone.

    python -m benchmarks.speed.compare_patterns --rows 1e7
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

GENERATE = """
import duckdb, sys
rows, path = int(sys.argv[1]), sys.argv[2]
connection = duckdb.connect()
connection.execute("set memory_limit = '400MB'; set enable_progress_bar = false")
columns = ", ".join(
    f"(hash(i * 7 + {j}) % 100 < {share})::tinyint as m{j}"
    for j, share in enumerate((60, 61, 55, 70, 50))
)
connection.execute(
    f"copy (select {columns} from range({rows}) t(i)) to '{path}' (format parquet)"
)
"""

OURS = """
import json, resource, sys, time
from tallystick.verbs import compare
compare.evaluate({"a": [1, 0] * 20, "b": [1, 1] * 20})  # imports and compiled kernels
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
start = time.perf_counter()
result = compare.evaluate(sys.argv[1])
seconds = time.perf_counter() - start
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
print(json.dumps({"seconds": seconds, "peak": peak, "before": before, "said": result.verdict}))
"""

DUCKDB = """
import json, resource, sys, time
import duckdb
start = time.perf_counter()
connection = duckdb.connect()
connection.execute("set enable_progress_bar = false")
found = connection.execute(
    f"select m0, m1, m2, m3, m4, count(*) from '{sys.argv[1]}' group by all"
).fetchall()
seconds = time.perf_counter() - start
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
print(json.dumps({"seconds": seconds, "peak": peak, "patterns": len(found)}))
"""


def run(code: str, *arguments: str) -> dict[str, float]:
    """Run *code* in a fresh interpreter and return what it prints."""
    done = subprocess.run(
        [sys.executable, "-c", code, *arguments], check=True, capture_output=True, text=True
    )
    lines = done.stdout.splitlines()
    return json.loads(lines[-1]) if lines else {}


def main() -> None:
    """Generate, read twice, print one line."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--rows", type=float, default=1e7)
    rows = int(parser.parse_args().rows)
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder) / "scores.parquet")
        run(GENERATE, str(rows), path)
        theirs, ours = run(DUCKDB, path), run(OURS, path)
    print(
        f"{rows:,} rows x 5 models: compare {ours['seconds']:.2f} s, peak {ours['peak']:.0f} MB"
        f" ({ours['before']:.0f} MB before it read anything); DuckDB GROUP BY"
        f" {theirs['seconds']:.2f} s, peak {theirs['peak']:.0f} MB; ratio"
        f" {ours['seconds'] / theirs['seconds']:.1f}"
    )
    print(ours["said"])


if __name__ == "__main__":
    main()
