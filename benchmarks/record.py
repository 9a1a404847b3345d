"""Print a table of claims and, with ``--write``, put it into docs/benchmarks/."""

from __future__ import annotations

import json
import platform
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

DOCS = Path(__file__).resolve().parent.parent / "docs" / "benchmarks"


def record(
    name: str, title: str, rows: Sequence[Mapping[str, Any]], *, notes: Sequence[str] = ()
) -> None:
    """Show *rows*; with ``--write`` on the command line also save them as
    docs/benchmarks/NAME.md.
    """
    names = list(dict.fromkeys(key for row in rows for key in row))
    cells = [names, *([_cell(row.get(key, "")) for key in names] for row in rows)]
    widths = [max(len(line[j]) for line in cells) for j in range(len(names))]
    for line in cells:
        print(
            "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip()
        )
    for note in notes:
        print(note)
    if "--write" in sys.argv:
        DOCS.mkdir(parents=True, exist_ok=True)
        table = ["| " + " | ".join(line) + " |" for line in cells]
        table.insert(1, "|" + "---|" * len(names))
        machine = f"{platform.system()} {platform.machine()}, Python {platform.python_version()}"
        page = [f"# {title}", "", *table, "", *(f"- {note}" for note in notes)]
        page += ["", f"Measured on {machine}; remade by `make bench`.", ""]
        (DOCS / f"{name}.md").write_text("\n".join(page), encoding="utf-8")


def kept_row(key: str, make: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    """Return a row that an earlier, stopped call kept (``--keep FILE``), or make and keep it.

    With ``--kept-only`` a row that is not there yet is empty.
    """
    path = Path(sys.argv[sys.argv.index("--keep") + 1]) if "--keep" in sys.argv else None
    rows: dict[str, dict[str, Any]] = (
        json.loads(path.read_text()) if path is not None and path.exists() else {}
    )
    if key not in rows:
        if "--kept-only" in sys.argv:
            return {}
        rows[key] = make()
        if path is not None:  # whole or not at all: the call may be stopped at any time
            part = path.with_suffix(".part")
            part.write_text(json.dumps(rows))
            part.replace(path)
    print(rows[key], flush=True)
    return rows[key]


def _cell(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)
