import csv

import numpy as np

from tallystick.results import Unknown
from tallystick.table import Tally, read
from tallystick.table.panel import Panel
from tallystick.verbs.judge import CAPABILITY, evaluate
from tallystick.verbs.judge.answer import item_columns
from tallystick.verbs.judge.label_free import support_by_shares


def fooled(n=1200, labels=100, rng=2):
    """Six judges who are all fooled on a third of the items: a 4-of-6 majority is often wrong."""
    draw = np.random.default_rng(rng)
    truth = draw.integers(0, 2, n)
    trap = draw.random(n) < 1 / 3
    votes = {}
    for j in range(6):
        right = draw.random(n) < np.where(trap, 0.3, 0.9)
        votes[f"j{j}"] = np.where(right, truth, 1 - truth).tolist()
    drawn = set(draw.permutation(n)[:labels].tolist())
    gold = [int(truth[i]) if i in drawn else None for i in range(n)]
    return {**votes, "gold": gold}, truth


def stated_and_right(labels, rng):
    table, truth = fooled(labels=labels, rng=rng)
    judges = tuple(one for one in table if one != "gold")
    data = read(table, CAPABILITY.door, judges=judges, truth="gold")
    columns = item_columns(evaluate(data), data)
    name = "probability" if "probability" in columns else "support"
    open_rows = np.array([value is None for value in table["gold"]])
    right = np.array(columns["consensus"]) == truth
    return np.array(columns[name])[open_rows], right[open_rows], name


def test_with_labels_probabilities_are_calibrated_where_a_model_would_say_one():
    stated, right, name = stated_and_right(100, 2)
    assert name == "probability"
    assert abs(stated.mean() - right.mean()) < 0.06
    sure = stated > 0.9
    assert not sure.any() or right[sure].mean() > 0.8
    assert stated.max() <= 0.995


def test_the_calibration_error_is_reported_with_its_noise():
    result = evaluate(fooled()[0], truth="gold")
    check = result.calibration
    assert check.n_labels == 100
    assert 0 <= check.error < 0.2
    assert 0 < check.noise_floor < 0.2
    body = result.to_dict()["calibration"]
    assert set(body) == {"error", "noise_floor", "n_labels"}


def test_labels_that_were_chosen_calibrate_nothing():
    table, truth = fooled(labels=0)
    votes = np.array(table["j0"])
    chosen = np.flatnonzero(votes == 1)[:80].tolist()
    table["gold"] = [int(truth[i]) if i in set(chosen) else None for i in range(len(truth))]
    result = evaluate(table, truth="gold")
    assert isinstance(result.calibration, Unknown)
    assert "support" in result.learnt


def test_two_judges_have_a_support_from_their_shares():
    panel = Panel.of(Tally.of({"a": [0, 1, 0], "b": [0, 0, None]}))
    found = support_by_shares(panel)
    assert sorted(map(tuple, found.support.tolist())) == [(0.5, 0.5), (1.0, 0.0), (1.0, 0.0)]


def test_labelled_rows_keep_their_label(tmp_path):
    table, _ = fooled(n=300, labels=60)
    path = tmp_path / "votes.csv"
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(table)
        rows = zip(*table.values(), strict=True)
        writer.writerows([["" if cell is None else cell for cell in row] for row in rows])
    with read(str(path), CAPABILITY.door, truth="gold") as data:
        columns = item_columns(evaluate(data), data)
    for gold, label, p, order in zip(
        table["gold"],
        columns["consensus"],
        columns["probability"],
        columns["label_next"],
        strict=True,
    ):
        if gold is not None:
            assert (str(label), p, order) == (str(gold), 1.0, None)
        else:
            assert order is not None
