"""What a label is and which words are blank is defined once, in values/."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from tallystick.values import NO_ANSWER

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


def found(rule: str, *, home: str) -> list[str]:
    look = {"alias": aliases, "words": word_lists}[rule]
    return [
        f"{path.relative_to(SOURCE)}:{line}"
        for path in sorted(SOURCE.rglob("*.py"))
        if path != SOURCE / home
        for line in look(ast.parse(path.read_text(encoding="utf-8")))
    ]


def test_label_is_defined_once() -> None:
    assert found("alias", home="values/label.py") == []


def test_words_for_no_answer_are_listed_once() -> None:
    assert found("words", home="values/words.py") == []


def test_the_two_homes_are_seen_by_these_rules() -> None:
    assert any(line.startswith("values/label.py") for line in found("alias", home=""))
    assert any(line.startswith("values/words.py") for line in found("words", home=""))


@pytest.mark.parametrize(
    "code",
    [
        "Label: TypeAlias = str | int | float | bool | None",
        "Vote = str | int | float | bool",
        "Vote = Union[str, int, float, bool, None]",
        "Vote = 'str | int | float | bool'",
        "class Label: ...",
    ],
)
def test_a_second_alias_would_be_seen(code: str) -> None:
    assert list(aliases(ast.parse(code)))


@pytest.mark.parametrize(
    "code",
    [
        "BLANK = {'NA', 'n/a'}",
        "ABSTAIN = frozenset(['abstain', 'abstained', -1])",
        "words = 'na nan null'.split()",
        "BLANK = {'nan': 0, 'na': 1}",
        "BLANK = ('', '-', 'none', 'null')",
    ],
)
def test_a_second_list_would_be_seen(code: str) -> None:
    assert list(word_lists(ast.parse(code)))


@pytest.mark.parametrize("code", ["x: str | int = 1", "kinds = {'text', 'na'}", "a = b | c"])
def test_other_code_is_not_taken_for_one(code: str) -> None:
    assert not list(aliases(ast.parse(code)))
    assert not list(word_lists(ast.parse(code)))
