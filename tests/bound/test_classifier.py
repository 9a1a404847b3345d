import numpy as np
import pytest

from tallystick import attach, bound
from tallystick.errors import InputError, NotIdentifiable
from tallystick.results import Interval, Unknown
from tallystick.table import Tally
from tallystick.verbs.bound.question import spam

WEAK = ("links", "words", "sender", "caps")
DAWID_SKENE = ("dawid-skene",)


def under(result, name):
    """Return the bounds under one label model; the robust range comes before them."""
    return [b for b in result.bounds if b.label_model == name]


def rows(n=1500, **more):
    return spam(n, rng=3, **more)


def test_the_accuracy_lies_inside_and_the_verdict_says_what_it_rests_on():
    result = bound.bound(Tally.of(rows()), prediction="classifier", label_models=DAWID_SKENE)
    robust, only = result.bounds
    assert robust.method == "robust"
    assert robust.low < only.low
    assert only.low < 0.85 < only.high
    assert only.low <= only.lower <= only.independent_estimate <= only.upper <= only.high
    assert "If the weak labels err independently" in result.verdict
    assert result.to_dict()["bounds"][1]["lower_interval"] == list(only.lower_interval)


def test_the_same_seed_gives_the_same_bytes():
    tally = Tally.of(rows())
    first, second = (bound.bound(tally, prediction="classifier", rng=5).to_dict() for _ in range(2))
    assert first == second


def test_several_label_models_stand_side_by_side_each_audited():
    models = ("dawid-skene", "triplet", "majority")
    result = bound.bound(Tally.of(rows()), prediction="classifier", label_models=models)
    assert [b.label_model for b in result.bounds] == ["family of seven", *models]
    assert [m.name for m in result.label_models] == list(models)
    assert result.label_models[0].class_balance["1"] == pytest.approx(0.4, abs=0.05)
    assert result.label_models[0].weak_accuracy["links"] == pytest.approx(0.85, abs=0.05)
    assert any("taken for known" in text for text in result.warnings)


def test_labels_rectify_test_and_estimate():
    tally = Tally.of(rows(labelled=200))
    result = bound.bound(
        tally, prediction="classifier", truth="truth", label_models=("dawid-skene", "labels")
    )
    assert all(b.lower_interval.guarantee == "approximate" for b in result.bounds)
    assert result.label_models[0].calibration_p > 0.01
    assert not result.label_models[0].refuted
    [estimate] = result.gold  # one interval, whatever label models are named
    assert 0.85 in estimate.interval
    assert estimate.labels == 200


def test_a_wrong_label_model_is_refuted_by_labels():
    tally = Tally.of(rows(labelled=300))
    table = bound.weak_table(tally, weak=WEAK, prediction="classifier", truth="truth")
    upside_down = bound.label_models.dawid_skene(table).probabilities(table)[:, ::-1]
    wrong = bound.label_models.given(table, upside_down, name="upside down")
    result = bound.bound(
        tally, prediction="classifier", weak=WEAK, truth="truth", label_models=[wrong]
    )
    assert result.label_models[0].calibration_p == pytest.approx(2 / 500)  # the least there is
    assert result.label_models[0].refuted
    assert result.label_models[0].calibration_gap > 0.3
    assert result.bounds[0].low < 0.85 < result.bounds[0].high  # rectified


def test_votes_alone_decide_no_claim_and_a_claim_has_its_breakdown():
    tally = Tally.of(rows())

    def ask(claim, **more):
        question = bound.BoundTarget(at_least=claim, **more)
        return bound.bound(
            tally, prediction="classifier", label_models=DAWID_SKENE, target=question
        )

    # All of seven label models exclude less than 30 %: that was called proved. Errors that the weak
    # labels share would show in none of them.
    agreed = ask(0.3)
    assert agreed.bounds[0].low > 0.3
    assert agreed.decision == "undecided"
    named = ask(0.6)
    assert named.bounds[1].low > 0.6 > named.bounds[0].low
    assert named.decision == "undecided"
    assert named.needed.count == 20
    assert named.breakdown_delta == pytest.approx(named.bounds[1].low - 0.6)
    assert named.breakdown.in_every_pattern >= named.breakdown_delta
    assert 0 < named.label_model_distance < 0.2
    open_ = ask(0.8)
    assert open_.decision == "undecided"
    assert open_.breakdown_delta == 0
    ratio = ask(0.4, metrics=("f1",))
    assert 0 < ratio.breakdown_delta < 1
    assert isinstance(ratio.breakdown.in_every_pattern, Unknown)
    assert isinstance(bound.bound(tally, prediction="classifier").breakdown_delta, Unknown)


