import numpy as np
import pytest

from tallystick.stats.agreement import (
    cohen_kappa,
    fleiss_kappa,
    gwet_ac1,
    krippendorff_alpha,
    mean_bias,
    raw_agreement,
)
from tallystick.table import Tally
from tallystick.table.panel import Panel
from tallystick.verbs.judge import evaluate
from tallystick.verbs.judge.agreement import grades_of, panel_agreement

RATERS = ["000", "001", "111", "111", "000", "101", "222", "221", "000", "111", "010", "222"]


def table():
    return {name: [int(row[j]) for row in RATERS] for j, name in enumerate("abc")}


def test_the_printed_vectors_of_the_methods_page_come_out_of_evaluate():
    found = evaluate(Tally.of(table())).agreement
    printed = {
        "fleiss_kappa": (0.6571, 0.2574, 0.9964),
        "gwet_ac1": (0.6712, 0.3283, 0.9805),
        "krippendorff_alpha": (0.6667, 0.2772, 0.9958),
    }
    for name, numbers in printed.items():
        share = found.between[name]
        assert (share.estimate, *share.interval) == pytest.approx(numbers, abs=5e-5), name
    pair = found.pairs[0]
    assert (pair.a, pair.b) == ("a", "b")
    assert (pair.kappa.estimate, *pair.kappa.interval) == pytest.approx(
        (0.7447, 0.2148, 1), abs=5e-5
    )


def test_patterns_merged_by_their_label_counts_give_the_same_numbers():
    draw = np.random.default_rng(1)
    codes = draw.integers(-1, 3, (400, 5))
    votes = {
        f"j{j}": [None if v < 0 else int(v) for v in codes[:, j]] for j in range(codes.shape[1])
    }
    found = panel_agreement(Panel.of(Tally.of(votes)), alpha=0.05).between
    for name, function in (
        ("raw", raw_agreement),
        ("fleiss_kappa", fleiss_kappa),
        ("krippendorff_alpha", krippendorff_alpha),
        ("gwet_ac1", gwet_ac1),
    ):
        direct = function(codes, n_labels=3)
        assert found[name].estimate == pytest.approx(direct.estimate), name
        assert tuple(found[name].interval) == pytest.approx(tuple(direct.interval)), name


def test_grades_get_weighted_kappa_and_bias_against_the_truth():
    draw = np.random.default_rng(2)
    truth = draw.integers(1, 6, 200)
    kind = np.clip(truth + (draw.random(200) < 0.4), 1, 5)
    votes = {"kind": kind.tolist(), "same": truth.tolist(), "gold": truth.tolist()}
    first = evaluate(votes, truth="gold").agreement.with_truth[0]
    codes = np.column_stack((kind, truth)) - 1
    assert first.weighted_kappa.estimate == pytest.approx(
        cohen_kappa(codes, weights="quadratic", n_labels=5).estimate
    )
    assert first.bias.estimate == pytest.approx(mean_bias(codes, n_labels=5).estimate)
    assert first.bias.interval.low > 0.2


@pytest.mark.parametrize("write", [int, str])
def test_numbers_are_grades_if_votes_that_differ_are_near(write):
    draw = np.random.default_rng(5)
    truth = draw.integers(1, 11, 300)
    wrong = draw.random((2, 300)) < 0.4
    near = np.clip(truth + draw.choice([-1, 1], (2, 300)), 1, 10)
    for wide, graded in ((near, True), (draw.integers(1, 11, (2, 300)), False)):
        votes = np.where(wrong, wide, truth).tolist()
        panel = Panel.of(
            Tally.of({k: list(map(write, v)) for k, v in zip("ab", votes, strict=True)})
        )
        assert grades_of(panel) == (tuple(range(1, 11)) if graded else None)
    assert grades_of(Panel.of(Tally.of({"a": [True, False, 2], "b": [2, 2, 2]}))) is None


def test_kappa_of_a_rare_label_comes_with_a_warning():
    votes = {name: [0] * 60 for name in "abc"}
    votes["a"] = [0] * 59 + [1]
    assert "hardly determined" in evaluate(Tally.of(votes), judges=tuple("abc")).agreement.note


def test_weights_that_are_not_items_have_no_agreement():
    votes = Tally.of({"a": [0, 1], "b": [0, 1], "w": [0.5, 1.5]}, columns=["a", "b"], weight="w")
    assert panel_agreement(Panel.of(votes), alpha=0.05) is None
