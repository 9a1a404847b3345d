"""Cost by rows, judges and labels, beside the same count in DuckDB and Polars, in one run.

Every figure is a process of its own: processor seconds and peak memory as the system reports them.
Run: ``python -m benchmarks.speed.scale [rows|judges|labels|long|billion] [--write]``; a number
as a second word is the most rows, judges or votes (1e8 by default).
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

from benchmarks.record import record

WIDE = """
import duckdb, sys
n, judges, labels, out, gold = {n}, {judges}, {labels}, {out!r}, {gold}
c = duckdb.connect()
c.sql("set threads = 1")
c.sql("set memory_limit = '1GB'")
c.sql("set preserve_insertion_order = true")
truth = f"(hash(i) % {{labels}})"
def vote(j):
    right = f"hash(i * 131 + {{j}}) % 100 < {{60 + 35 * (j % 10) // 10}}"
    return f"(case when {{right}} then {{truth}} else hash(i * 257 + {{j}}) % {{labels}} end)::utinyint"
columns = ", ".join(f"{{vote(j)}} as j{{j}}" for j in range(judges))
more = f", case when hash(i * 17) % 1000 = 0 then {{truth}}::utinyint end as gold" if gold else ""
c.sql(f"copy (select i as id, {{columns}}{{more}} from range({{n}}) t(i)) to '{{out}}' (format parquet)")
"""
LONG = """
import duckdb
c = duckdb.connect()
c.sql("set threads = 1")
c.sql("set memory_limit = '1GB'")
vote = "(case when hash(i * 131 + j) % 100 < 60 + 7 * j then hash(i) % 2 else hash(i * 257 + j) % 2 end)"
c.sql(f"copy (select i as item, 'judge' || j as judge, {{vote}}::utinyint as vote from range({n} // 5) t(i),"
      " range(5) s(j)) to {out!r} (format parquet)")
