"""Tables such as break programs: made from a seed, in every format, damaged in every way.

A case is a function of its number alone, so a finding is made again by its number.
"""

from __future__ import annotations

import csv
import gzip
import io
import json
import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

WORDS = [
    *("yes", "no", "pass", "fail", "1", "0", "1.0", "true", "false", "a", "b", "tie", "error"),
    *(
        "--1",
        "-",
        "+1",
        "1e999",
        "nan",
        "NA",
        "null",
        "None",
        "-1",
        "0x1",
        "1_000",
        "\u0661",
        "\u00bd",
    ),
    *("=1+1", "@x", "'x", 'q"t', "c,d", "e;f", "t\tb", "line\nbreak", "cr\rx", " lead", "trail "),
    *(
        "\u05e9\u05dc\u05d5\u05dd",
        "\u202eevil",
        "a\u200fb",
        "\u00e9",
        "\u00e9",
        "\U0001f642",
        "x" * 300,
        "\x1b[31m",
        "\x7f",
        "\ufeffbom",
    ),
    *("", "", " ", "9" * 25, "-0", "0.30000000000000004", "2024-01-01", "<script>", "{}", "[]"),
]
USUAL = ["yes", "no", "yes", "no", "pass", "fail", "1", "0", "", "a", "b", "c"]
NAMES = [
    *("item", "id", "gold", "truth", "judge", "vote", "model", "system", "score", "human", "label"),
    *("gpt", "claude", "llama", "gpt.human", "A.gpt", "B.gpt", "weight", "round", "old", "new"),
    *(
        "",
        " ",
        "a b",
        'q"',
        "\u00e9",
        "count",
        "rows",
        "place",
        "place_",
        "1",
        "select",
        "x" * 100,
        "\u202e",
    ),
]


@dataclass(frozen=True)
class Case:
    """One file and one call: *rows* is how many rows a reader must count, None if unknown."""

    number: int
    name: str
    content: bytes
    arguments: tuple[str, ...]
    rows: int | None


def case(number: int, seed: int = 0) -> Case:
    """Return the case of this number."""
    rng = random.Random(f"{seed}:{number}")
    header, rows = _table(rng)
    kind = rng.choice(["csv", "csv", "csv", "tsv", "ndjson", "ndjson", "parquet", "arrow"])
    try:
        name, content, count = FORMATS[kind](rng, header, rows)
    except (ValueError, TypeError, OverflowError):  # such as two columns of a name in Parquet
        name, content, count = FORMATS["csv"](rng, header, rows)
    if rng.random() < 0.4:
        content, kept = _damaged(rng, content)
        count = count if kept else None
    if rng.random() < 0.1:
        name = rng.choice(["x.csv", "x.json", "x.jsonl", "x.parquet", "x.arrow", "x.txt", "x"])
        count = None
    return Case(number, name, content, _arguments(rng, header, name), count)


def _likely(rng: random.Random) -> tuple[list[str], list[list[str]]]:
    """Return a table that a verb answers, with one or two odd cells or names in it."""
    labels = rng.choice([["yes", "no"], ["pass", "fail"], ["1", "0"], ["a", "b", "c"]])
    header = ["item", "gold", "gpt", "claude", "llama"][: rng.choice([3, 4, 5, 5])]
    table = []
    for row in range(rng.choice([5, 30, 80])):
        truth = rng.choice(labels)
        votes = [truth if rng.random() < 0.8 else rng.choice(labels) for _ in header[2:]]
        table.append([f"q{row}", truth if rng.random() < 0.7 else "", *votes])
    for _ in range(rng.choice([0, 1, 1, 3])):
        rng.choice(table)[rng.randrange(len(header))] = rng.choice(WORDS)
    if rng.random() < 0.2:
        header[rng.randrange(len(header))] = rng.choice(NAMES)
    return header, table


