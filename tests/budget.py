"""What the house holds now, beside what it may hold: ``make budget``.

``budget.toml`` is a ceiling for each room and each thing that grows by itself: lines of code, files,
options, public names, sentences, tests, words. A ceiling may only fall. ``python -m tests.budget
--lower`` writes the present numbers into it, wherever they are below the ceiling, and the rooms into
docs/architecture.md.

A line of code is a line that is no blank, no comment and no docstring.
"""

from __future__ import annotations

import argparse
import ast
import re
import sys
import tomllib
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from docs.sentences import of_file

ROOT = Path(__file__).resolve().parent.parent
SOURCE = ROOT / "src" / "tallystick"
CEILINGS = ROOT / "budget.toml"
PAGE = ROOT / "docs" / "architecture.md"

Budget = dict[str, dict[str, float]]
"""Part of the budget to the numbers in it."""


def measured() -> Budget:
    """Count everything that has a ceiling and that can be counted without running the tests."""
    return {**_source(), "beside": _beside()}


def ceilings() -> Budget:
    """Read the ceilings."""
    return tomllib.loads(CEILINGS.read_text(encoding="utf-8"))


def excesses(now: Budget, allowed: Budget) -> list[str]:
    """Say what is above its ceiling, or has none."""
    found = []
    for part, numbers in now.items():
        for name, value in numbers.items():
            most = allowed.get(part, {}).get(name)
            if most is None:
                found.append(f"{part}.{name} is {_number(value)} and has no ceiling")
            elif value > most:
                found.append(f"{part}.{name} is {_number(value)}, above {_number(most)}")
    return found


def table(now: Budget, allowed: Budget) -> str:
    """Return both as a Markdown table, with the sums of rooms."""
    rows = ["| what | now | ceiling |", "|---|---|---|"]
    for part, numbers in allowed.items():
        for name, most in numbers.items():
            value = now.get(part, {}).get(name)
            rows.append(f"| {part}: {name} | {_number(value)} | {_number(most)} |")
        if part in ("lines", "files"):
            held = sum(now.get(part, {}).values())
            rows.append(
                f"| **{part}: all** | **{_number(held)}** | **{_number(sum(numbers.values()))}** |"
            )
    return "\n".join(rows) + "\n"


def _code_lines(text: str, nodes: list[ast.AST]) -> int:
    docs: set[int] = set()
    for node in nodes:
        first = (getattr(node, "body", None) or [None])[0]
        said = first.value if isinstance(first, ast.Expr) else None
        if isinstance(said, ast.Constant) and isinstance(said.value, str):
            docs.update(range(first.lineno, (first.end_lineno or first.lineno) + 1))
    rows = enumerate(text.split("\n"), start=1)
    return sum(
        1 for number, row in rows if number not in docs and row.strip() and row.strip()[0] != "#"
    )


def with_rooms(page: str, allowed: Budget) -> str:
    """Return a page whose last table is that of the rooms: lines of code and files."""
    rows = ["| room | lines of code | files |", "|---|---|---|"]
    for room, most in allowed["lines"].items():
        rows.append(f"| {room} | {_number(most)} | {_number(allowed['files'][room])} |")
    both = [_number(sum(allowed[part].values())) for part in ("lines", "files")]
    rows.append(f"| **all** | **{both[0]}** | **{both[1]}** |")
    return page[: page.index("| room | lines of code |")] + "\n".join(rows) + "\n"


def room_of(path: Path) -> str:
    """Return the room of a file: the folder below the package, or below ``verbs``."""
    parts = path.relative_to(SOURCE).parts
    if len(parts) == 1:
        return "top"
    return "/".join(parts[:2]) if parts[0] == "verbs" and len(parts) > 2 else parts[0]


