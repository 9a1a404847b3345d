"""Keep what was measured in benchmarks/results/, and show it on the pages of docs/benchmarks/.

A benchmark prints its table and, with ``--write``, keeps it as data if a page shows it. ``make results`` makes the
pages from the data: ``pages.toml`` beside it says which measurement stands on which page, the
question that it answers and what is shown of it.
"""

from __future__ import annotations

import json
import math
import platform
import sys
import time
import tomllib
from collections.abc import Callable, Mapping, Sequence
from numbers import Integral
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
RESULTS = ROOT / "benchmarks" / "results"
PAGES = ROOT / "docs" / "benchmarks"


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
    if "--write" in sys.argv and name in shown():
        script = Path(sys.argv[0]).resolve().relative_to(ROOT).with_suffix("").as_posix()
        keep(
            name,
            title,
            rows,
            notes,
            command=f"python -m {script.replace(chr(47), chr(46))} --write",
        )


def keep(
    name: str, title: str, rows: Sequence[Mapping[str, Any]], notes: Sequence[str], *, command: str
) -> None:
    """Keep what *command* measured; figures that are the same as before keep their date."""
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
    if not path.exists() or found != {**_read(name), "date": found["date"]}:
        path.write_text(written(found), encoding="utf-8")


def written(found: Mapping[str, Any]) -> str:
    """Return JSON with one row per line, so that a changed figure is a changed line."""

    def part(key: str, value: Any) -> str:
        if key not in ("notes", "rows"):
            return json.dumps(value, ensure_ascii=False)
        return "[\n" + ",\n".join(json.dumps(one, ensure_ascii=False) for one in value) + "\n]"

    return "{\n" + ",\n".join(f'"{key}": {part(key, found[key])}' for key in found) + "\n}\n"


def shown() -> set[str]:
    """Return the names of the measurements that a page shows; no others are kept."""
    return {name for page in _listed().values() for name in page}


def _listed() -> dict[str, Any]:
    return tomllib.loads((RESULTS / "pages.toml").read_text(encoding="utf-8"))


def pages() -> dict[str, str]:
    """Return the text of every page by its file name."""
    listed = _listed()
    head = listed.pop("index")
    made, links = {}, []
    for page, held in listed.items():
        title, about = held.pop("title"), held.pop("about")
        sections = [_section(name, _read(name), choice) for name, choice in held.items()]
        made[f"{page}.md"] = "\n".join([f"# {title}", "", f"{about}\n", *sections])
        links.append(f"- [{title}]({page}.md): {len(held)} measurements")
    made["index.md"] = "\n".join([f"# {head['title']}", "", head["about"], *links, ""])
    return made


def _section(name: str, found: dict[str, Any], choice: dict[str, Any]) -> str:
    """Return question, chosen rows, date and command of one measurement."""
    columns, where = choice.get("columns", found["columns"]), choice.get("where", {})
    every = [dict(zip(found["columns"], row, strict=True)) for row in found["rows"]]
    rows = [row for row in every if all(row[key] in some for key, some in where.items())]
    chosen = [f"*{key}* {_shown(*some)}" for key, some in where.items() if key not in columns]
    for order in choice.keys() & {"lowest", "highest"}:
        by = choice[order]
        rows = [row for row in rows if row[by] != ""]
        rows.sort(key=lambda row: float(row[by]), reverse=order == "highest")
        chosen.append(f"{order} *{by}* first")
    rows = rows[: choice.get("rows", 5)]
    if len(rows) < len(every):
        chosen.insert(0, f"{len(rows)} of {len(every)} rows")
    notes = [one for one in found["notes"] if one.startswith(tuple(choice.get("notes", ())))]
    lines = [f"## {choice['ask']} {{#{name}}}", ""]
    lines += [f"{one}\n" for one in [choice.get("about"), *notes] if one]
    lines += ["| " + " | ".join(map(_shown, columns)) + " |", "|" + "---|" * len(columns)]
    lines += ["| " + " | ".join(_shown(row[key]) for key in columns) + " |" for row in rows]
    source = f"{found['date']}, `{found['command']}`"
    return "\n".join([*lines, "", ", ".join([source, *chosen]) + ".", ""])


def _shown(*values: float | str) -> str:
    forms = {int: "{:,}", float: "{:g}", str: "{}"}
    return ", ".join(forms[type(one)].format(one) for one in values).strip().replace("|", "\\|")


def _read(name: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((RESULTS / f"{name}.json").read_text(encoding="utf-8"))
    return found


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


def _figure(value: Any) -> int | float | str:
    if isinstance(value, float) and math.isfinite(value):
        value = float(f"{value:.4g}")
        return int(value) if value.is_integer() else value
    whole = isinstance(value, Integral) and not isinstance(value, bool)
    return int(value) if whole else str(value)


if __name__ == "__main__":
    for file, text in pages().items():
        (PAGES / file).write_text(text, encoding="utf-8")
