"""What a reader is warned of, and what the audit says of the paper's assumptions."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tallystick import bound
from tallystick.table import Tally
from tallystick.verbs.bound.question import spam


def voted(weak, rows, seed, right=0.7):
    """Return rows with so many independent weak labels and a classifier that is right on 85 %."""
    draw = np.random.default_rng(seed)
    truth = draw.integers(0, 2, rows)
    data = {f"w{j}": np.where(draw.random(rows) < right, truth, 1 - truth) for j in range(weak)}
    return data | {"h": np.where(draw.random(rows) < 0.85, truth, 1 - truth)}


def warned(result):
    return any("do not rely on the plug-in" in text for text in result.warnings)


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_twelve_weak_labels_on_a_thousand_rows_collapse_the_plug_in_and_the_warning_fires(seed):
    quick = bound.Fitting(refits=0)
    models = ("dawid-skene",)
    result = bound.bound(
        Tally.of(voted(12, 1000, seed)), prediction="h", label_models=models, fitting=quick
    )
    _, only = result.bounds
    assert warned(result)
    assert only.low < 0.85 < only.high
    # The plug-in is far shorter than what is proved, and shorter than any interval of 1000 rows has
    # a right to be.
    assert only.plugin_upper - only.plugin_lower < 0.6 * (only.upper - only.lower)


@pytest.mark.parametrize(
    ("weak", "rows", "fires"),
    [(4, 1000, False), (6, 5000, False), (8, 500, True), (12, 5000, True)],
)
def test_the_warning_fires_where_patterns_are_rare_and_nowhere_else(weak, rows, fires):
    quick = bound.Fitting(family=False, refits=0)
    result = bound.bound(Tally.of(voted(weak, rows, 5)), prediction="h", fitting=quick)
    assert warned(result) is fires


def test_the_warning_counts_patterns_and_singletons():
    quick = bound.Fitting(family=False, refits=0)
    result = bound.bound(Tally.of(voted(12, 1000, 1)), prediction="h", fitting=quick)
    text = next(text for text in result.warnings if "plug-in" in text)
    patterns = len(np.unique(np.column_stack(list(voted(12, 1000, 1).values())[:12]), axis=0))
    assert f"{patterns:,} patterns on 1,000 rows" in text
    assert f"{100 * result.singleton_share:.1f}\xa0% of the rows" in text


def test_assumption_two_two_is_checked_by_the_mass_of_patterns_that_leave_no_doubt():
    tally = Tally.of(spam(1000, rng=1))
    weak = ("links", "words", "sender", "caps")
    table = bound.weak_table(tally, weak=weak, prediction="classifier")
    p = bound.label_models.dawid_skene(table).probabilities(table)

    def mass(p):
        model = bound.label_models.given(table, p, name="mine")
        result = bound.bound(tally, prediction="classifier", weak=weak, label_models=[model])
        return result.label_models[0].certain_mass

    inner = np.clip(p, 0.01, 0.99)
    assert mass(inner / inner.sum(axis=1, keepdims=True)) == 0
    certain = inner / inner.sum(axis=1, keepdims=True)
    certain[3] = [1, 0]
    certain[7] = [0.0005, 0.9995]
    assert mass(certain) == pytest.approx((table.weight[3] + table.weight[7]) / 1000)


@settings(max_examples=25)
@given(st.integers(0, 10_000), st.integers(1, 4), st.integers(2, 4))
def test_theorem_a1_bounds_the_width_that_evaluate_reports(seed, weak, classes):
    draw = np.random.default_rng(seed)
    rows = 400
    data = {f"w{j}": draw.integers(0, classes, rows) for j in range(weak)}
    data["h"] = np.where(draw.random(rows) < 0.6, data["w0"], draw.integers(0, classes, rows))
    tally = Tally.of(data)
    table = bound.weak_table(tally, weak=[f"w{j}" for j in range(weak)], prediction="h")
    p = draw.dirichlet(np.full(len(table.classes), 0.3), size=len(table.votes))
    model = bound.label_models.given(table, p, name="random")
    alone = bound.Fitting(family=False, refits=0)
    result = bound.bound(tally, prediction="h", label_models=[model], fitting=alone)
    [only] = result.bounds
    assert only.plugin_upper - only.plugin_lower <= result.entropy_width + 1e-12


def test_theorem_a1_is_nothing_where_the_votes_are_the_label():
    data = {"a": [0, 1] * 50, "h": [0, 1, 1, 0] * 25}
    table = bound.weak_table(Tally.of(data), weak=["a"], prediction="h")
    model = bound.label_models.given(table, [[1.0, 0.0], [0.0, 1.0]], name="certain")
    result = bound.bound(Tally.of(data), prediction="h", label_models=[model])
    assert result.entropy_width == 0
    assert result.bounds[1].plugin_lower == result.bounds[1].plugin_upper == 0.5


def test_labels_of_the_rows_decide_a_claim_that_the_bounds_leave_open_and_the_verdict_says_so():
    tally = Tally.of(spam(1500, rng=3, labelled=600))

    def ask(claim, truth="truth"):
        question = bound.BoundTarget(at_least=claim)
        weak = ("links", "words", "sender", "caps")
        return bound.bound(tally, prediction="classifier", weak=weak, truth=truth, target=question)

    decided, blind = ask(0.8), ask(0.8, truth=None)
    assert blind.decision == "undecided"
    assert decided.decision == "decided"
    assert "from 600 random labels" in decided.verdict
    assert "trusts no label model" in decided.verdict
    assert decided.gold[0].interval.low >= 0.8
    assert all(one.method != "robust" for one in decided.bounds)
    assert "the labelled rows are a random sample of the rows" in decided.assumptions
    assert "the labelled rows are a random sample of the rows" not in blind.assumptions
    assert ask(0.95).verdict.startswith("The accuracy of classifier is below 95.0")
    close = ask(0.86)
    assert close.decision == "undecided"
    assert 1 < close.needed.count <= 900  # never more than the rows without a label


def test_a_few_labels_do_not_decide():
    question = bound.BoundTarget(at_least=0.4)
    tally = Tally.of(spam(1500, rng=3, labelled=10))
    result = bound.bound(tally, prediction="classifier", truth="truth", target=question)
    assert "random labels" not in result.verdict
    assert result.gold == ()
    assert result.bounds[0].method == "robust"
    assert any("10 labels are too few to decide by" in text for text in result.warnings)


def test_a_sweep_claims_no_more_than_a_largest_lower_bound():
    data = voted(4, 800, 1)
    data["score"] = 0.2 + 0.6 * data.pop("h")
    result = bound.sweep(Tally.of(data, cut={"score": bound.edges_of([0.5])}), score="score")
    assert result.verdict.startswith(
        "If the weak labels share no errors, the accuracy of score is safest at threshold 0.5"
    )
    assert result.decision == "undecided"


def test_a_metric_that_does_not_exist_says_of_which_class_and_why():
    data = voted(4, 800, 1)
    weak = [f"w{j}" for j in range(4)]
    table = bound.weak_table(Tally.of(data), weak=weak, prediction="h", classes=[0, 1, 2])
    p = np.column_stack(
        [bound.label_models.majority(table).probabilities(table)[:, :2], np.zeros(len(table.votes))]
    )
    model = bound.label_models.given(table, p / p.sum(axis=1, keepdims=True), name="two of three")
    reasons = {
        "macro-precision": "class 2 is never predicted",
        "macro-recall": "class 2 is given no probability",
        "macro-f1": "class 2 is never predicted and given no probability",
    }
    for metric, reason in reasons.items():
        result = bound.bound(
            Tally.of(data),
            prediction="h",
            weak=weak,
            label_models=[model],
            fitting=bound.Fitting(classes=[0, 1, 2]),
            target=bound.BoundTarget(metrics=(metric,)),
        )
        assert reason in result.verdict


def test_labels_that_refute_the_label_model_are_said_and_labels_that_fit_are_not():
    """Weak labels that share half of their errors; then independent ones, on which the model is
    right."""
    draw = np.random.default_rng(4)
    truth = draw.integers(0, 2, 1500)
    shared = draw.random(1500) < 0.25
    table = {
        f"w{j}": np.where(shared | (draw.random(1500) < 0.1), 1 - truth, truth) for j in range(4)
    }
    table |= {"h": np.where(draw.random(1500) < 0.85, truth, 1 - truth)}
    gold = {"gold": [int(y) if i < 200 else None for i, y in enumerate(truth)]}

    def said(data):
        models = ("dawid-skene",)
        result = bound.bound(
            Tally.of(data | gold), prediction="h", truth="gold", label_models=models
        )
        told = any("the labels refute" in text for text in result.warnings)
        assert told is result.label_models[0].refuted
        return told

    assert said(table)
    fine = {f"w{j}": np.where(draw.random(1500) < 0.2, 1 - truth, truth) for j in range(4)}
    assert not said(fine | {"h": table["h"]})
