"""A truth that is partly blank."""

import itertools

import numpy as np
import pytest

from tallystick.stats.few_labels import accuracies
from tallystick.stats.pairs import Disagreements, pairs_whatever_the_blanks
from tallystick.verbs.compare import evaluate


def answers(n, seed=0, labels="abc"):
    rng = np.random.default_rng(seed)
    truth = rng.choice(list(labels), n)
    models = {
        name: np.where(rng.random(n) < skill, truth, rng.choice(list(labels), n)).tolist()
        for name, skill in (("old", 0.6), ("new", 0.75), ("other", 0.5))
    }
    return truth, models


def partly(truth, keep):
    return [t if k else None for t, k in zip(truth.tolist(), keep, strict=True)]


@pytest.mark.parametrize("population", [None, "these", "new"])
def test_scores_and_differences_are_those_of_the_shared_estimator(population):
    truth, models = answers(400, seed=2)
    keep = np.random.default_rng(0).random(400) < 0.2
    found = evaluate({"gold": partly(truth, keep), **models}, truth="gold", population=population)
    codes = np.stack([np.searchsorted(list("abc"), column) for column in models.values()], axis=1)
    gold = np.where(keep, np.searchsorted(list("abc"), truth), -1)
    fit = accuracies(codes, gold, population=population or "these")
    means, names = fit.means(), list(models)
    assert found.population == (population or "these")
    assert found.n_labels == keep.sum()
    for row in found.models:
        j = names.index(row.name)
        assert row.score == pytest.approx(means.estimate[j], abs=1e-9)
        assert tuple(row.interval) == pytest.approx(tuple(means.interval[j]), abs=1e-9)
    for pair in found.pairs:
        own = fit.difference(names.index(pair.a), names.index(pair.b))
        assert pair.difference == pytest.approx(own.estimate[0], abs=1e-9)
        assert tuple(pair.interval) == pytest.approx(tuple(own.interval[0]), abs=1e-9)


def test_labels_on_all_disagreements_determine_the_difference():
    truth, models = answers(300)
    pair = {name: models[name] for name in ("old", "new")}
    apart = np.array(pair["old"]) != np.array(pair["new"])
    full = evaluate({"gold": truth.tolist(), **pair}, truth="gold")
    table = {"gold": partly(truth, apart), **pair}
    some = evaluate(table, truth="gold")
    row = some.pairs[0]
    assert row.difference == pytest.approx(full.pairs[0].difference)
    assert row.interval.width == 0
    assert some.decision == "decided"
    assert not some.warnings
    # On new items they are as good as a full truth.
    new = evaluate(table, truth="gold", population="new").pairs[0]
    assert tuple(new.interval) == pytest.approx(tuple(full.pairs[0].interval))
    assert new.p_value == pytest.approx(full.pairs[0].p_value)


def test_labels_on_some_disagreements_decide_only_what_is_certain():
    truth, models = answers(600, seed=4)
    pair = {name: models[name] for name in ("old", "new")}
    apart = np.flatnonzero(np.array(pair["old"]) != np.array(pair["new"]))
    keep = np.zeros(600, bool)
    keep[np.random.default_rng(0).permutation(apart)[: len(apart) // 2]] = True
    found = evaluate({"gold": partly(truth, keep), **pair}, truth="gold")
    assert found.decision == "undecided"
    assert "so nothing is assumed of the blanks" in found.warnings[0]
    assert found.needed.of == "labels on items where old and new disagree"
    keep[apart[: len(apart) // 2 + found.needed.count + 30]] = True
    more = evaluate({"gold": partly(truth, keep), **pair}, truth="gold")
    assert more.decision == "decided"
    true = full_difference(truth, pair)
    assert more.pairs[0].interval.low <= true <= more.pairs[0].interval.high


def full_difference(truth, pair):
    right = [np.mean(np.array(pair[name]) == truth) for name in ("new", "old")]
    return right[0] - right[1]


def counts(items, apart, labelled, first_only, second_only):
    return Disagreements(
        items, *(np.array([float(x)]) for x in (apart, labelled, first_only, second_only))
    )


@pytest.mark.parametrize("new", [False, True])
def test_the_range_holds_for_every_filling_of_the_blanks(new):
    found = pairs_whatever_the_blanks(counts(40, 9, 5, 4, 1), alpha=0.05, new=new, certified=True)
    for to_first, to_second in itertools.product(range(5), repeat=2):
        if to_first + to_second <= 4:
            whole = pairs_whatever_the_blanks(
                counts(40, 9, 9, 4 + to_first, 1 + to_second), alpha=0.05, new=new, certified=True
            )
            assert found.intervals.low[0] <= whole.intervals.low[0] + 1e-9
            assert found.intervals.high[0] >= whole.intervals.high[0] - 1e-9
            assert found.p_value[0] >= whole.p_value[0] or new


def test_counts_of_pairs_are_those_of_a_loop():
    truth, models = answers(120, seed=3)
    known = np.random.default_rng(1).random(120) < 0.5
    columns = [np.array(column) for column in models.values()]
    codes = np.stack([np.searchsorted(list("abc"), column) for column in columns], axis=1)
    gold = np.where(known, np.searchsorted(list("abc"), truth), -1)
    found = Disagreements.of(codes, gold)
    for i, (x, y) in enumerate(itertools.combinations(columns, 2)):
        assert found.apart[i] == (x != y).sum()
        assert found.labelled[i] == ((x != y) & known).sum()
        assert found.first_only[i] == ((x == truth) & (y != truth) & known).sum()
        assert found.second_only[i] == ((x != truth) & (y == truth) & known).sum()


def test_undecided_names_the_labels_that_would_settle_it():
    truth, models = answers(200, seed=5)
    keep = np.isin(np.arange(200), np.random.default_rng(3).permutation(200)[:20])
    pair = {name: models[name] for name in ("old", "new")}
    result = evaluate({"gold": partly(truth, keep), **pair}, truth="gold")
    assert result.decision == "undecided"
    assert result.needed.count > 0
    apart = np.array(models["old"]) != np.array(models["new"])
    assert sum(result.patterns().columns["label_next"]) == (apart & ~keep).sum()


def test_a_gate_rests_on_the_interval_of_the_labels():
    truth, models = answers(800, seed=6)
    keep = np.random.default_rng(0).random(800) < 0.5
    pair = {name: models[name] for name in ("old", "new")}
    found = evaluate(
        {"gold": partly(truth, keep), **pair}, truth="gold", gates=("new >= old", "new >= old + .5")
    )
    assert [gate.passed for gate in found.gates] == [True, False]
    assert found.gates[0].estimate == pytest.approx(found.pairs[0].difference)


def test_a_blank_answer_that_is_never_true_is_wrong_with_few_labels_too():
    truth, models = answers(300, seed=7)
    new = [None if i % 10 == 0 else a for i, a in enumerate(models["new"])]
    keep = np.random.default_rng(2).random(300) < 0.4
    table = {"gold": partly(truth, keep), "old": models["old"], "new": new}
    found = evaluate(table, truth="gold", never_true=[""])
    assert (found.n_items, found.left_out) == (300, 0)
    assert evaluate(table, truth="gold").n_items == 270