"""
DUCKDB = """
import duckdb
c = duckdb.connect()
c.sql("set threads = 1")
print(len(c.sql("select {columns}, count(*) from {source!r} group by all").fetchall()))
"""
POLARS = """
import polars as pl
frame = pl.scan_parquet({source!r}).group_by({columns!r}).len()
print(frame.collect(engine="streaming").height)
"""
BILLION = """
import duckdb
c = duckdb.connect()
c.sql("set threads = 1")
votes = ", ".join(f"(hash(i * 5 + {{j}}) % 100 < {{60 + 7 * j}})::utinyint as j{{j}}" for j in range(5))
rows = c.sql(f"select {{votes}} from range({n}) t(i)")
"""
BY_DUCKDB = BILLION + "print(len(rows.aggregate('j0, j1, j2, j3, j4, count(*)').fetchall()))"
BY_TALLY = BILLION + "from tallystick import judge; print(judge.evaluate(rows).verdict)"


def measured(*command: str) -> dict[str, float]:
    """Run a command; return its processor seconds and its peak memory."""
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    if status:
        raise SystemExit(f"{command[:4]} left with {status}")
    return {"CPU s": usage.ru_utime + usage.ru_stime, "MB": usage.ru_maxrss / 1024}


def python(text: str) -> dict[str, float]:
    return measured(sys.executable, "-c", text)


def verb(*words: str) -> dict[str, float]:
    program = "import sys; from tallystick.cli import main; main()"
    return measured(sys.executable, "-c", program, *words, "--json")


def beside(source: str, columns: list[str]) -> dict[str, float]:
    """Return what bare DuckDB and Polars take to group the same columns."""
    duck = python(DUCKDB.format(columns=", ".join(columns), source=source))
    polar = python(POLARS.format(columns=columns, source=source))
    return {
        "DuckDB GROUP BY, CPU s": duck["CPU s"],
        "Polars, CPU s": polar["CPU s"],
        "DuckDB, MB": duck["MB"],
        "Polars, MB": polar["MB"],
    }


def row_of(
    first: dict[str, object], verbs: dict[str, dict[str, float]], peers: dict[str, float]
) -> dict[str, object]:
    row = dict(first)
    for name, took in verbs.items():
        row[f"{name}, CPU s"] = took["CPU s"]
        row[f"{name}, MB"] = round(took["MB"])
        row[f"{name} / DuckDB"] = took["CPU s"] / peers["DuckDB GROUP BY, CPU s"]
    return {**row, **peers}


def by_rows(folder: Path, most: float) -> None:
    rows = []
    for n in (10**6, 10**7, 10**8):
        if n > most:
            break
        out = str(folder / "rows.parquet")
        python(WIDE.format(n=n, judges=5, labels=2, out=out, gold=False))
        columns = [f"j{j}" for j in range(5)]
        verbs = {
            "tally": verb("tally", out, "--columns", "j*", "-o", str(folder / "t.tally")),
            "judge": verb("judge", out, "--judges", "j*"),
            "compare": verb("compare", out, "--models", "j*"),
        }
        rows.append(row_of({"rows x 5": f"{n:.0e}"}, verbs, beside(out, columns)))
    record("scale-rows", "Cost by rows: five columns of 0 and 1, from Parquet", rows)


def by_judges(folder: Path, most: float) -> None:
    rows = []
    for judges in (3, 10, 30, 100):
        if judges > most:
            break
        out = str(folder / "judges.parquet")
        python(WIDE.format(n=200_000, judges=judges, labels=2, out=out, gold=True))
        verbs = {"judge": verb("judge", out, "--judges", "j*", "--truth", "gold")}
        columns = [*(f"j{j}" for j in range(judges)), "gold"]
        rows.append(row_of({"judges": judges}, verbs, beside(out, columns)))
    record("scale-judges", "Cost by judges: 200,000 items, one in 1,000 labelled", rows)


def by_labels(folder: Path) -> None:
    rows = []
    for labels in (2, 5, 10, 20, 50, 100):
        out = str(folder / "labels.parquet")
        python(WIDE.format(n=200_000, judges=3, labels=labels, out=out, gold=True))
        verbs = {"judge": verb("judge", out, "--judges", "j*", "--truth", "gold")}
        rows.append(row_of({"labels": labels}, verbs, beside(out, ["j0", "j1", "j2", "gold"])))
    record("scale-labels", "Cost by labels: three judges, 200,000 items", rows)


def of_long(folder: Path, most: float) -> None:
    rows = []
    for n in (10**6, 10**7, 10**8):
        if n > most:
            break
        out = str(folder / "long.parquet")
        python(LONG.format(n=n, out=out))
        took = verb("judge", out)
        rows.append({"votes": f"{n:.0e}", "judge, CPU s": took["CPU s"], "MB": round(took["MB"])})
    record("scale-long", "One row per vote: pivoted out of core, then judged", rows)


def of_a_billion(n: float) -> None:
    ours, bare = (python(text.format(n=int(n))) for text in (BY_TALLY, BY_DUCKDB))
    row = {
        "rows x 5": f"{n:.0e}",
        "judge, CPU s": ours["CPU s"],
        "judge, MB": round(ours["MB"]),
        "DuckDB GROUP BY, CPU s": bare["CPU s"],
        "DuckDB, MB": round(bare["MB"]),
        "judge / DuckDB": ours["CPU s"] / bare["CPU s"],
    }
    record("scale-billion", "Rows that DuckDB makes on the fly and nobody stores", [row])


def main() -> None:
    words = [word for word in sys.argv[1:] if not word.startswith("--")]
    part = words[0] if words else "all"
    most = float(words[1]) if len(words) > 1 else 1e8
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        if part in ("rows", "all"):
            by_rows(folder, most)
        if part in ("judges", "all"):
            by_judges(folder, most)
        if part in ("labels", "all"):
            by_labels(folder)
        if part in ("long", "all"):
            of_long(folder, most)
        if part in ("billion", "all"):
            of_a_billion(1e9 if part == "all" else most)


if __name__ == "__main__":
    main()
