"""Options that mean the same in every verb, declared once."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated, TypeAlias

import typer

__all__ = [
    "Alpha",
    "AsJson",
    "By",
    "Coerce",
    "Columns",
    "Delimiter",
    "Html",
    "Input",
    "Item",
    "ItemsOut",
    "JudgeColumn",
    "Metric",
    "Missing",
    "Models",
    "Output",
    "Seed",
    "ShapeChoice",
    "TableShape",
    "Truth",
    "VoteColumn",
    "Weight",
]


class ShapeChoice(StrEnum):
    """How a table is laid out: a column a judge, or a row a vote."""

    auto = "auto"
    wide = "wide"
    long = "long"


Input: TypeAlias = Annotated[
    list[str],
    typer.Argument(
        metavar="INPUT…",
        help="CSV, TSV, NDJSON, Parquet or Arrow (.gz too), a glob, or - for stdin.",
    ),
]
Columns: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        "--columns", help="Columns to use; repeat, or use commas and globs. Default: all others."
    ),
]
Item: TypeAlias = Annotated[str | None, typer.Option("--item", help="Column that names the item.")]
Models: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        "--models", help="Columns of models; repeat, or use commas and globs. Default: all others."
    ),
]
Truth: TypeAlias = Annotated[
    str | None, typer.Option("--truth", help="Column of true answers; blank where not known.")
]
Metric: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--metric", help="Evaluation logs: the score to use, e.g. exact_match,strict-match."
    ),
]
Weight: TypeAlias = Annotated[str | None, typer.Option("--weight", help="Column of row weights.")]
By: TypeAlias = Annotated[
    str | None, typer.Option("--by", help="Give the same by slice of this column.")
]
Missing: TypeAlias = Annotated[
    list[str] | None,
    typer.Option("--missing", help="Tokens that mean no answer, e.g. -1,NA (blanks always do)."),
]
Coerce: TypeAlias = Annotated[
    bool,
    typer.Option("--coerce", help='Read "1", 1, 1.0 and True as one label instead of refusing.'),
]
TableShape: TypeAlias = Annotated[
    ShapeChoice,
    typer.Option("--shape", help="wide: a column a judge; long: a row a vote (item, judge, vote)."),
]
JudgeColumn: TypeAlias = Annotated[
    str | None, typer.Option("--judge", help="Long tables: the column that says who voted.")
]
VoteColumn: TypeAlias = Annotated[
    str | None, typer.Option("--vote", help="Long tables: the column of votes.")
]
Delimiter: TypeAlias = Annotated[
    str | None, typer.Option("--delimiter", help="Separator of delimited text.")
]
AsJson: TypeAlias = Annotated[
    bool, typer.Option("--json", help="Print exactly one JSON object on stdout.")
]
Html: TypeAlias = Annotated[
    Path | None, typer.Option("--html", help="Write one self-contained offline page to this file.")
]
ItemsOut: TypeAlias = Annotated[
    Path | None,
    typer.Option("--items-out", help="Write a table of items with what was learnt of each."),
]
Output: TypeAlias = Annotated[Path, typer.Option("--output", "-o", help="File to write.")]
Seed: TypeAlias = Annotated[
    int, typer.Option("--seed", min=0, help="Seed of everything that is drawn.")
]
Alpha: TypeAlias = Annotated[
    float, typer.Option("--alpha", help="One minus the level of every interval: .05 gives 95 %.")
]
