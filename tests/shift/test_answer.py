import random

import pytest

from tallystick import shift
from tallystick.errors import InputError
from tallystick.verbs.shift import CAPABILITY

rng = random.Random(5)
TRUE = [rng.choice(("four", "five", "six")) for _ in range(400)]
OLD = [true if rng.random() < 0.9 else "six" for true in TRUE]
NEW = [
    "five" if true == "four" and rng.random() < 0.3 else old
    for true, old in zip(TRUE, OLD, strict=True)
]
TABLE = {"id": [f"i{n}" for n in range(400)], "true": TRUE, "old": OLD, "new": NEW}
ROLES = {"truth": "true", "old": "old", "item": "id"}


def test_a_column_of_new_answers_of_a_deterministic_api_leaves_no_doubt():
    result = shift(TABLE, **ROLES, new="new", deterministic=True)
    before = sum(a == b for a, b in zip(OLD, TRUE, strict=True)) / 400
    after = sum(a == b for a, b in zip(NEW, TRUE, strict=True)) / 400
    assert result.accuracy_change.estimate == pytest.approx(after - before)
    assert result.accuracy_change.interval.width == 0
    assert result.calls == 400
    assert result.requests.sent == 0


def test_a_table_of_exactly_item_truth_and_old_works(tmp_path, monkeypatch):
    """It failed with "no column ''" before."""
    (tmp_path / "same_api.py").write_text("def ask(row):\n    return row['old']\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    table = {name: TABLE[name] for name in ("id", "true", "old")}
    result = shift(table, **ROLES, api="python:same_api:ask", budget=60)
    assert result.flip_rate.estimate == 0


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"api": "replay:new"}, "--budget"),
        ({"new": "new", "api": "replay:new"}, "nothing is asked and api"),
        ({"new": "new", "budget": 10}, "nothing is asked and budget"),
        ({"new": "new", "judges": ["old"]}, "no option 'judges'"),
    ],
)
def test_questions_that_make_no_sense_are_refused(options, words):
    with pytest.raises(InputError, match=words):
        shift(TABLE, **ROLES, **options)


def test_several_gates_are_each_decided_and_the_watched_one_by_its_test():
    gates = ("accuracy_change >= -50%", "flip_rate <= 1%")
    result = shift(TABLE, **ROLES, api="replay:new", budget=300, gates=gates, deterministic=True)
    assert [one.passed for one in result.gates] == [True, False]
    assert result.verdict.startswith("Gate passed: accuracy_change >= -0.5. Gate failed: flip_rate")
    assert result.watched is False
    assert result.calls < 300


def test_audit_is_told_when_shift_applies():
    from tallystick.table import Roles

    assert CAPABILITY.applies(Roles(truth="t", old="o")) is None
    found = CAPABILITY.applies(Roles(truth="t", old="o", new="n"))
    assert (found["truth"], found["old"], found["new"]) == ("t", "o", "n")


def test_progress_lives_for_the_run_only():
    from contextlib import contextmanager

    seen = []

    @contextmanager
    def bar():
        seen.append("open")
        yield seen.append
        seen.append("closed")

    shift(TABLE, **ROLES, api="replay:new", budget=20, progress=bar)
    assert (seen[0], seen[-1]) == ("open", "closed")
    assert seen[-2].calls == 20


def test_without_an_api_or_a_past_nothing_is_asked():
    table = {"id": [1, 2, 3], "true": ["a", "b", "a"], "spring": ["a", "b", "b"]}
    with pytest.raises(InputError, match=r"--api.*--new"):
        shift(table, truth="true", old="spring")
    with pytest.raises(InputError, match=r"--old"):
        shift(table, truth="true", api="replay:spring", budget=3)
