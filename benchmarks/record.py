"""Print a table of claims and, with ``--write``, keep it in benchmarks/results/.

``python docs/results.py`` makes the pages of docs/benchmarks/ from what is kept.
"""

from __future__ import annotations

import json
import math
import platform
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from numbers import Integral
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
RESULTS = ROOT / "benchmarks" / "results"


def record(
    name: str, title: str, rows: Sequence[Mapping[str, Any]], *, notes: Sequence[str] = ()
) -> None:
    """Show *rows*; with ``--write`` on the command line also keep them as NAME.json."""
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
        script = Path(sys.argv[0]).resolve().relative_to(ROOT).as_posix()
        keep(name, title, rows, notes=notes, command=f"python {script} --write")


def keep(
    name: str,
    title: str,
    rows: Sequence[Mapping[str, Any]],
    *,
    notes: Sequence[str],
    command: str,
) -> None:
    """Keep what *command* measured; figures that did not change keep their date."""
    columns = list(dict.fromkeys(key for row in rows for key in row))
    found = {
        "title": title,
        "notes": list(notes),
        "command": command,
        "date": time.strftime("%Y-%m-%d"),
        "machine": f"{platform.system()} {platform.machine()}, Python {platform.python_version()}",
        "columns": columns,
        "rows": [[_figure(row.get(key, "")) for key in columns] for row in rows],
    }
    path = RESULTS / f"{name}.json"
    old = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    if found != {**old, "date": found["date"]}:
        RESULTS.mkdir(exist_ok=True)
        path.write_text(written(found), encoding="utf-8")


def written(found: Mapping[str, Any]) -> str:
    """Return JSON with one row per line, so that a changed figure is a changed line."""

    def part(key: str, value: Any) -> str:
        if key not in ("notes", "rows"):
            return json.dumps(value, ensure_ascii=False)
        return "[\n" + ",\n".join(json.dumps(one, ensure_ascii=False) for one in value) + "\n]"

    return "{\n" + ",\n".join(f'"{key}": {part(key, found[key])}' for key in found) + "\n}\n"


def kept_row(key: str, make: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    """Return a row that an earlier, stopped call kept (``--keep FILE``), or make and keep it.

    With ``--kept-only`` a row that is not there yet is empty.
    """
    path = Path(sys.argv[sys.argv.index("--keep") + 1]) if "--keep" in sys.argv else None
    rows = json.loads(path.read_text()) if path is not None and path.exists() else {}
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


def _figure(value: Any) -> int | float | str:
    if isinstance(value, float) and math.isfinite(value):
        return float(f"{value:.4g}")
    return int(value) if isinstance(value, Integral) and not isinstance(value, bool) else str(value)


def _cell(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)
