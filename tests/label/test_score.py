"""Systems that judges have graded: means, differences and grades."""

from __future__ import annotations

import numpy as np
import pytest

from tallystick.errors import InputError
from tallystick.label import begin


def outputs(n: int = 150, seed: int = 2):
    rng = np.random.default_rng(seed)
    quality = {"a": 0.8, "b": 0.55}
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
    return work.result(final=False)


def test_every_system_gets_its_mean(tmp_path):
    rows, truth, _ = outputs()
    roles = {"system": "system", "judges": ("gpt", "claude"), "item": "item"}
    with begin(tmp_path / "s.label", rows, question="score", reading=roles) as work:
        result = run(work, truth)
    assert [one.name for one in result.measures] == ["a", "b"]
    for one, system in zip(result.measures, "ab", strict=True):
        share = truth[np.array(rows["system"]) == system].mean()
        assert share in one.interval
        assert share in one.anytime_interval
    assert result.stop == "precision"
    assert {ask.system for ask in work.session.asks} == {"a", "b"}


def test_two_systems_are_compared_on_the_same_items(tmp_path):
    rows, truth, _ = outputs()
    roles = {"system": "system", "judges": ("gpt", "claude"), "item": "item"}
    with begin(
        tmp_path / "s.label",
        rows,
        question="score",
        reading=roles,
        options={"goal": "difference"},
    ) as work:
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
    with begin(
        tmp_path / "s.label", rows, question="score", reading=roles, options={"scale": (1, 5)}
    ) as work:
        [ask] = work.next(1)
        with pytest.raises(InputError, match="a number from 1 to 5, got 9"):
            work.answer(ask.number, 9, reader="1")
        result = run(work, grades)
    for one, system in zip(result.measures, "ab", strict=True):
        mean = ((grades - 1) / 4)[np.array(rows["system"]) == system].mean()
        assert mean in one.anytime_interval


def test_a_difference_needs_two_systems_and_items(tmp_path):
    rows, _, _ = outputs(20)
    with pytest.raises(InputError, match="compares two systems"):
        begin(
            tmp_path / "s.label",
            {name: rows[name] for name in ("gpt", "claude")},
            question="score",
            reading={"judges": ("gpt", "claude")},
            options={"goal": "difference"},
        )
