"""What a label is and which words are blank is defined once, in values/."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from tallystick.table.words import NO_ANSWER

SOURCE = Path(__file__).parents[2] / "src" / "tallystick"
LABEL_TYPES = {"bool", "int", "float", "str"}

# Signs and words that also mean something else, such as "-" for standard input.
TELLING = NO_ANSWER - {"", "-", "--", "?", "missing", "none", "null", "skip"}
MOST_WORDS = 2


def aliases(tree: ast.Module) -> Iterator[int]:
    """Yield the lines that define a name for labels: by its name, or by what it stands for."""
    for node in ast.walk(tree):
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                pass
            case ast.AnnAssign(target=ast.Name(id=name), value=value) if value is not None:
                pass
            case ast.ClassDef(name="Label"):
                yield node.lineno
                continue
            case _:
                continue
        # A wider type, such as that of JSON with its lists, is no label.
        named = {part.id for part in ast.walk(value) if isinstance(part, ast.Name)}
        union = isinstance(value, ast.BinOp) or "Union" in named
        union = union and named <= LABEL_TYPES | {"Union", "Optional"}
        # With text written around it, a type is a string: "str | int | float | bool".
        written = isinstance(value, ast.Constant) and isinstance(value.value, str)
        quoted = set(value.value.replace("|", " ").split()) if written else set()
        if name == "Label" or (union and named >= LABEL_TYPES) or quoted >= LABEL_TYPES:
            yield node.lineno


def word_lists(tree: ast.Module) -> Iterator[int]:
    """Yield the lines of collections with several words for no answer."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Set | ast.List | ast.Tuple):
            parts: list[ast.expr | None] = [*node.elts]
        elif isinstance(node, ast.Dict):
            parts = [*node.keys]
        elif isinstance(node, ast.Call | ast.BinOp):
            # "na nan null".split() is a list too.
            parts = []
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
                held = node.func.value
                if node.func.attr == "split" and isinstance(held, ast.Constant):
                    parts = [ast.Constant(word) for word in str(held.value).split()]
        else:
            continue
        said = {
            part.value.strip().casefold()
            for part in parts
            if isinstance(part, ast.Constant) and isinstance(part.value, str)
        }
        blank = said & NO_ANSWER
        if len(blank & TELLING) >= MOST_WORDS or len(blank) > 3:
            yield node.lineno


@cache
def found() -> dict[str, list[str]]:
    """Return the files with an alias and those with a list of words, each with its line."""
    out: dict[str, list[str]] = {"alias": [], "words": []}
    for path in sorted(SOURCE.rglob("*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        name = path.relative_to(SOURCE).as_posix()
        out["alias"] += [f"{name}:{line}" for line in aliases(tree)]
        out["words"] += [f"{name}:{line}" for line in word_lists(tree)]
    return out


@pytest.mark.parametrize(("rule", "home"), [("alias", "cells.py"), ("words", "words.py")])
def test_labels_and_words_for_no_answer_are_defined_in_one_home_that_is_seen(
    rule: str, home: str
) -> None:
    places = {line.rpartition(":")[0] for line in found()[rule]}
    assert places == {f"table/{home}"}
