"""What labels say of a classifier: every metric, every pair, and what they do not decide."""

from __future__ import annotations

import numpy as np
import pytest

from tallystick import bound, judge
from tallystick.results import Unknown
from tallystick.stats.adverse_ratios import adverse_ratio
from tallystick.stats.few_labels import accuracies
from tallystick.verbs.bound.labels import LabelledRows, macro

# The vector of the methods page: sizes [200, 100, 60, 640], labelled [20, 10, 6, 64], of c
# [18, 5, 3, 2]; consensus by row, prediction by column.
PAGE = LabelledRows(
    sizes=np.array([[640, 100], [60, 200]]),
    gold=np.array([[[62, 2], [5, 5]], [[3, 3], [2, 18]]]),
)


def table(n: int = 1000, *, labelled: int = 60, classes: int = 2, seed: int = 3) -> dict[str, list]:
    """Return three weak labels, two classifiers and the truth of rows drawn at random."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, classes, n)
    made = {}
    for name, right in (("w1", 0.8), ("w2", 0.7), ("w3", 0.7), ("h", 0.9), ("h2", 0.7)):
        wrong = (truth + rng.integers(1, classes, n)) % classes
        made[name] = np.where(rng.random(n) < right, truth, wrong).tolist()
    known = set(rng.choice(n, labelled, replace=False).tolist())
    return made | {"gold": [int(y) if i in known else None for i, y in enumerate(truth)]}


def ask(rows, **options):
    return bound(rows, weak=("w1", "w2", "w3"), truth="gold", **options)


@pytest.mark.parametrize("population", ["these", "new"])
@pytest.mark.parametrize("classes", [2, 4])
def test_accuracy_is_the_answer_of_the_shared_estimator(population, classes):
    rows = table(classes=classes)
    result = ask(rows, prediction="h", population=population)
    codes = np.array([rows[name] for name in ("h", "w1", "w2", "w3")]).T
    truth = np.array([-1 if y is None else y for y in rows["gold"]])
    means = accuracies(codes, truth, population=population).means()
    [gold] = result.gold
    found = (gold.estimate, gold.interval.low, gold.interval.high)
    own = (means.estimate[0], means.interval.low[0], means.interval.high[0])
    assert found == pytest.approx(own, abs=1e-9)
    assert result.population == gold.population == population
    weak = {one.name: one for one in result.weak_labels}
    assert weak["w1"].checked_accuracy == pytest.approx(means.estimate[1], abs=1e-9)


def test_these_rows_while_labels_are_partial_and_new_ones_once_all_are_labelled():
    assert ask(table(), prediction="h").population == "these"
    every = ask(table(400, labelled=400), prediction="h")
    assert every.population == "new"
    assert every.gold[0].interval.width > 0.03
    assert "on new rows like these" in every.verdict
    these = ask(table(400, labelled=400), prediction="h", population="these").gold[0]
    assert these.interval.width == 0


def test_the_verdict_says_what_the_weak_labels_buy():
    told = ask(table(), prediction="h")
    worth = round(told.gold[0].worth)
    assert f"as informative as about {worth} labels alone" in told.verdict
    rng = np.random.default_rng(1)
    rows = table()
    rows |= {name: rng.integers(0, 2, 1000).tolist() for name in ("w1", "w2", "w3")}
    assert "The weak labels add nothing to these labels." in ask(rows, prediction="h").verdict


def test_a_copied_and_a_mute_weak_label_change_nothing():
    rows = table()
    plain = ask(rows, prediction="h").gold
    more = rows | {"w4": rows["w1"], "w5": [None] * 1000}
    weak = ("w1", "w2", "w3", "w4", "w5")
    found = bound(more, weak=weak, truth="gold", prediction="h")
    assert found.gold == plain
    assert found.weak_labels[-1].coverage == 0


@pytest.mark.parametrize("claim", [0.6, 0.8, 0.99])
def test_labels_decide_a_claim_or_say_how_many_would(claim):
    result = ask(table(), prediction="h", at_least=claim)
    low, high = result.gold[0].interval.low, result.gold[0].interval.high
    assert (result.decision == "decided") == (low >= claim or high < claim)
    close = ask(table(), prediction="h", at_least=round(result.gold[0].estimate - 0.03, 3))
    assert close.decision == "undecided"
    assert 60 < 60 + close.needed.count <= 1000
    assert close.verdict.startswith("We cannot tell whether the accuracy of h is at least")


def test_with_labels_a_label_model_is_shown_only_if_it_is_named():
    plain, named = (ask(table(), prediction="h", label_model=m) for m in (None, "majority"))
    assert plain.bounds == ()
    assert plain.gold == named.gold
    assert [one.label_model for one in named.bounds] == ["majority"]
    assert [row["label_model"] for row in named.rows()] == ["none: 60 labels", "majority"]


def test_labels_that_refute_the_label_model_are_said():
    rows = table(labelled=300)

    def upside_down(votes):
        share = np.mean(votes == 0, axis=1)
        return np.column_stack([share, 1 - share])[:, ::-1] * 0.9 + 0.05

    result = ask(rows, prediction="h", label_model=upside_down)
    assert result.label_models[0].refuted
    assert result.rows()[1]["contradicted_by"] == "labels"
    assert any("the labels refute the label model given (p" in text for text in result.warnings)
    assert result.decision == "decided"
    good = ask(rows, prediction="h", label_model="dawid-skene")
    assert not good.label_models[0].refuted


# Precision, recall and F1


def macro_f1(rows):
    parts = [adverse_ratio(*rows.cells(c), measure="f1") for c in range(len(rows.sizes))]
    return parts, macro(parts, rows.together("f1", [one.estimate for one in parts]))


def test_a_macro_average_combines_the_doubts_of_its_classes():
    parts, found = macro_f1(PAGE)
    centre = np.mean([p.estimate for p in parts])
    assert found.estimate == pytest.approx(centre)
    # Never wider than if all classes erred together, never narrower than if each erred alone.
    reach = np.array([p.estimate - p.interval.low for p in parts])
    assert centre - reach.mean() - 1e-9 <= found.interval.low
    assert found.interval.low <= centre - np.hypot(*reach) / 2 + 1e-9


def test_an_interval_of_macro_f1_covers_and_is_narrower_than_the_mean_of_its_classes():
    rng = np.random.default_rng(5)
    n, classes, m = 2000, 5, 100
    truth = rng.integers(0, classes, n)
    h, lead = (
        np.where(rng.random(n) < rate, truth, rng.integers(0, classes, n)) for rate in (0.75, 0.85)
    )
    table = np.zeros((classes, classes), dtype=np.int64)
    np.add.at(table, (h, truth), 1)
    f1 = 2 * np.diag(table) / (table.sum(axis=0) + table.sum(axis=1))
    sizes = np.zeros((classes, classes), dtype=np.int64)
    np.add.at(sizes, (lead, h), 1)
    held, width = 0, []
    for _ in range(25):
        at = rng.permutation(n)[:m]
        gold = np.zeros((classes, classes, classes), dtype=np.int64)
        np.add.at(gold, (lead[at], h[at], truth[at]), 1)
        _, found = macro_f1(LabelledRows(sizes=sizes, gold=gold))
        held += f1.mean() in found.interval
        width.append(found.interval.width)
    assert held >= 20  # P(Binomial(25, .95) < 20) is 1e-3
    assert np.mean(width) < 0.16  # the mean of the classes' widths is .22


def test_precision_is_the_accuracy_of_a_column_that_is_silent_elsewhere():
    rows = table(labelled=80)
    alone = dict(rows, only=[1 if vote == 1 else None for vote in rows["h"]])
    [found] = ask(rows, prediction="h", metrics="precision", positive=1).gold
    judged = judge(alone, judges=("only", "w1", "w2", "w3"), truth="gold").judges[0]
    assert found.estimate == pytest.approx(judged.accuracy, abs=1e-9)
    assert tuple(found.interval) == pytest.approx(tuple(judged.interval), abs=1e-9)


def test_every_metric_has_one_interval_from_labels():
    metrics = ("accuracy", "precision", "recall", "f1", "macro-f1")
    result = ask(table(), prediction="h", metrics=metrics, positive=1)
    assert [one.metric for one in result.gold] == list(metrics)
    assert all(one.labels == 60 for one in result.gold)
    assert all(one.interval.low < one.estimate < one.interval.high for one in result.gold)


# Several classifiers


def test_a_close_pair_is_left_open_and_its_forecast_is_that_of_the_pair():
    rows = table(labelled=60)
    rows["h3"] = [1 - v if i % 50 == 0 else v for i, v in enumerate(rows["h"])]
    result = ask(rows, prediction=("h", "h2", "h3"))
    by = {frozenset((pair.a, pair.b)): pair.better for pair in result.pairs}
    assert by[frozenset(("h", "h3"))] is None
    assert by[frozenset(("h", "h2"))] == "h"
    assert result.decision == "undecided"
    assert result.verdict.startswith("We cannot tell which classifier is the most accurate")
    assert "Less accurate: h2" in result.verdict
    assert result.needed.count is None or result.needed.count > 0


# A score


def test_a_threshold_is_a_prediction_and_the_auc_comes_from_labelled_scores():
    rows = table()
    rows["p_1"] = [0.2 + 0.6 * v for v in rows["h"]]
    plain, cut = ask(rows, prediction="h"), ask(rows, score="p_1")
    assert cut.gold[0].interval == plain.gold[0].interval
    assert (cut.gold[0].threshold, cut.gold[1].metric) == (0.5, "auc")
    assert cut.gold[1].interval.low < 0.9 < cut.gold[1].interval.high
    assert isinstance(cut.gold[1].worth, Unknown)
    many = ask(rows, score="p_1", thresholds="0.1,0.5")
    assert [one.threshold for one in many.gold] == [0.1, 0.5, None]
    assert many.gold[1].interval == plain.gold[0].interval
    assert many.verdict.startswith("The accuracy of p_1 is safest at threshold 0.5: between")


# Labels that were not drawn at random


CHOSEN = {
    "one prediction": lambda h, w, rng: (h == 1) & (rng.random(len(h)) < 0.25),
    "agreement": lambda h, w, rng: (h == w) & (rng.random(len(h)) < 0.2),
    "disagreement": lambda h, w, rng: (h != w) & (rng.random(len(h)) < 0.25),
}


@pytest.mark.parametrize("how", CHOSEN)
def test_labels_chosen_by_what_the_columns_say_decide_nothing(how: str) -> None:
    rows = table(labelled=1000)
    keep = CHOSEN[how](np.array(rows["h"]), np.array(rows["w1"]), np.random.default_rng(3))
    rows["gold"] = [y if known else None for y, known in zip(rows["gold"], keep, strict=True)]
    with pytest.warns(UserWarning, match="not drawn at random"):
        result = ask(rows, prediction=("h", "h2"))
    assert result.decision == "undecided"
    assert result.verdict.startswith("The labels decide nothing")
    assert "were not drawn at random" in result.warnings[0]
    assert "drawn at random" in str(result.needed)
    assert all(pair.better is None for pair in result.pairs)
