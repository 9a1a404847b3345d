"""The same rows in every format, in turn: each verb, each way in which tables are awkward.

Files go through the command line, what is in memory through the verb's call.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from tests.corpus.run import Pair, call, commands
from tests.corpus.tables import Columns, flipped, long_votes, write_csv, write_lines

N = 120


def _rows() -> dict[str, list[Any]]:
    """Ids, a truth, four columns of votes and a round, all without blanks."""
    rng = np.random.default_rng(11)
    truth = np.where(rng.random(N) < 0.55, "yes", "no")
    voters = (("ann", 0.9), ("bob", 0.85), ("eve", 0.8), ("kim", 0.75))
    return {
        "id": [f"q{i}" for i in range(N)],
        "gold": truth.tolist(),
        **{name: flipped(rng, truth, right, ("no", "yes")).tolist() for name, right in voters},
        "round": [1 + i % 2 for i in range(N)],
    }


def _changed(name: str, change: Callable[[int, Any], Any], *, numbers: bool = False) -> Columns:
    rows = _rows()
    if numbers:
        code = {"yes": 1, "no": 0}
        rows = {key: [code.get(cell, cell) for cell in column] for key, column in rows.items()}
    rows[name] = [change(i, cell) for i, cell in enumerate(rows[name])]
    return rows


VOTERS = ("ann", "bob", "eve", "kim")

CASES: dict[str, tuple[Columns, dict[str, Any]]] = {
    "NA in the truth": (_changed("gold", lambda i, c: c if i % 6 else "NA"), {}),
    "-1 for no answer": (
        _changed("eve", lambda i, c: c if i % 10 else -1, numbers=True),
        {"missing": "-1"},
    ),
    "two spellings": (_changed("bob", lambda i, c: "Yes" if c == "yes" and i % 2 else c), {}),
    "blank cells": (_changed("gold", lambda i, c: c if i % 5 else None, numbers=True), {}),
    "one row per vote": (long_votes(_rows(), VOTERS, ("item", "judge", "vote")), {}),
    "other headers": (long_votes(_rows(), VOTERS, ("review", "wer", "urteil")), {}),
}

ASKED: dict[str, dict[str, Any]] = {
    "compare": {"truth": "gold"},
    "judge": {"truth": "gold"},
    "bound": {"truth": "gold", "prediction": "kim", "label_model": "majority"},
    "shift": {"truth": "gold", "old": "ann", "new": "bob"},
    "dynamic": {"truth": "gold", "round": "round"},
}
"""What each verb is asked; one row per vote has no versions and no rounds."""


def _tsv(path: Path, columns: Columns) -> None:
    write_csv(path, columns, delimiter="\t")


def _export(path: Path, columns: Columns) -> None:
    """Write as a spreadsheet of some countries does: a byte-order mark, semicolons, an umlaut."""
    size = [1.5] * len(next(iter(columns.values())))
    write_csv(path, {**columns, "größe": size}, delimiter=";", encoding="utf-8-sig")


def _objects(columns: Columns) -> list[dict[str, Any]]:
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


def _ndjson(path: Path, columns: Columns) -> None:
    write_lines(path, _objects(columns))


def _json(path: Path, columns: Columns) -> None:
    path.write_text(json.dumps(_objects(columns), indent=1), encoding="utf-8")


def _gz(path: Path, columns: Columns) -> None:
    write_csv(path, columns)
    path.write_bytes(gzip.compress(path.read_bytes(), mtime=0))


def _arrow_table(columns: Columns) -> Any:
    import pyarrow as pa

    return pa.table(dict(columns))


def _parquet(path: Path, columns: Columns) -> None:
    import pyarrow.parquet as pq

    pq.write_table(_arrow_table(columns), path)


def _ipc(path: Path, columns: Columns) -> None:
    import pyarrow as pa

    table = _arrow_table(columns)
    with pa.ipc.new_file(str(path), table.schema) as writer:
        writer.write_table(table)


def _xlsx(path: Path, columns: Columns) -> None:
    import openpyxl

    book = openpyxl.Workbook()
    for row in (list(columns), *zip(*columns.values(), strict=True)):
        book.active.append(row)
    book.save(path)


def _pandas(columns: Columns) -> Any:
    import pandas

    return pandas.DataFrame(columns)


def _polars(columns: Columns) -> Any:
    import polars

    return polars.DataFrame(columns)


def _duckdb(columns: Columns) -> Any:
    import duckdb

    return duckdb.connect().from_arrow(_arrow_table(columns))


FILES: dict[str, Callable[[Path, Columns], None]] = {
    "rows.csv": write_csv,
    "rows.ndjson": _ndjson,
    "rows.json": _json,
    "rows.parquet": _parquet,
    "rows.tsv": _tsv,
    "rows.xlsx": _xlsx,
    "rows.csv.gz": _gz,
    "rows.arrow": _ipc,
    "bom.csv": _export,
}
MEMORY: dict[str, Callable[[Columns], Any]] = {
    "dict": dict,
    "pandas": _pandas,
    "arrow": _arrow_table,
    "polars": _polars,
    "duckdb": _duckdb,
}

WORDS = {"label_model": "label-model", "dynamic": "dynamic analyse"}


def _pairs() -> list[Pair]:
    """Each verb with each case: a file in one format, and now and then a source in memory."""
    made = []
    turn = 0
    for case, (columns, more) in CASES.items():
        for verb, asked in ASKED.items():
            if "round" not in columns and verb in ("shift", "dynamic"):
                continue
            turn += 1
            options = {**asked, **more}
            file = list(FILES)[turn % len(FILES)]
            words = [
                f"--{WORDS.get(name, name)}={value if isinstance(value, str) else value[0]}"
                for name, value in options.items()
            ]
            line = f"{WORDS.get(verb, verb)} {file} {' '.join(words)} --json"
            made.append(
                commands(_writer(file, columns), line, of="formats", name=f"{verb} {file}, {case}")
            )
            if turn % 5:
                continue
            kind = list(MEMORY)[turn // 5 % len(MEMORY)]
            made.append(
                call(verb, _source(kind, columns), of="formats", name=f"{kind}, {case}", **options)
            )
    return made


def _writer(file: str, columns: Columns) -> Callable[[Path], None]:
    return lambda folder: FILES[file](folder / file, columns)


def _source(kind: str, columns: Columns) -> Callable[[], Any]:
    return lambda: MEMORY[kind](columns)


PAIRS = _pairs()
