"""What to label in order to score systems: means, differences, grades and the best of k."""

from __future__ import annotations

import numpy as np
import pytest

from tallystick.errors import InputError
from tallystick.table import read
from tallystick.verbs.label import SessionSettings, begin
from tallystick.verbs.score import CAPABILITY
from tallystick.verbs.score.labelling import labelling
from tallystick.verbs.score.question import ScoreQuestion


def outputs(n: int = 150, seed: int = 2, quality=None):
    rng = np.random.default_rng(seed)
    quality = quality or {"a": 0.8, "b": 0.55}
    rows = {"item": [], "system": [], "answer": [], "gpt": [], "claude": [], "grade": []}
    truth, grades = [], []
    for item in range(n):
        for system, share in quality.items():
            good = int(rng.random() < share)
            grade = int(np.clip(rng.normal(4 if good else 2, 0.7), 1, 5).round())
            truth.append(good)
            grades.append(grade)
            rows["item"].append(f"i{item}")
            rows["system"].append(system)
            rows["answer"].append(f"{system} says {item}")
            for judge, accuracy in (("gpt", 0.9), ("claude", 0.85)):
                rows[judge].append(good if rng.random() < accuracy else 1 - good)
            rows["grade"].append(int(np.clip(grade + rng.integers(-1, 2), 1, 5)))
    return rows, np.array(truth), np.array(grades)


def run(work, answers):
    while work.standing().stop is None:
        asks = work.next()
        if not asks:
            break
        for ask in asks:
            work.answer(ask.number, answers[ask.row].item(), reader="1")
    return work.result()


ROLES = {"system": "system", "judges": ("gpt", "claude"), "item": "item"}


def begun(folder, rows, goal="mean", *, reading=ROLES, budget=None, **options):
    settings = SessionSettings() if budget is None else SessionSettings(budget=budget)
    options = {"goal": goal, **options}
    return begin(
        folder / "s.label",
        rows,
        question="score",
        reading=reading,
        options=options,
        settings=settings,
    )


def test_two_systems_are_compared_on_the_same_items(tmp_path):
    rows, truth, _ = outputs()
    with begun(tmp_path, rows, "difference") as work:
        first = work.next(20)
        assert len(first) == 20
        assert [ask.item for ask in first[::2]] == [ask.item for ask in first[1::2]]
        result = run(work, truth)
    assert result.winner == "a"
    lead = truth[::2].mean() - truth[1::2].mean()
    assert lead in result.measures[0].anytime_interval


def test_people_may_grade_by_numbers(tmp_path):
    rows, _, grades = outputs()
    roles = {"judges": ("grade",), "item": "item", "system": "system"}
    with begun(tmp_path, rows, reading=roles, scale=(1, 5)) as work:
        [ask] = work.next(1)
        with pytest.raises(InputError, match="a number from 1 to 5, got 9"):
            work.answer(ask.number, 9, reader="1")
        result = run(work, grades)
    for one, system in zip(result.measures, "ab", strict=True):
        mean = ((grades - 1) / 4)[np.array(rows["system"]) == system].mean()
        assert mean in one.anytime_interval


def test_a_difference_needs_two_systems_and_items(tmp_path):
    rows, _, _ = outputs(20)
    judged = {name: rows[name] for name in ("gpt", "claude")}
    with pytest.raises(InputError, match="compares two systems"):
        begun(tmp_path, judged, "difference", reading={"judges": ("gpt", "claude")})


def test_the_best_of_several_systems_is_named_and_losers_are_no_longer_asked_about(tmp_path):
    rows, truth, _ = outputs(300, quality={"a": 0.85, "b": 0.7, "c": 0.35})
    with begun(tmp_path, rows, "best") as work:
        first = work.next(30)
        assert [ask.system for ask in first[:3]] == ["a", "b", "c"]
        assert len({ask.item for ask in first}) == 10
        result = run(work, truth)
    assert result.winner == "a"
    assert result.stop in ("verdict", "certain")
    assert "the best, or within 2 points of it" in result.verdict
    # The worst system leaves before the end: later batches ask about the others only.
    last = [ask.system for ask in work.session.asks if ask.batch == len(work.session.batches) - 1]
    assert set(last) == {"a", "b"}


def test_a_skip_in_a_contest_makes_nobody_better(tmp_path):
    rows, *_ = outputs(60, quality={"a": 0.9, "b": 0.3})
    with begun(tmp_path, rows, "best") as work:
        for ask in work.next(40):
            work.answer(ask.number, None, reader="1")
        where = work.standing()
    assert where.winner is None
    assert (where.best.log_near <= 0).all()


def test_the_budget_of_a_difference_counts_labels_and_not_items(tmp_path):
    rows, truth, _ = outputs(100, quality={"a": 0.7, "b": 0.69})
    with begun(tmp_path, rows, "difference", budget=30) as work:
        result = run(work, truth)
    assert (result.asked, result.stop) == (30, "budget")


@pytest.mark.parametrize(
    ("judges", "labels", "answers"),
    [
        ((1, 0), (), (0, 1)),
        (("PASS", "FAIL"), (), ("FAIL", "PASS")),
        (("yes", "NA"), (), ("no", "yes")),
        (("good", "bad"), ("fail", "pass"), ("fail", "pass")),
        ((True, False), (), (False, True)),
        (("unsafe", "safe"), ("unsafe", "safe"), ("unsafe", "safe")),
    ],
)
def test_people_answer_in_the_words_of_the_table(judges, labels, answers):
    table = {"id": list(range(40)), "gpt": list(judges) * 20, "claude": list(judges) * 20}
    data = read(table, CAPABILITY.door, item="id", judges=("gpt", "claude"), labels=labels)
    assert labelling(data, ScoreQuestion()).classes == answers


def test_labels_that_are_not_pass_and_fail_are_refused():
    table = {"id": [1, 2], "gpt": ["x", "y"]}
    data = read(table, CAPABILITY.door, item="id", judges=("gpt",), labels=("x", "y", "z"))
    with pytest.raises(InputError, match="a word for pass and one for fail"):
        labelling(data, ScoreQuestion())


def test_items_that_lack_an_output_are_left_out_of_a_contest():
    table = {
        "id": [1, 1, 2, 3, 3],
        "system": ["a", "b", "a", "b", "a"],
        "gpt": [1, 0, 1, 1, 0],
    }
    data = read(table, CAPABILITY.door, item="id", system="system", judges=("gpt",))
    task = labelling(data, ScoreQuestion(goal="best"))
    assert task.rows.tolist() == [[0, 1], [4, 3]]


def test_preferences_and_criteria_are_refused():
    pairs = {"a": ["x", "x"], "b": ["y", "y"], "gpt": ["a", "b"]}
    data = read(pairs, CAPABILITY.door, systems=("a", "b"), judges=("gpt",))
    with pytest.raises(InputError, match="preferences, --criterion"):
        labelling(data, ScoreQuestion())