def _source() -> Budget:
    """Count the source: lines and files per room, what a user meets, and the shape of functions and
    lines, so that lines do not fall by denser code. Each file is parsed once, for all of it.
    """
    lines: Counter[str] = Counter()
    files: Counter[str] = Counter()
    names = sentences = rows = characters = parameters = statements = 0
    for path in sorted(SOURCE.rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        tree = ast.parse(text)
        inside = [tree, *_inside(tree)]
        lines[room_of(path)] += _code_lines(text, inside)
        files[room_of(path)] += 1
        names += _exported(tree) if path.name == "__init__.py" else 0
        sentences += len(set(of_file(tree, path.relative_to(SOURCE))))
        for node in inside:
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                given = node.args
                own = [*given.posonlyargs, *given.args, *given.kwonlyargs]
                parameters = max(parameters, len(own))
                held = sum(isinstance(one, ast.stmt) for one in _inside(node))
                statements = max(statements, held)
        written = [len(row) for row in text.split("\n") if row.strip()]
        rows += len(written)
        characters += sum(written)

    options = [name for command in _commands() for name in command]
    return {
        "lines": dict(sorted(lines.items())),
        "files": dict(sorted(files.items())),
        "surface": {
            "options": len(set(options)),
            "options with repeats": len(options),
            "public names": names,
            "sentences": sentences,
        },
        "shape": {
            "parameters of a function": parameters,
            "statements of a function": statements,
            "characters per line": round(characters / rows, 2),
        },
    }


def _inside(node: ast.AST) -> Iterator[ast.AST]:
    """Return what a node holds in blocks, at any depth: statements, and no expression."""
    for block in ("body", "orelse", "handlers", "finalbody", "cases"):
        held = getattr(node, block, None)
        for one in held if isinstance(held, list) else ():
            yield one
            yield from _inside(one)


def _commands() -> Iterator[list[str]]:
    import click

    from tallystick.cli.app import app

    def walk(command: click.Command) -> Iterator[list[str]]:
        yield [
            max(one.opts, key=len)
            for one in command.params
            if isinstance(one, click.Option) and not one.hidden
        ]
        if isinstance(command, click.Group):
            context = click.Context(command)
            for name in command.list_commands(context):
                held = command.get_command(context, name)
                if held is not None:
                    yield from walk(held)

    yield from walk(app)


def _exported(tree: ast.Module) -> int:
    for node in tree.body:
        if isinstance(node, ast.Assign) and any(
            isinstance(one, ast.Name) and one.id == "__all__" for one in node.targets
        ):
            return len(ast.literal_eval(node.value))
    return 0


def _beside() -> dict[str, float]:
    """Count what stands beside the source: nothing that leaves it may hide here."""

    def lines_in(*places: str, ending: str = ".py") -> int:
        paths = [path for place in places for path in (ROOT / place).rglob(f"*{ending}")]
        return sum(path.read_text(encoding="utf-8").count("\n") for path in paths)

    other = [
        path
        for path in SOURCE.rglob("*")
        if path.is_file() and path.suffix not in (".py", ".pyc", ".typed")
    ]
    words = [
        len(re.findall(r"\S+", path.read_text(encoding="utf-8")))
        for path in (ROOT / "docs").rglob("*.md")
    ]
    return {
        "lines of tests": lines_in("tests"),
        "lines of benchmarks": lines_in("benchmarks"),
        "lines of docs/*.py": lines_in("docs"),
        "lines of examples": lines_in("examples"),
        "lines of other files in src": sum(
            path.read_text(encoding="utf-8").count("\n") for path in other
        ),
        "words of docs": sum(words),
    }


def _number(value: float | None) -> str:
    if value is None:
        return ""
    return f"{int(value):,}" if value == int(value) else f"{value:,.2f}"


def _written(budget: Budget, head: str) -> str:
    parts = [head.rstrip()]
    for part, numbers in budget.items():
        rows = [
            f'"{name}" = {value:g}' if value % 1 else f'"{name}" = {int(value)}'
            for name, value in numbers.items()
        ]
        parts.append("\n".join([f"[{part}]", *rows]))
    return "\n\n".join(parts) + "\n"


def lower(now: Budget, allowed: Budget) -> Budget:
    """Return ceilings that are nowhere above what is there now, and nowhere higher than before."""
    merged: Budget = {}
    for part, numbers in {**allowed, **{part: {} for part in now if part not in allowed}}.items():
        held = now.get(part, {})
        merged[part] = {
            name: min(most, held.get(name, most))
            for name, most in numbers.items()
            if part not in now or name in held
        }
        for name, value in held.items():
            merged[part].setdefault(name, value)
    return merged


def main() -> None:
    """Print the budget; with ``--lower`` write the present numbers where they are lower."""
    words = argparse.ArgumentParser(description=__doc__)
    words.add_argument("--lower", action="store_true", help="lower the ceilings to what is there")
    now = measured()
    allowed = ceilings()
    if words.parse_args().lower:
        text = CEILINGS.read_text(encoding="utf-8")
        head = text[: text.index("\n[")] if "\n[" in text else text
        allowed = lower(now, allowed)
        CEILINGS.write_text(_written(allowed, head), encoding="utf-8")
        page = PAGE.read_text(encoding="utf-8")
        PAGE.write_text(with_rooms(page, allowed), encoding="utf-8")
    sys.stdout.write(table(now, allowed))
    sys.stdout.write("".join(f"! {one}\n" for one in excesses(now, allowed)))


if __name__ == "__main__":
    main()
