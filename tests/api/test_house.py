"""The house is kept as drawn: one record of roles, functions that fit a screen."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path
from typing import NamedTuple

SOURCE = Path(__file__).parents[2] / "src" / "tallystick"
MOST_PARAMETERS = 8
MOST_STATEMENTS = 60


class Outline(NamedTuple):
    """What the rules ask of a file; the trees of all files are too large to keep."""

    path: str
    functions: list[tuple[str, int, int]]  # name, parameters, statements
    classes: list[str]


@cache
def outlines() -> tuple[Outline, ...]:
    return tuple(map(_outline, sorted(SOURCE.rglob("*.py"))))


def _outline(path: Path) -> Outline:
    nodes = list(ast.walk(ast.parse(path.read_text(encoding="utf-8"))))
    functions = []
    for node in nodes:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            given = node.args.posonlyargs + node.args.args + node.args.kwonlyargs
            parameters = sum(one.arg not in ("self", "cls") for one in given)
            statements = sum(isinstance(one, ast.stmt) for one in ast.walk(node)) - 1
            functions.append((node.name, parameters, statements))
    classes = [node.name for node in nodes if isinstance(node, ast.ClassDef)]
    return Outline(str(path.relative_to(SOURCE)), functions, classes)


def test_no_function_takes_more_than_eight_parameters() -> None:
    crowded = [
        f"{one.path}: {name} takes {parameters}"
        for one in outlines()
        for name, parameters, _ in one.functions
        if parameters > MOST_PARAMETERS
    ]
    assert not crowded, "\n".join(crowded)


def test_no_function_has_more_than_sixty_statements() -> None:
    long = [
        f"{one.path}: {name} has {statements}"
        for one in outlines()
        for name, _, statements in one.functions
        if statements > MOST_STATEMENTS
    ]
    assert not long, "\n".join(long)


def test_there_is_one_record_of_roles() -> None:
    homes = [
        one.path
        for one in outlines()
        for name in one.classes
        if name in ("Roles", "ColumnOptions", "Named")
    ]
    assert homes == ["table/roles.py"]


def test_nobody_silences_the_formatter() -> None:
    silenced = [
        str(path.relative_to(SOURCE))
        for path in SOURCE.rglob("*.py")
        if "fmt: skip" in (text := path.read_text(encoding="utf-8")) or "fmt: off" in text
    ]
    assert not silenced


def test_only_the_door_of_a_room_lists_its_names() -> None:
    own = [
        path.relative_to(SOURCE).as_posix()
        for path in sorted(SOURCE.rglob("*.py"))
        if path.name not in ("__init__.py", "__main__.py")
        and re.search(r"^__all__\b", path.read_text(encoding="utf-8"), re.MULTILINE)
    ]
    assert own == []