@pytest.mark.parametrize("metric", ["accuracy", "f1"])
def test_the_breakdown_is_the_whole_error_whatever_delta_the_bounds_allow_for(metric):
    tally = Tally.of(rows())

    def ask(delta):
        question = bound.BoundTarget(metrics=(metric,), at_least=0.4, delta=delta)
        return bound.bound(
            tally, prediction="classifier", label_models=DAWID_SKENE, target=question
        )

    without, within = ask(0.0), ask(0.05)
    assert within.breakdown == without.breakdown
    assert within.bounds[1].low < without.bounds[1].low
    assert ask(0.99).breakdown == without.breakdown  # the low end is clipped at 0 there


def test_one_label_is_refused_in_words():
    with pytest.raises(InputError, match=r"'truth' has 1 label.*leave it out"):
        bound.bound(Tally.of(spam(600, rng=0, labelled=1)), prediction="classifier", truth="truth")


def test_ends_that_few_labels_make_cross_are_not_shown_as_estimates():
    crossed = 0
    for seed in range(12):
        question = bound.BoundTarget(metrics=("accuracy", "risk"), cost=1 - np.eye(2))
        tally = Tally.of(spam(600, rng=seed, labelled=2))
        result = bound.bound(tally, prediction="classifier", truth="truth", target=question)
        for one in result.bounds:
            assert one.low <= one.high
            if isinstance(one.lower, Unknown):
                assert isinstance(one.upper, Unknown)
                assert "cross" in one.lower.reason
                crossed += 1
            else:
                assert one.low <= one.lower <= one.upper <= one.high
        assert "cross" in str(result) or not any(
            isinstance(one.lower, Unknown) for one in result.bounds
        )
    assert crossed > 0


def test_risk_is_bounded_by_its_cost_matrix():
    question = bound.BoundTarget(metrics=("risk", "accuracy"), cost=[[0, 5], [1, 0]])
    result = bound.bound(Tally.of(rows()), prediction="classifier", target=question)
    risk = result.bounds[0]
    assert risk.low < 0.4 * 0.15 * 5 + 0.6 * 0.15 < risk.high
    swapped = bound.BoundTarget(metrics=("risk",), cost=1 - np.eye(2))
    error = bound.bound(Tally.of(rows()), prediction="classifier", target=swapped).bounds[0]
    assert 1 - error.upper == pytest.approx(result.bounds[1].lower, abs=0.02)


def test_a_label_model_fitted_on_other_rows_has_its_own_error_in_the_interval():
    other = bound.weak_table(Tally.of(spam(400, rng=9)), weak=WEAK, prediction="classifier")
    few = bound.label_models.dawid_skene(other)
    tally = Tally.of(rows())
    wide = bound.bound(tally, prediction="classifier", weak=WEAK, label_models=[few]).bounds[1]
    known = bound.label_models.given(
        bound.weak_table(tally, weak=WEAK, prediction="classifier"), few.predict, name="known"
    )
    narrow = bound.bound(tally, prediction="classifier", weak=WEAK, label_models=[known]).bounds[1]
    assert wide.high - wide.low > narrow.high - narrow.low


def test_labels_of_other_rows_may_show_patterns_that_these_rows_do_not():
    other = bound.weak_table(
        Tally.of(spam(800, rng=8, labelled=800)), weak=WEAK, prediction="classifier", truth="truth"
    )
    oracle = bound.label_models.from_labels(other)
    few = {name: column[:60] for name, column in rows().items()}
    result = bound.bound(Tally.of(few), prediction="classifier", weak=WEAK, label_models=[oracle])
    assert result.bounds[1].low < 0.85 < result.bounds[1].high
    assert result.bounds[1].lower_interval.guarantee == "approximate"