def _table(rng: random.Random) -> tuple[list[str], list[list[str]]]:
    if rng.random() < 0.5:
        return _likely(rng)
    width = rng.choice([1, 2, 3, 3, 4, 5, 8])
    if rng.random() < 0.005:
        width = rng.choice([2_000, 10_000])
    length = rng.choice([0, 1, 2, 5, 30, 30, 60, 200]) if width < 100 else 1
    odd = rng.random() < 0.5
    pool = NAMES if odd else [name for name in NAMES if name.strip() and name.isascii()]
    header = [rng.choice(pool) if rng.random() < 0.7 else f"c{j}" for j in range(width)]
    if rng.random() < 0.7:  # mostly usable: names that differ
        header = [
            name if header.index(name) == j else f"{name}{j}" for j, name in enumerate(header)
        ]
    words = rng.sample(WORDS, rng.randint(1, 8)) if odd else rng.sample(USUAL, rng.randint(1, 4))
    table = [[rng.choice(words) for _ in header] for _ in range(length)]
    if rng.random() < 0.6:
        for row, cells in enumerate(table):
            cells[0] = f"q{row}"
    if rng.random() < 0.3:
        for cells in table:
            cells[-1] = rng.choice([str(rng.random()), str(rng.randint(0, 5)), "", "0.5"])
    return header, table


def _text(
    rng: random.Random, header: list[str], rows: list[list[str]], separator: str
) -> tuple[bytes, int | None]:
    stream = io.StringIO(newline="")
    ending = rng.choice(["\n", "\n", "\r\n"])
    writer = csv.writer(stream, delimiter=separator, lineterminator=ending)
    writer.writerow(header)
    writer.writerows(rows)
    text = stream.getvalue()
    count: int | None = len(rows)
    shape = rng.random()
    if shape < 0.05:
        text = text.replace(ending, ending * 2)
        count = None  # a blank line is no row, unless there is one column
    elif shape < 0.1:
        text += rng.choice(["a", f"a{separator}b{separator}c{separator}d{separator}e\n", '"open'])
        count = None
    elif shape < 0.15:
        text = "\ufeff" + text
    elif shape < 0.2 and text.endswith(ending):
        text = text[: -len(ending)]
        count = None if len(header) == 1 else count
    content = text.encode("utf-8", "surrogatepass")
    # One column of blanks, or a carriage return inside a cell, has no agreed number of rows.
    if len(header) == 1 or any(mark in cell for row in rows for cell in row for mark in "\r\n"):
        count = None
    return content, count


def _csv(rng: random.Random, header: list[str], rows: list[list[str]]) -> Any:
    separator = rng.choice([",", ",", ",", ";", "|"])
    content, count = _text(rng, header, rows, separator)
    return _packed(rng, "t.csv", content, count)


def _tsv(rng: random.Random, header: list[str], rows: list[list[str]]) -> Any:
    content, count = _text(rng, header, rows, "\t")
    return _packed(rng, "t.tsv", content, count)


def _ndjson(rng: random.Random, header: list[str], rows: list[list[str]]) -> Any:
    lines = []
    for row in rows:
        cells: dict[str, Any] = {}
        for name, cell in zip(header, row, strict=True):
            cells[name] = _value(rng, cell) if rng.random() < 0.1 else cell
        if rng.random() < 0.02 and cells:
            cells.pop(next(iter(cells)))
        lines.append(json.dumps(cells, ensure_ascii=rng.random() < 0.5))
    count: int | None = len(lines)
    if rng.random() < 0.1:
        odd = ["7", "null", "[1]", '{"a":', '{"a": "\\ud800"}', '{"": 1}', '{"a": 1, "a": 2}', ""]
        lines.insert(rng.randint(0, len(lines)), rng.choice(odd))
        count = None
    content = ("\n".join(lines) + "\n").encode("utf-8", "surrogatepass")
    return _packed(rng, "t.ndjson", content, count)


