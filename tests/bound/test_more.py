import numpy as np
import pytest

from tallystick import bound
from tallystick.errors import InputError
from tallystick.papers.frechet_bounds import noise_aware_weights
from tallystick.papers.frechet_bounds.dual import joint_event
from tallystick.table import Tally
from tallystick.verbs.bound.question import spam

WEAK = ["links", "words", "sender", "caps"]


def scored(n=1500, seed=3):
    data = spam(n, rng=seed)
    draw = np.random.default_rng(seed)
    data["score"] = np.clip(
        0.3 + 0.4 * np.asarray(data.pop("classifier")) + draw.normal(0, 0.1, n), 0, 1
    )
    return data


def test_a_sweep_agrees_with_single_predictions_and_its_bands_are_wider():
    data = scored()
    alone = {"label_models": ("dawid-skene",), "fitting": bound.Fitting(family=False, refits=0)}
    cut = {"score": bound.edges_of([0.3, 0.5, 0.7])}
    swept = bound.sweep(Tally.of(data, cut=cut), score="score", weak=WEAK, **alone)
    for one in swept.bounds:
        plain = {
            **{name: data[name] for name in WEAK},
            "h": (data["score"] >= one.threshold).astype(int),
        }
        [single] = bound.bound(Tally.of(plain), prediction="h", **alone).bounds
        assert one.plugin_lower == pytest.approx(single.plugin_lower)
        assert one.plugin_upper == pytest.approx(single.plugin_upper)
        assert one.independent_estimate == pytest.approx(single.independent_estimate)
        assert one.lower == pytest.approx(single.lower, abs=0.01)
        assert one.high - one.low > single.high - single.low - 0.005
    assert [f.kind for f in swept.figures()] == ["bands", "forest"]


def test_a_sweep_names_what_it_rests_on_as_one_prediction_does():
    data = scored()
    data["truth"] = [int(label) if i < 200 else None for i, label in enumerate(data["links"])]
    data["h"] = [int(value >= 0.5) for value in data["score"]]
    asked = {
        "weak": WEAK,
        "truth": "truth",
        "target": bound.BoundTarget(delta=0.05),
        "label_models": ("dawid-skene",),
    }
    swept = bound.sweep(
        Tally.of(data, cut={"score": bound.edges_of([0.5])}), score="score", **asked
    )
    del data["score"]
    single = bound.bound(Tally.of(data), prediction="h", **asked)
    assert swept.assumptions == single.assumptions
    assert "the labelled rows are a random sample of the rows" in swept.assumptions
    # 200 labels decide both, and neither verdict needs the label model or its delta.
    assert "200 random labels" in swept.verdict
    assert "200 random labels" in single.verdict


def test_a_sweep_of_the_other_class_mirrors_score_and_votes():
    data = scored()
    cut = {"score": bound.edges_of([0.5])}
    straight = bound.sweep(
        Tally.of(data, cut=cut),
        score="score",
        weak=WEAK,
        label_models=("dawid-skene",),
        target=bound.BoundTarget(metrics=("recall",), positive=1),
    ).bounds[1]
    turned = {name: 1 - np.asarray(data[name]) for name in WEAK} | {"score": data["score"]}
    mirror = bound.sweep(
        Tally.of(turned, cut=cut),
        score="score",
        weak=WEAK,
        label_models=("dawid-skene",),
        target=bound.BoundTarget(metrics=("recall",), positive=0),
    ).bounds[1]
    assert mirror.plugin_lower == pytest.approx(straight.plugin_lower, abs=1e-4)
    assert mirror.plugin_upper == pytest.approx(straight.plugin_upper, abs=1e-4)


def test_scores_outside_the_unit_interval_blank_scores_and_bad_thresholds_are_refused():
    data = scored(100)
    data["score"][3] = 1.2
    with pytest.raises(InputError, match=r"1\.2"):
        Tally.of(data, cut={"score": bound.edges_of([0.5])})
    data["score"][3] = np.nan
    with pytest.raises(InputError, match="NaN"):
        bound.sweep(Tally.of(data, cut={"score": bound.edges_of([0.5])}), score="score", weak=WEAK)
    with pytest.raises(InputError, match="thresholds"):
        bound.edges_of([0.5, 1.5])