def test_items_get_what_the_label_model_says_of_their_votes():
    data = rows(200)
    attached = attach(bound.bound(Tally.of(data), prediction="classifier"), data)
    assert attached["p_0"] + attached["p_1"] == pytest.approx(1)
    assert ((attached["label_from_votes"] == 1) == (attached["p_1"] > 0.5)).all()


def test_figures_name_their_columns():
    result = bound.bound(
        Tally.of(rows()), prediction="classifier", target=bound.BoundTarget(at_least=0.6)
    )
    assert [f.kind for f in result.figures()] == ["forest", "bands", "forest"]


# -- bad input: a clear error, or a stated, wider, still valid answer


def test_patterns_that_the_label_model_does_not_know_widen_the_answer_and_are_stated():
    tally = Tally.of(rows())
    table = bound.weak_table(tally, weak=WEAK, prediction="classifier")
    p = bound.label_models.dawid_skene(table).probabilities(table)
    p[-1] = np.nan
    partly = bound.bound(
        tally,
        prediction="classifier",
        label_models=[bound.label_models.given(table, p, name="partly")],
    )
    assert any("says nothing about" in text for text in partly.warnings)
    assert partly.bounds[0].low < 0.85 < partly.bounds[0].high
    assert partly.label_models[0].unknown_mass > 0


def test_rows_of_probabilities_that_do_not_sum_to_one_are_refused():
    table = bound.weak_table(Tally.of(rows()), weak=WEAK, prediction="classifier")
    p = np.full((len(table.votes), 2), 0.4)
    with pytest.raises(InputError, match=r"sums to 0\.8"):
        bound.label_models.given(table, p).probabilities(table)


def test_a_class_that_is_never_predicted_has_no_precision():
    data = rows()
    data["classifier"] = np.zeros(1500, dtype=int)
    result = bound.bound(
        Tally.of(data),
        prediction="classifier",
        target=bound.BoundTarget(metrics=("precision", "recall")),
    )
    assert isinstance(result.bounds[0].lower, Unknown)
    assert result.decision == "unknowable"
    assert any("never predicted" in text for text in result.warnings)
    assert isinstance(result.bounds[1].lower_interval, Interval)
    assert result.to_dict()["bounds"][0]["lower"] is None


def test_weak_labels_that_all_abstain_are_refused():
    with pytest.raises(InputError, match="abstains on every row"):
        bound.bound(
            Tally.of({"a": [None] * 30, "b": [None] * 30, "h": [0, 1] * 15}), prediction="h"
        )


def test_one_pattern_is_stated_and_the_bounds_are_wide():
    data = {"a": [1] * 100, "b": [1] * 100, "h": [1] * 60 + [0] * 40}
    result = bound.bound(Tally.of(data), prediction="h", label_models=("majority",))
    assert any("one and the same pattern" in text for text in result.warnings)
    with pytest.raises(NotIdentifiable):
        bound.bound(Tally.of(data), prediction="h", label_models=DAWID_SKENE)


def test_too_few_rows_are_refused():
    with pytest.raises(InputError, match="too few"):
        bound.bound(
            Tally.of({"a": [0, 1], "h": [0, 1]}), prediction="h", label_models=("majority",)
        )


def test_a_blank_prediction_is_refused():
    with pytest.raises(InputError, match="blank on 1 row"):
        bound.bound(Tally.of({"a": [0, 1], "h": [0, None]}), prediction="h")


def test_weights_are_refused():
    tally = Tally.of({"a": [0, 1], "h": [0, 1], "w": [0.5, 1.0]}, weight="w")
    with pytest.raises(InputError, match="weights"):
        bound.bound(tally, prediction="h")


def test_votes_that_agree_no_more_than_by_chance_are_refused():
    draw = np.random.default_rng(0)
    data = {name: draw.integers(0, 2, 500) for name in ("a", "b", "c", "d", "h")}
    with pytest.raises(NotIdentifiable, match="no more than by chance"):
        bound.bound(Tally.of(data), prediction="h", label_models=DAWID_SKENE)
    # Without a label model of one's own choice the range is wide instead.
    assert bound.bound(Tally.of(data), prediction="h").decision == "undecided"


