"""Every claim of the README is executed: the list of claims is complete, and each has its test.

The terminal output, the doctests, the links and the commands have tests of their own
(test_readme.py, the doctest run, test_documented_commands.py).
"""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np

from tallystick import bound, compare, judge, score

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
RESTS_ON = README.partition("## What it rests on")[2].partition("`tallystick explain")[0]

CLAIMS = {
    "An interval says what it promises": "test_intervals_say_what_they_promise",
    "Human grades are taken as right": "test_labels_of_unknown_origin_change_the_answer",
    "Without labels nobody can see": "test_without_labels_nothing_is_settled",
    "Bounds from weak labels": "test_from_20_labels_on_weak_labels_are_not_needed",
    "Out of scope, and said": "test_ratings_and_confidences_are_out_of_scope_and_said",
    "It is offline": "test_nothing_is_sent_or_unpickled",
}


def votes(n: int = 300, labelled: int = 0) -> dict[str, list]:
    rng = np.random.default_rng(3)
    truth = rng.integers(0, 2, n)
    table = {
        name: np.where(rng.random(n) < right, truth, 1 - truth).tolist()
        for name, right in (("gpt", 0.92), ("claude", 0.85), ("llama", 0.78))
    }
    if labelled:
        table["gold"] = [int(one) if k * 7 % n < labelled else None for k, one in enumerate(truth)]
    return table


def test_the_list_of_claims_is_complete() -> None:
    bullets = re.findall(r"^- (.+)$", RESTS_ON, re.MULTILINE)
    assert len(bullets) == len(CLAIMS)
    for bullet, (begins, test) in zip(bullets, CLAIMS.items(), strict=True):
        assert bullet.startswith(begins)
        assert test in globals()


def test_intervals_say_what_they_promise() -> None:
    found = judge(votes(labelled=60), truth="gold")
    known = {"exact", "anytime", "approximate", "under"}
    for row in found.judges:
        assert row.interval.guarantee in known
    gated = compare({"old": [1, 0, 1, 0, 1, 1], "new": [1, 1, 0, 1, 1, 1]}, gates=("new >= old",))
    assert gated.gates[0].passed is None  # cannot be decided, and says so
    assert (ROOT / "docs" / "benchmarks" / "index.md").exists()


def test_labels_of_unknown_origin_change_the_answer() -> None:
    rng = np.random.default_rng(0)
    table = {"item": [k // 2 for k in range(200)], "system": ["a", "b"] * 100}
    table["gpt"] = rng.integers(0, 2, 200).tolist()
    table["human"] = [
        int(v) if k % 5 == 0 or k % 5 == 3 else None for k, v in enumerate(table["gpt"])
    ]
    asked = {"system": "system", "judges": ("gpt",), "truth": "human", "item": "item"}
    plain = score(table, **asked)
    unknown = score(table, **asked, label_draw="unknown")
    assert "the outputs that people graded were drawn at random" in plain.assumptions
    guarantees = [one.systems[0].interval.guarantee for one in (plain, unknown)]
    assert guarantees[0] == "approximate"
    assert guarantees[1] == "under"
    assert any("Nobody has said how the graded outputs were chosen" in w for w in unknown.warnings)


def test_without_labels_nothing_is_settled() -> None:
    found = judge(votes())
    assert found.decision == "undecided"
    assert found.needed is not None
    assert found.needed.count
    assert all(row["interval"] is None for row in found.to_dict()["judges"])
    assert all(len(row.range) == 2 for row in found.judges)


def test_from_20_labels_on_weak_labels_are_not_needed() -> None:
    weak = ("claude", "llama")
    few = bound(votes(labelled=19), prediction="gpt", weak=weak, truth="gold")
    enough = bound(votes(labelled=20), prediction="gpt", weak=weak, truth="gold")
    assert (few.decision, enough.decision) == ("undecided", "decided")
    assert "it trusts no label model" in enough.verdict


def test_ratings_and_confidences_are_out_of_scope_and_said() -> None:
    battles = {"model_a": ["x"] * 60, "model_b": ["y"] * 60, "winner": ["model_a", "tie"] * 30}
    said = compare(battles)
    assert any("no rating model is fitted" in text for text in (*said.assumptions, *said.warnings))


def test_nothing_is_sent_or_unpickled() -> None:
    for path in (ROOT / "src").rglob("*.py"):
        text = path.read_text(encoding="utf-8")
        assert not re.search(r"^\s*(import|from) (pickle|cloudpickle|dill)\b", text, re.MULTILINE)
    from tallystick.report import page_of

    shown = page_of(judge(votes()))
    assert not re.search(r"(src|href)=[\"']?(https?:)?//", shown)


def test_the_two_commands_of_make_are_there() -> None:
    rules = (ROOT / "Makefile").read_text(encoding="utf-8")
    targets = re.findall(r"(?:^    |`)make ([a-z-]+)", README, re.MULTILINE)
    assert {"demo", "test", "bench"} <= set(targets)
    for target in targets:
        assert f"\n{target}:" in rules, target