def test_paired_differences_are_narrower_than_overlap_and_find_the_better_model():
    data = spam(3000, rng=1)
    draw = np.random.default_rng(1)
    best = np.asarray(data["classifier"])
    data["worse"] = np.where(draw.random(3000) < 0.25, 1 - best, best)
    result = bound.select(Tally.of(data), predictions=["classifier", "worse"], weak=WEAK)
    [pair] = result.pairs
    assert pair.interval.width < pair.by_overlap[1] - pair.by_overlap[0]
    assert pair.interval.high > 0.5 * 0.25 * (2 * 0.85 - 1) > pair.interval.low
    assert result.chosen["label model"] == "classifier"
    assert result.figures()[0].kind == "forest"
    with pytest.raises(InputError, match="two columns"):
        bound.select(Tally.of(data), predictions=["worse"], weak=WEAK)


def test_useless_weak_labels_are_recognised_as_useless():
    data = spam(3000, rng=2)
    draw = np.random.default_rng(2)
    for j in range(2):
        data[f"noise_{j}"] = draw.integers(0, 2, 3000)
    result = bound.choose_weak_labels(
        Tally.of(data),
        prediction="classifier",
        start=["caps"],
        candidates=["links", "words", "noise_0", "noise_1"],
    )
    assert set(result.useless) >= {"noise_0", "noise_1"}
    assert {"links", "words"} <= set(result.chosen)
    assert result.steps[1].width < result.start_bounds[1] - result.start_bounds[0]
    nothing = bound.choose_weak_labels(
        Tally.of(data), prediction="classifier", start=[], candidates=["links", "words", "noise_0"]
    )
    assert nothing.useless == ("noise_0",)


def test_two_separate_tables_bound_an_event_that_neither_shows():
    draw = np.random.default_rng(3)
    z = draw.integers(0, 4, 40_000)
    q, p = draw.uniform(0.1, 0.9, 4), draw.uniform(0.1, 0.9, 4)
    x, y = draw.random(40_000) < q[z], draw.random(40_000) < p[z]
    half = 20_000
    first = Tally.of({"z": z[:half], "x": x[:half].astype(int)})
    second = Tally.of({"z": z[half:], "y": y[half:].astype(int)})
    found = bound.match(first, second, x="x", y="y", shared=["z"], event=[[0, 0], [0, 1]])
    low, high = joint_event(q, p).mean()
    assert (found.lower, found.upper) == pytest.approx((low, high), abs=0.02)
    assert found.lower <= found.independent_estimate <= found.upper
    with pytest.raises(InputError, match="event"):
        bound.match(first, second, x="x", y="y", shared=["z"], event=[[0, 1]])


def test_noise_aware_weights_are_the_posterior_of_each_row():
    table = bound.weak_table(Tally.of(spam(500, rng=1)), weak=WEAK, prediction="classifier")
    model = bound.label_models.dawid_skene(table)
    weights = noise_aware_weights(model.predict, [[1, 1, 1, 1], [0, 0, 0, 0], [-1, -1, -1, -1]])
    assert weights.sum(axis=1) == pytest.approx(1)
    assert weights[0, 1] > 0.9
    assert weights[2] == pytest.approx(model.fit.balance)


def test_an_object_with_predict_proba_is_a_label_model():
    class Foreign:
        def predict_proba(self, votes):
            share = (votes == 1).mean(axis=1)
            return np.column_stack([1 - share, share])

    tally = Tally.of(spam(500, rng=1))
    table = bound.weak_table(tally, weak=WEAK, prediction="classifier")
    model = bound.label_models.given(table, Foreign(), name="foreign")
    result = bound.bound(tally, prediction="classifier", weak=WEAK, label_models=[model])
    assert [one.label_model for one in result.bounds] == ["family of seven", "foreign"]


def test_fewer_weak_labels_are_a_coarser_table_of_the_same_rows():
    table = bound.weak_table(
        Tally.of(spam(500, rng=1, labelled=50)), weak=WEAK, prediction="classifier", truth="truth"
    )
    part = table.only(table.weak[:2])
    assert part.n == table.n
    assert len(part.votes) == 4
    assert part.gold.sum() == 50
    assert bound.label_models.from_labels(part).probabilities(part).sum(axis=1) == pytest.approx(1)


def test_a_known_class_balance_is_kept_by_the_fit():
    table = bound.weak_table(Tally.of(spam(800, rng=1)), weak=WEAK, prediction="classifier")
    assert bound.label_models.dawid_skene(table, balance=[0.6, 0.4]).fit.balance == pytest.approx(
        [0.6, 0.4]
    )