def _value(rng: random.Random, cell: str) -> Any:
    return rng.choice(
        [None, 1, 0, True, 0.5, 10**30, -(2**63), float("inf"), float("nan"), [1], {"x": 1}, cell]
    )


def _packed(rng: random.Random, name: str, content: bytes, count: int | None) -> Any:
    if rng.random() < 0.85:
        return name, content, count
    packed = gzip.compress(content, mtime=0)
    broken = rng.random()
    if broken < 0.2:
        packed = packed[:-8] + bytes(rng.randrange(256) for _ in range(4)) + packed[-4:]
        count = None
    elif broken < 0.4:
        packed, count = packed[: rng.randint(1, len(packed))], None
    return f"{name}.gz", packed, count


def _arrow_table(rng: random.Random, header: list[str], rows: list[list[str]]) -> Any:
    import pyarrow as pa

    columns = {}
    for j, name in enumerate(header):
        cells: list[Any] = [row[j] or None for row in rows]
        made = pa.array(cells, pa.string())
        kind = rng.random()
        if kind < 0.15:
            made = made.dictionary_encode()
        elif kind < 0.3:
            made = pa.array([rng.randint(0, 2) for _ in rows], rng.choice([pa.int8(), pa.int64()]))
        elif kind < 0.4:
            made = pa.array([rng.random() < 0.5 for _ in rows])
        elif kind < 0.5:
            made = pa.array(
                [rng.choice([0.5, float("nan"), None, 1e308]) for _ in rows], pa.float64()
            )
        elif kind < 0.55:
            made = pa.array([[1, 2]] * len(rows), pa.list_(pa.int64()))
        elif kind < 0.6:
            made = pa.array([b"\xff\x00"] * len(rows), pa.binary())
        elif kind < 0.65:
            made = pa.array(cells, pa.large_string())
        columns[name] = made
    return pa.table(columns)


def _parquet(rng: random.Random, header: list[str], rows: list[list[str]]) -> Any:
    import pyarrow.parquet as pq

    table = _arrow_table(rng, header, rows)
    stream = io.BytesIO()
    pq.write_table(
        table,
        stream,
        compression=rng.choice(["NONE", "snappy", "gzip", "zstd"]),
        use_dictionary=rng.random() < 0.5,
        data_page_version=rng.choice(["1.0", "2.0"]),
        row_group_size=rng.choice([None, 10]),
    )
    return "t.parquet", stream.getvalue(), table.num_rows


def _arrow(rng: random.Random, header: list[str], rows: list[list[str]]) -> Any:
    import pyarrow as pa

    table = _arrow_table(rng, header, rows)
    stream = io.BytesIO()
    make = rng.choice([pa.ipc.new_file, pa.ipc.new_stream])
    options = pa.ipc.IpcWriteOptions(compression=rng.choice([None, None, "lz4", "zstd"]))
    with make(stream, table.schema, options=options) as writer:
        writer.write_table(table, max_chunksize=rng.choice([None, 10]))
    return "t.arrow", stream.getvalue(), table.num_rows


FORMATS: dict[str, Callable[[random.Random, list[str], list[list[str]]], Any]] = {
    "csv": _csv,
    "tsv": _tsv,
    "ndjson": _ndjson,
    "parquet": _parquet,
    "arrow": _arrow,
}


