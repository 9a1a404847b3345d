"""Judges against the people."""

import numpy as np
import pytest

from tallystick.results import Unknown
from tallystick.verbs.score import ScoreQuestion, evaluate
from tallystick.verbs.score.judges import favours, grade_judges
from tests.score.tables import ROLES, drawn, outputs_of

NONE = float("nan")


def test_with_every_label_rates_are_plain_shares_and_kappa_is_cohens():
    grades = [[1], [1], [0], [0], [1], [0]]
    outputs = outputs_of(grades, [1, 1, 1, 0, 0, 0])
    [row] = grade_judges(outputs, ScoreQuestion())
    assert row.tpr.estimate == pytest.approx(2 / 3)
    assert row.tnr.estimate == pytest.approx(2 / 3)
    assert row.kappa.estimate == pytest.approx(1 / 3)
    assert row.bias.estimate == pytest.approx(0.0)
    assert row.n_labels == 6


def test_fair_judges_are_hardly_ever_named():
    named = 0
    for seed in range(40):
        rng = np.random.default_rng(seed)
        truth = (rng.random(180) < 0.5).astype(float)
        grades = np.where(rng.random((180, 3)) < 0.85, truth[:, None], 1 - truth[:, None])
        outputs = outputs_of(grades, truth, np.arange(180) % 3)
        named += bool(favours(outputs, 0.05))
    assert named <= 6


def test_numbers_have_weighted_kappa_and_bias_and_no_rates():
    rng = np.random.default_rng(0)
    human = rng.integers(1, 6, 80)
    gpt = np.clip(human + rng.integers(0, 2, 80), 1, 5)
    table = {"id": range(80), "gpt": gpt, "human": human}
    result = evaluate(table, judges="gpt", truth="human", item="id", scale=(1, 5))
    [row] = result.judges
    assert isinstance(row.tpr.estimate, Unknown)
    assert row.kappa.estimate > 0.7
    assert row.bias.estimate == pytest.approx(float((gpt - human).mean()))


def test_the_weighted_kappa_knows_how_far_apart_grades_are():
    # Grades 1, 2 and 5: to say 5 for 2 is nine times as wrong as to say 2 for 1.
    human = [0.0, 0.25, 1.0] * 6
    near, far = [0.25, 0.25, 1.0] * 6, [0.0, 1.0, 1.0] * 6
    outputs = outputs_of(np.column_stack([near, far]), human, pass_fail=False)
    one, two = (row.kappa.estimate for row in grade_judges(outputs, ScoreQuestion()))

    def kappa(judge):
        x, y = np.array(judge), np.array(human)
        return 1 - ((x - y) ** 2).mean() / ((x[:, None] - y[None, :]) ** 2).mean()

    assert one == pytest.approx(kappa(near))
    assert two == pytest.approx(kappa(far))
    assert one > two


def test_the_judge_that_would_be_enough_is_named():
    rng = np.random.default_rng(4)
    truth = rng.random(600) < 0.6
    table = {
        "id": np.arange(600),
        "sharp": np.where(rng.random(600) < 0.97, truth, ~truth).astype(int),
        "blind": rng.integers(0, 2, 600),
        "human": [int(value) if i < 60 else None for i, value in enumerate(truth)],
    }
    result = evaluate(table, judges=("sharp", "blind"), truth="human", item="id")
    assert result.enough == "sharp"
    wider = {row.name: row.wider for row in result.judges}
    assert wider["blind"] > 1.1 > wider["sharp"]


def test_the_page_lists_judges_by_agreement_and_crowns_one_only_where_it_is_settled():
    rng = np.random.default_rng(5)
    truth = rng.random(800) < 0.5

    def vote(right):
        return np.where(rng.random(800) < right, truth, ~truth).astype(int)

    table = {"id": np.arange(800), "poor": vote(0.6), "good": vote(0.97), "alike": vote(0.96)}
    table["human"] = [int(value) if i < 200 else None for i, value in enumerate(truth)]

    def judges(*names):
        result = evaluate(table, judges=names, truth="human", item="id")
        return next(section for section in result.folds() if section.title == "Judges")

    clear, close = judges("poor", "good"), judges("good", "alike", "poor")
    assert [row["judge"] for row in clear.rows] == ["good", "poor"]
    assert clear.line.startswith("good agrees most with people.")
    assert [row["judge"] for row in close.rows][2] == "poor"
    assert close.line.startswith("Which judge agrees most with people is not settled.")


def test_a_judge_that_never_grades_one_system_is_said():
    table = drawn()
    table["x"] = [
        None if system == "b" else value
        for value, system in zip(table["x"], table["system"], strict=True)
    ]
    result = evaluate(table, **ROLES)
    told = "x never graded b. Do not compare the judges' score there with that of the others."
    assert any(text.startswith(told) for text in result.warnings)
    assert result.decision == "decided"