def test_the_silence_of_a_rule_for_one_class_is_a_vote():
    draw = np.random.default_rng(1)
    truth = draw.random(2000) < 0.4
    data = {
        f"rule_{j}": [
            1 if fires else None for fires in draw.random(2000) < np.where(truth, 0.5, 0.05)
        ]
        for j in range(3)
    } | {
        f"other_{j}": [
            0 if fires else None for fires in draw.random(2000) < np.where(truth, 0.05, 0.5)
        ]
        for j in range(3)
    }
    data["h"] = np.where(draw.random(2000) < 0.9, truth, ~truth).astype(int).tolist()
    result = bound.bound(Tally.of(data), prediction="h", label_models=("dawid-skene", "triplet"))
    for one in result.bounds:
        assert one.low < 0.9 < one.high
    with pytest.raises(NotIdentifiable, match="one class only"):
        bound.bound(
            Tally.of(data),
            prediction="h",
            label_models=DAWID_SKENE,
            fitting=bound.Fitting(abstain="says nothing"),
        )


def test_a_fit_that_empties_a_class_for_which_rows_vote_is_refused_until_the_balance_is_given():
    draw = np.random.default_rng(0)
    truth = draw.choice(2, 400, p=[0.86, 0.14])
    data = {}
    for c, rules in ((0, 2), (1, 8)):  # keywords that seldom fire, and hardly ever together
        for j in range(rules):
            fires = draw.random(400) < np.where(truth == c, 0.08, 0.004)
            data[f"rule_{c}_{j}"] = [c if fired else None for fired in fires]
    data["h"] = truth
    with pytest.raises(NotIdentifiable, match=r"rows lead to it: give the class balance"):
        bound.bound(Tally.of(data), prediction="h", label_models=DAWID_SKENE)
    given = bound.Fitting(balance=[0.86, 0.14])
    result = bound.bound(Tally.of(data), prediction="h", label_models=DAWID_SKENE, fitting=given)
    assert result.label_models[0].class_balance["1"] > 0.05
    # With labels the label model is not needed, so its refusal is a warning.
    labelled = data | {"y": [int(y) if i < 60 else None for i, y in enumerate(truth)]}
    found = bound.bound(Tally.of(labelled), prediction="h", truth="y", label_models=DAWID_SKENE)
    assert found.decision == "decided"
    assert any("was left out" in text for text in found.warnings)


def test_seventy_three_weak_labels_on_five_hundred_rows_give_a_valid_answer_with_its_warning():
    draw = np.random.default_rng(2)
    truth = draw.random(500) < 0.3
    data = {}
    for j in range(73):
        said = np.where(draw.random(500) < 0.75, truth, ~truth).astype(int)
        data[f"w{j}"] = [
            int(v) if speaks else None
            for v, speaks in zip(said, draw.random(500) < 0.15, strict=True)
        ]
    data["h"] = np.where(draw.random(500) < 0.85, truth, ~truth).astype(int).tolist()
    result = bound.bound(Tally.of(data), prediction="h")
    assert result.bounds[0].low < 0.85 < result.bounds[0].high
    assert any("do not rely on the plug-in" in text for text in result.warnings)
    assert result.singleton_share > 0.9


@pytest.mark.parametrize(
    ("more", "match"),
    [
        ({"metrics": ("risk",)}, "cost"),
        ({"alpha": 2.0}, "alpha"),
        ({"delta": -0.1}, "delta"),
        ({"metrics": ()}, "at least one"),
    ],
)
def test_a_question_that_makes_no_sense_is_refused(more, match):
    with pytest.raises(InputError, match=match):
        bound.BoundTarget(**more)


def test_an_unknown_positive_class_and_label_model_are_refused_by_name():
    tally = Tally.of(rows())
    with pytest.raises(InputError, match="'7'"):
        bound.bound(
            tally, prediction="classifier", target=bound.BoundTarget(metrics=("f1",), positive="7")
        )
    with pytest.raises(InputError, match="snorkle"):
        bound.bound(tally, prediction="classifier", label_models=("snorkle",))
    with pytest.raises(InputError, match="balance"):
        bound.bound(tally, prediction="classifier", fitting=bound.Fitting(balance=[0.5, 0.1]))
