"""Small hostile tables: an answer without NaN, or an error that names the way out; no warning.

Warnings are errors in this suite, so a division by zero in NumPy fails the test.
"""

import math

import pytest

from tallystick import bound, judge
from tallystick.errors import TallystickError

MIXED = [1, 0, 1, 1, 0]
TABLES = {
    "one judge constant": {"a": [1] * 5, "b": MIXED, "c": [0, 0, 1, 1, 1]},
    "two judges equal": {"a": MIXED, "b": MIXED, "c": [0, 0, 1, 1, 1]},
    "all judges equal": {"a": MIXED, "b": MIXED, "c": MIXED},
    "opposite judges": {"a": MIXED, "b": [1 - v for v in MIXED], "c": [0, 0, 1, 1, 1]},
    "one label only": {"a": [1] * 5, "b": [1] * 5, "c": [1] * 5},
    "two rows": {"a": [0, 1], "b": [1, 1], "c": [0, 0]},
    "one item, one vote": {"a": [1], "b": [None], "c": [None]},
    "a silent judge": {"a": [None] * 5, "b": MIXED, "c": [0, 0, 1, 1, 1]},
    "nobody votes": {"a": [None] * 5, "b": [None] * 5, "c": [None] * 5},
    "everybody abstains": {"a": ["abstain"] * 5, "b": ["abstain"] * 5, "c": ["abstain"] * 5},
    "ties only": {"a": ["tie"] * 5, "b": ["tie"] * 5, "c": ["A", "tie", "tie", "B", "tie"]},
    "no common item": {"a": [1, None, None], "b": [None, 0, None], "c": [None, None, 1]},
}
METHODS = ("evaluate", "majority", "independent", "dawid-skene", "logical")


def broken_numbers(value, path=""):
    """Return the places of NaN and infinity in a JSON object."""
    if isinstance(value, dict):
        return [p for key, one in value.items() for p in broken_numbers(one, f"{path}.{key}")]
    if isinstance(value, list | tuple):
        return [p for i, one in enumerate(value) for p in broken_numbers(one, f"{path}[{i}]")]
    return [path] if isinstance(value, float) and not math.isfinite(value) else []


def answered(ask):
    """Return the JSON of an answer; None where it was refused with a message."""
    try:
        result = ask()
    except TallystickError:
        return None
    result.summary()
    result.figures()
    return result.to_dict()


@pytest.mark.parametrize("labelled", [False, True])
@pytest.mark.parametrize("name", TABLES)
def test_judge_answers_or_refuses(name, labelled):
    votes = dict(TABLES[name])
    judges, more = list(votes), {}
    if labelled:
        votes["gold"] = [1, 0, None, 1, 1][: len(votes["a"])]
        more = {"truth": "gold"}
    for method in METHODS:
        found = answered(lambda m=method: judge(votes, judges=judges, method=m, **more))
        assert broken_numbers(found) == []


@pytest.mark.parametrize("labelled", [False, True])
@pytest.mark.parametrize("name", TABLES)
def test_bound_answers_or_refuses(name, labelled):
    votes = dict(TABLES[name])
    weak, more = list(votes), {}
    n = len(votes["a"])
    votes["h"] = [1, 1, 0, 1, 0][:n]
    if labelled:
        votes["gold"] = [1, 0, None, 1, 1][:n]
        more = {"truth": "gold"}
    found = answered(lambda: bound(votes, prediction="h", weak=weak, **more))
    assert broken_numbers(found) == []