def same(number: int, seed: int = 0) -> list[Case]:
    """Return a table that a verb answers, and the same table written in other ways."""
    rng = random.Random(f"same:{seed}:{number}")
    header, rows = _likely(rng)
    # What one of the formats cannot hold: a name twice, a line end that is no line's end.
    header = [f"{name}{j}" if name in header[:j] else name for j, name in enumerate(header)]
    rows = [["odd" if set(cell) & set("\r\n") else cell for cell in row] for row in rows]
    verb, *options = rng.choice(
        [
            ("tally",),
            ("judge", "--truth", "gold"),
            ("compare", "--truth", "gold"),
            ("bound", "--prediction", "gpt", "--truth", "gold"),
            ("audit",),
        ]
    )
    lines = [json.dumps(dict(zip(header, row, strict=True))) + "\n" for row in rows]
    plain = _written(header, rows)
    written = {
        "plain.csv": plain,
        "bom.csv": b"\xef\xbb\xbf" + plain,
        "quoted.csv": _written(header, rows, quoting=csv.QUOTE_ALL),
        "windows.csv": _written(header, rows, lineterminator="\r\n"),
        "semicolons.csv": _written(header, rows, delimiter=";"),
        "tabs.tsv": _written(header, rows, delimiter="\t"),
        "packed.csv.gz": gzip.compress(plain, mtime=0),
        "lines.ndjson": "".join(lines).encode("utf-8", "surrogatepass"),
        "blank-end.ndjson": ("".join(lines) + "\n\n").encode("utf-8", "surrogatepass"),
    }
    return [
        Case(number, name, content, (verb, name, *options, "--json"), len(rows))
        for name, content in written.items()
    ]


def _written(header: list[str], rows: list[list[str]], **dialect: Any) -> bytes:
    stream = io.StringIO(newline="")
    writer = csv.writer(stream, **{"lineterminator": "\n", **dialect})
    writer.writerows([header, *rows])
    return stream.getvalue().encode("utf-8", "surrogatepass")


def _damaged(rng: random.Random, content: bytes) -> tuple[bytes, bool]:
    """Return damaged content, and whether a reader can still tell how many rows there were."""
    data = bytearray(content)
    if not data:
        return content, True
    place = rng.randrange(len(data))
    how = rng.randrange(9)
    if how == 0:
        for _ in range(rng.choice([1, 1, 4, 16])):
            data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
    elif how == 1:
        del data[place:]
    elif how == 2:
        del data[place : place + rng.randint(1, 40)]
    elif how == 3:
        data[place:place] = bytes(rng.randrange(256) for _ in range(rng.randint(1, 20)))
    elif how == 4:
        data[place:place] = data[: rng.randint(1, 200)]
    elif how == 5:
        data[place : place + 8] = rng.choice(
            [b"\xff" * 8, bytes(8), (1 << 62).to_bytes(8, "little")]
        )
    elif how == 6:
        data[place:place] = rng.choice([b"\0", b"\xff", b"\xed\xa0\x80", b'"', b"\r", b",", b"\n"])
    elif how == 7:
        data = bytearray()
    else:
        data = data * 2
    return bytes(data), False


def _arguments(rng: random.Random, header: list[str], name: str) -> tuple[str, ...]:
    likely = rng.random() < 0.7
    column = "gold" if likely and "gold" in header else rng.choice(header)
    other = "gpt" if likely and "gpt" in header else rng.choice(header)
    calls: list[tuple[str, ...]] = [
        *[("tally", name, "--json")] * 8,
        ("tally", name, "--coerce", "--json"),
        ("tally", name, "--missing", "NA,-1", "--item", header[0], "--items-out", "items.csv"),
        ("tally", name, "--weight", header[-1], "--json"),
        ("tally", name, "--by", header[-1]),
        *[("judge", name, "--json")] * 2,
        ("judge", name, "--truth", column, "--html", "page.html"),
        ("judge", name, "--judges", f"{column},{other}", "--labels", "--1,1", "--coerce"),
        ("compare", name, "--json"),
        ("compare", name, "--truth", column),
        ("score", name, "--truth", column, "--json"),
        ("bound", name, "--prediction", column, "--weak", other),
        ("shift", name, "--truth", column, "--old", header[-1], "--new", other),
        ("dynamic", "analyse", name),
        ("plan", name),
        ("audit", name, "--json"),
        ("label", "plan", name, "--question", "judge"),
        ("judge", "-", "--follow", "--window", "5"),
    ]
    return rng.choice(calls)
