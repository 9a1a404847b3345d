"""The house is kept as drawn: one record of roles, rooms of one shape, functions that fit a screen."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from tallystick.registry import capabilities

SOURCE = Path(__file__).parents[2] / "src" / "tallystick"
MOST_PARAMETERS = 8
MOST_STATEMENTS = 60


def functions() -> Iterator[tuple[Path, ast.FunctionDef | ast.AsyncFunctionDef]]:
    for path in sorted(SOURCE.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                yield path, node


def test_no_function_takes_more_than_eight_parameters() -> None:
    crowded = []
    for path, node in functions():
        given = node.args.posonlyargs + node.args.args + node.args.kwonlyargs
        names = [one.arg for one in given if one.arg not in ("self", "cls")]
        if len(names) > MOST_PARAMETERS:
            crowded.append(f"{path.relative_to(SOURCE)}: {node.name} takes {len(names)}")
    assert not crowded, "\n".join(crowded)


def test_no_function_has_more_than_sixty_statements() -> None:
    long = []
    for path, node in functions():
        statements = sum(isinstance(one, ast.stmt) for one in ast.walk(node)) - 1
        if statements > MOST_STATEMENTS:
            long.append(f"{path.relative_to(SOURCE)}: {node.name} has {statements}")
    assert not long, "\n".join(long)


def test_there_is_one_record_of_roles() -> None:
    homes = [
        str(path.relative_to(SOURCE))
        for path in SOURCE.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.ClassDef) and node.name in ("Roles", "ColumnOptions", "Named")
    ]
    assert homes == ["data/roles.py"]


def test_nobody_silences_the_formatter() -> None:
    silenced = [
        str(path.relative_to(SOURCE))
        for path in SOURCE.rglob("*.py")
        if "fmt: skip" in (text := path.read_text(encoding="utf-8")) or "fmt: off" in text
    ]
    assert not silenced


@pytest.mark.parametrize("one", list(capabilities()), ids=lambda one: one.verb)
def test_every_capability_has_the_same_rooms(one) -> None:
    folder = SOURCE / one.question.__module__.split(".")[1]
    missing = [name for name in ("result.py", "verdict.py") if not (folder / name).exists()]
    assert not missing, f"{folder.name} has no {missing}"
    assert one.summary[0].isupper()
