"""The one rule for few labels: its vectors, its laws, what it refuses and what it covers."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from tallystick.stats.few_labels import (
    FewLabels,
    Rows,
    accuracies,
    each_judge,
    fit,
    least_alpha,
    prevalences,
)
from tallystick.stats.few_labels_fit import (
    Fit,
    LabelTable,
    Sort,
    features,
    mean_moments,
    reaches,
    rule,
    solve,
)

PLACE = np.arange(200)
TENTHS = (PLACE % 10 < 7).astype(float)


def first(truth: Any, m: int) -> np.ndarray:
    """Return labels on the first m rows."""
    return np.where(np.arange(len(truth)) < m, truth, np.nan)


def v3(m: int = 40) -> Rows:
    y = TENTHS.copy()
    y[[0, 9, 20]] = 1 - y[[0, 9, 20]]
    return Rows(y=first(y, m), grades=TENTHS[:, None])


def v4() -> Rows:
    three = np.stack([TENTHS, PLACE % 3 > 0, PLACE % 7 < 3], axis=1).astype(float)
    return replace(v3(), grades=three)


def v5() -> Rows:
    y = np.full(40, np.nan)
    y[[35, 30, 16, 37, 12, 24, 33, 21]] = [1, 0.75, 0.5, 1, 0.25, 0.75, 1, 0.5]
    return Rows(y=y, grades=np.arange(40)[:, None] / 39)


def v8() -> Rows:
    i, k = np.tile(np.arange(120), 3), np.arange(120)
    a, b, c = (k % 5) / 4, ((2 * k + 1) % 5) / 4, ((3 * k + 2) % 5) / 4
    y = [
        np.minimum(1, a + 0.25 * (k % 4 == 0)),
        np.maximum(0, b - 0.25 * (k % 3 == 0)),
        np.maximum(0, c - 0.5 * (k % 5 == 1)),
    ]
    return Rows(
        y=np.where(i < 15, np.concatenate(y), np.nan),
        grades=np.concatenate([a, b, c])[:, None],
        system=np.repeat([0, 1, 2], 120),
        item=i,
    )


def v10() -> tuple[np.ndarray, np.ndarray]:
    i = np.arange(150)
    t = i % 2
    votes = [np.where(i % 5 == 0, 1, t), np.where(i % 7 == 1, 1 - t, t), np.where(i % 4 == 3, 0, t)]
    return np.stack(votes, axis=1), np.where(i < 30, t, -1)


def v11() -> Rows:
    g = (PLACE % 5) / 4
    y = np.clip(g + 0.25 * (PLACE % 3 == 0) - 0.25 * (PLACE % 7 == 0), 0, 1)
    return Rows(y=first(y, 24), grades=g[:, None], probability=odds())


def odds() -> np.ndarray:
    return np.where(PLACE % 2 == 0, 0.6, 0.2)  # v = 1 and 3, up to a factor


def raw(found: FewLabels, of: Fit, *, at: int = 0) -> list[float]:
    """Return both ends before rounding, widening and clipping."""
    new = found.population == "new"
    moments = mean_moments(found.design, of, found.alone, new=new)
    sort = Sort(found.pass_fail, of.model, found.design.clustered)
    down, up = (end[at] for end in reaches(moments, rule("mean", moments, 0.05, sort), new=new))
    return [float(moments.estimate[at] - down), float(moments.estimate[at] + up)]


def shown(found: FewLabels, at: int = 0, alpha: float = 0.05) -> list[float]:
    means = found.means(alpha=alpha)
    return [float(means.estimate[at]), *means.interval[at]]


def near(*values: float) -> Any:
    return pytest.approx(list(values), abs=6e-7)


def test_v1_and_v2_labels_alone_are_near_wilson() -> None:
    y = first(np.repeat([1.0, 0.0], [27, 973]), 30)
    found = fit(Rows(y=y, grades=np.ones((1000, 1))), pass_fail=True)
    assert found.model == ("labels",)
    assert raw(found, found.alone) == near(0.746628, 0.976019)
    assert shown(found) == near(0.9, 0.746, 0.977)
    found = fit(Rows(y=first(np.ones(1000), 20), grades=np.ones((1000, 1))), pass_fail=True)
    assert raw(found, found.alone)[:1] == near(0.843275)
    assert shown(found) == near(1, 0.843, 1)


def test_v3_and_v9_one_judge() -> None:
    found = fit(v3(), pass_fail=True)
    assert found.chosen.slope == near(0.352124)
    assert raw(found, found.alone) == near(0.535756, 0.795204)
    assert raw(found, found.chosen) == near(0.583296, 0.755511)  # C1
    assert shown(found) == near(0.675, 0.58, 0.76)
    found = fit(v3(20), pass_fail=True)
    assert found.chosen.slope == near(0.290957)
    assert raw(found, found.alone) == near(0.488464, 0.865218)
    assert raw(found, found.chosen) == near(0.534830, 0.850771)
    assert shown(found) == near(0.7, 0.53, 0.855)


def test_v4_three_judges() -> None:
    found = fit(v4(), pass_fail=True)
    assert found.model == ("judges",)
    consensus, *single = found.chosen.slope
    assert [consensus, *sorted(single)] == near(0.205032, -0.107211, -0.083397, 0.193967)
    assert raw(found, found.chosen) == near(0.574771, 0.759119)
    assert shown(found) == near(0.673966, 0.57, 0.76)


def test_v5_to_v7_grades() -> None:
    found = fit(v5(), pass_fail=False)
    assert found.chosen.slope == near(0.179564)
    assert raw(found, found.alone) == near(0.472726, 0.929541)
    assert raw(found, found.chosen) == near(0.410571, 0.771284)
    assert shown(found) == near(0.617639, 0.404321, 0.777534)

    g = (np.arange(300) % 5) / 4
    y = g.copy()
    y[[0, 6, 12]] += 0.25
    y[[3, 9, 14]] -= 0.25
    found = fit(Rows(y=first(y, 25), grades=g[:, None]), pass_fail=False)
    assert found.chosen.slope == near(0.256021)
    assert raw(found, found.alone) == near(0.369180, 0.627875)
    assert raw(found, found.chosen) == near(0.440404, 0.561926)
    assert shown(found) == near(0.5, 0.440101, 0.562229)

    found = fit(Rows(y=first(np.ones(500), 20), grades=np.ones((500, 1))), pass_fail=False)
    assert shown(found) == near(1, 0.800154, 1)


def test_v8_three_systems_their_differences_and_all_pairs() -> None:
    found = fit(v8(), pass_fail=False)
    assert found.model == ("consensus",) * 3
    assert found.chosen.slope == near(0.313869)
    assert shown(found, 0) == near(0.55, 0.453987, 0.653630)
    assert shown(found, 1) == near(0.433333, 0.337180, 0.529108)
    assert shown(found, 2) == near(0.5, 0.338710, 0.661367)
    pairs = found.difference([0, 0, 1], [1, 2, 2])
    assert pairs.estimate.tolist() == near(0.116667, 0.05, -0.066667)
    assert pairs.interval.low.tolist() == near(0.017774, -0.032919, -0.158026)
    assert pairs.interval.high.tolist() == near(0.231191, 0.154981, 0.017273)
    every = found.pairs(rng=1)
    assert every.method == "max-T"
    assert every.statistic.tolist() == near(2.488601, 1.413256, 1.762834)
    assert (every.adjusted_p >= every.p_value).all()
    assert 2.5 < every.quantile < 2.7  # the page prints the intervals at 2.6
    assert every.interval.low.tolist() == pytest.approx([-0.005482, -0.057345, -0.185348], abs=0.01)
    assert every.interval.high.tolist() == pytest.approx([0.262504, 0.191337, 0.040625], abs=0.01)


def test_v10_accuracy_of_a_judge_among_three() -> None:
    votes, truth = v10()
    found = accuracies(votes, truth)
    assert found.model[0] == "consensus"
    assert raw(found, found.alone) == near(0.764101, 0.971965)
    assert raw(found, found.chosen) == near(0.801550, 0.993982)
    assert shown(found) == near(0.908167, 0.8, 0.98)


def test_v11_and_v12_unequal_probabilities() -> None:
    found = fit(v11(), pass_fail=False)
    assert found.chosen.slope == near(0.284150)
    assert raw(found, found.alone) == near(0.356267, 0.685026)
    assert raw(found, found.chosen) == near(0.448136, 0.599940)
    assert shown(found) == near(0.523997, 0.447454, 0.600622)
    found = fit(replace(v3(), probability=odds()), pass_fail=True)
    assert found.chosen.slope == near(0.358446)
    assert raw(found, found.alone) == near(0.505441, 0.797947)
    assert raw(found, found.chosen) == near(0.619862, 0.820113)
    assert shown(found) == near(0.701610, 0.615, 0.825)


def test_v13_documents_labelled_together() -> None:
    found = fit(replace(v3(), item=PLACE // 5), pass_fail=True)
    assert raw(found, found.alone) == near(0.475450, 0.876127)
    assert raw(found, found.chosen) == near(0.525718, 0.829741)
    assert shown(found) == near(0.675, 0.525, 0.83)


def test_what_is_left_of_documents_is_counted_in_documents_and_more_if_a_large_one_is_missing():
    item = np.repeat(np.arange(10), [1] * 5 + [4] * 5)
    rows = Rows(y=first(np.arange(25) % 2, 5), grades=np.zeros((25, 1)), item=item)
    whole = fit(rows, pass_fail=True).design
    assert whole.fraction.tolist() == [0.5]  # five documents of ten, though five rows of 25
    # Their five rows leave 20 of 25 open: (F11) is (5 (4/25)² + (20/25)²/5)/(1/5 - 1/10).
    assert whole.excess == pytest.approx((5 * 0.16**2 + 0.8**2 / 5) / 0.1)
    some = fit(replace(rows, y=np.where(item % 2 == 0, rows.y, np.nan)), pass_fail=True).design
    part = fit(replace(rows, y=first(np.arange(25) % 2, 6)), pass_fail=True).design
    assert some.fraction.tolist() == [0.3]
    assert part.fraction.tolist() == [6 / 25]  # the sixth is labelled in part


def test_v14_blanks() -> None:
    grades = np.array(v4().grades)
    grades[PLACE % 4 == 1, 1] = np.nan
    grades[50] = np.nan
    found = fit(replace(v4(), grades=grades), pass_fail=True)
    assert raw(found, found.chosen) == near(0.573504, 0.758254)
    assert shown(found) == near(0.673297, 0.57, 0.76)


def test_v15_new_items() -> None:
    found = fit(v3(), pass_fail=True, population="new")
    assert raw(found, found.alone) == near(0.518894, 0.807795)
    assert shown(found) == near(0.675, 0.556982, 0.780744)
    found = fit(v5(), pass_fail=False, population="new")
    assert shown(found) == near(0.617639, 0.364758, 0.806796)


# Laws.


def table(seed: int, *, n: int = 60, judges: int = 3, systems: int = 2) -> Rows:
    """Return a random table of pass/fail labels, with blanks."""
    rng = np.random.default_rng(seed)
    truth = rng.random(n * systems) < 0.7
    grades = np.where(
        rng.random((n * systems, judges)) < 0.8,
        truth[:, None],
        rng.random((n * systems, judges)) < 0.5,
    )
    grades = np.where(rng.random(grades.shape) < 0.1, np.nan, grades)
    item = np.tile(np.arange(n), systems)
    return Rows(
        y=np.where(item < 20, truth, np.nan),
        grades=grades,
        system=np.repeat(np.arange(systems), n),
        item=item,
    )


def everything(found: FewLabels) -> np.ndarray:
    """Return all that a caller may ask for, in one row."""
    means, gap = found.means(), found.difference(0, found.labels.size - 1, alpha=0.1)
    parts = [means.estimate, means.interval.low, means.interval.high, means.labels_only.low]
    parts += [means.labels_worth, gap.estimate, gap.interval.low, gap.interval.high]
    parts += [found.labels_for(0.05)]
    if found.labels.size > 1:
        pairs = found.pairs(rng=3, draws=200)
        parts += [pairs.statistic, pairs.p_value]
    return np.concatenate(parts)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("population", ["these", "new"])
def test_constants_copies_and_the_order_of_judges_change_no_bit(seed: int, population: Any) -> None:
    rows = table(seed)
    grades = np.asarray(rows.grades)
    same = fit(rows, pass_fail=True, population=population)
    blank = np.where(np.arange(len(grades)) % 3 == 0, np.nan, 1.0)
    for changed in (
        grades[:, ::-1],
        np.column_stack([grades[:, 1], grades]),
        np.column_stack([np.ones(len(grades)), grades, blank]),
    ):
        other = fit(replace(rows, grades=changed), pass_fail=True, population=population)
        np.testing.assert_array_equal(everything(same), everything(other))


def test_a_count_is_so_many_rows_written_out() -> None:
    rng = np.random.default_rng(4)
    patterns = table(4, n=30, systems=1)
    times = rng.integers(1, 6, 30)
    long = np.repeat(np.arange(30), times)
    for pass_fail in (True, False):
        counted = fit(replace(patterns, count=times, item=None), pass_fail=pass_fail)
        written = fit(
            Rows(y=np.asarray(patterns.y)[long], grades=np.asarray(patterns.grades)[long]),
            pass_fail=pass_fail,
        )
        np.testing.assert_allclose(everything(counted), everything(written), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("population", ["these", "new"])
def test_accuracies_of_counted_patterns_are_those_of_the_items(population: Any) -> None:
    rng = np.random.default_rng(8)
    truth = rng.integers(0, 3, 25)
    votes = np.where(rng.random((25, 4)) < 0.7, truth[:, None], rng.integers(0, 4, (25, 4)))
    votes = np.where(rng.random(votes.shape) < 0.15, -1, votes)
    truth[12:] = -1
    times = rng.integers(1, 5, 25)
    long = np.repeat(np.arange(25), times)
    counted = accuracies(votes, truth, counts=times, population=population)
    written = accuracies(votes[long], truth[long], population=population)
    assert counted.model == written.model
    np.testing.assert_allclose(everything(counted), everything(written), rtol=0, atol=1e-9)
    for a, b in (
        (counted.means(), written.means()),
        (counted.difference(0, 1), written.difference(0, 1)),
    ):
        np.testing.assert_allclose(a.interval.low, b.interval.low, rtol=0, atol=1e-12)
        np.testing.assert_allclose(a.interval.high, b.interval.high, rtol=0, atol=1e-12)


def test_a_row_that_stands_for_nothing_is_no_row() -> None:
    rows = replace(table(3), classes=np.arange(120) % 3)
    more = Rows(
        y=np.append(np.asarray(rows.y), 1.0),
        grades=np.vstack([np.asarray(rows.grades), [0.0, 1.0, 0.0]]),
        system=np.append(np.asarray(rows.system), 0),
        item=np.append(np.asarray(rows.item), 999),
        classes=np.append(np.asarray(rows.classes), 2),
        count=np.append(np.ones(120), 0),
    )
    np.testing.assert_array_equal(
        everything(fit(rows, pass_fail=True)), everything(fit(more, pass_fail=True))
    )


def test_columns_that_only_forecast_leave_the_others_as_they_are() -> None:
    draw = np.random.default_rng(4)
    truth = draw.integers(0, 3, 300)
    votes = np.where(draw.random((300, 5)) < 0.7, truth[:, None], draw.integers(0, 3, (300, 5)))
    known = np.where(np.arange(300) < 60, truth, -1)
    whole, part = (accuracies(votes, known, columns=at) for at in (None, [3, 1]))
    assert part.means().interval[0] == whole.means().interval[3]
    assert part.difference(0, 1).interval[0] == whole.difference(3, 1).interval[0]
    assert part.pairs(rng=1).first.size == 1


def test_three_times_all_weights_changes_no_bit() -> None:
    rows = table(5)
    weight = np.random.default_rng(1).integers(1, 9, len(np.asarray(rows.y)))
    one, three = (fit(replace(rows, weight=k * weight), pass_fail=True) for k in (1, 3))
    np.testing.assert_array_equal(everything(one), everything(three))
    assert not np.array_equal(everything(one), everything(fit(rows, pass_fail=True)))


def test_the_share_of_a_label_is_the_score_of_its_votes() -> None:
    rows = table(7, systems=1)
    grades, y = np.asarray(rows.grades), np.asarray(rows.y)
    codes = np.where(np.isnan(grades), -1, grades)
    two = prevalences(codes, np.where(np.isnan(y), -1, y), n_classes=2)
    score = fit(replace(rows, system=None, item=None), pass_fail=True)
    np.testing.assert_allclose(everything(two[1]), everything(score), rtol=0, atol=1e-12)
    assert two[0].means().interval.low[0] == pytest.approx(
        1 - score.means().interval.high[0], abs=1e-12
    )


@pytest.mark.parametrize("size", [2, 6])
def test_leaving_out_a_document_is_fitting_without_it(size: int) -> None:
    rng = np.random.default_rng(3)
    truth = (rng.random(360) < 0.6).astype(float)
    grades = np.where(rng.random((360, 1)) < 0.99, truth[:, None], 0.5)
    document = np.arange(360) // size
    rows = Rows(y=first(truth, 180), grades=grades, item=document)
    checked = LabelTable.of(rows, pass_fail=True)
    system, mass = checked.design.system, checked.design.mass
    every, penalties = features(checked.grades, checked.classes, system, mass, 1)
    found = solve(checked.design, checked.labelled, every, penalties[1], 1)
    z = every[:, 0]

    def ridge(at: np.ndarray) -> tuple[float, float, float]:
        centred = z[at] - z[at].mean()
        slope = centred @ truth[at] / (centred @ centred + 4)
        return float(slope), float(truth[at].mean()), float(z[at].mean())

    labelled = np.arange(180)
    centred = z[:180] - z[:180].mean()
    stretch = np.sqrt(1 + 180 * z[:180].mean() ** 2 / (centred @ centred + 4))
    for one in range(180 // size):
        inside, rest = labelled[document[:180] == one], labelled[document[:180] != one]
        slope, mean_y, mean_z = ridge(rest)
        left_out = truth[inside] - mean_y - (z[inside] - mean_z) * slope
        part = left_out.sum() / 180 * (1 - size / 180) * stretch
        assert found.influence[one, 0] == pytest.approx(part, abs=1e-12)


def test_a_level_changes_neither_the_estimate_nor_the_model_and_levels_are_nested() -> None:
    found = fit(table(11), pass_fail=True)
    narrow, wide = found.means(alpha=0.2), found.means(alpha=0.01)
    np.testing.assert_array_equal(narrow.estimate, wide.estimate)
    assert (wide.interval.low <= narrow.interval.low).all()
    assert (wide.interval.high >= narrow.interval.high).all()


def test_everything_labelled_leaves_no_doubt_about_these_items() -> None:
    votes, truth = v10()
    truth = np.arange(150) % 2
    these = accuracies(votes, truth).means()
    np.testing.assert_allclose(these.interval.width, 0)
    np.testing.assert_allclose(these.estimate, (votes == truth[:, None]).mean(axis=0))
    new = accuracies(votes, truth, population="new")
    assert new.model == ("labels",) * 3
    alone = fit(
        Rows(y=votes[:, 0] == truth, grades=np.zeros((150, 0))), pass_fail=True, population="new"
    )
    assert shown(new) == pytest.approx(shown(alone), abs=1e-12)
    gap = accuracies(votes, truth).pairs(rng=0)
    np.testing.assert_allclose(gap.interval.width, 0, atol=1e-12)


def test_a_vote_for_a_class_that_is_never_true_is_wrong() -> None:
    votes, truth = v10()
    votes[1::10, 0] = 7
    assert accuracies(votes, truth).means().estimate[0] < 0.9


def test_forecasts_agree_with_the_interval_they_forecast() -> None:
    found = fit(v3(), pass_fail=True)
    low, high = raw(found, found.chosen)
    assert found.labels_for((high - low) / 2)[0] == pytest.approx(40, rel=1e-6)
    assert found.labels_for(0.01)[0] > found.labels_for(0.05)[0]
    assert found.labels_for(1e-9)[0] <= 200 + 1e-6
    new = fit(v3(), pass_fail=True, population="new")
    assert new.labels_for(1e-6)[0] == np.inf
    three = fit(v8(), pass_fail=False)
    assert 15 < three.forecast_pairs(0, 2)[0] <= 120


def test_systems_labelled_on_different_items_are_compared_by_their_intervals() -> None:
    rows = v8()
    y = np.array(rows.y)
    y[120:135] = np.nan
    y[150:165] = np.asarray(v8().grades)[150:165, 0]
    found = fit(replace(rows, y=y), pass_fail=False)
    pairs = found.pairs(rng=0)
    assert pairs.method == "Holm"
    means = found.means()
    gap = found.difference(0, 1)
    assert gap.estimate[0] == means.estimate[0] - means.estimate[1]
    assert gap.interval.width[0] > max(means.interval.width[:2])


# What it refuses, and the smallest tables.


@pytest.mark.parametrize("pass_fail", [True, False])
@pytest.mark.parametrize("population", ["these", "new"])
@pytest.mark.parametrize("m", [1, 2, 3, 199, 200])
@pytest.mark.parametrize("value", [0.0, 1.0])
def test_the_smallest_tables_have_an_answer(
    pass_fail: bool, population: Any, m: int, value: float
) -> None:
    rows = Rows(y=first(np.full(200, value), m), grades=TENTHS[:, None])
    estimate, low, high = shown(fit(rows, pass_fail=pass_fail, population=population))
    assert estimate == pytest.approx(value, abs=1e-9)
    assert 0 <= low <= high <= 1
    if m == 1:
        assert (low, high) == (
            (0, 1) if population == "new" else pytest.approx(((value) / 200, (value + 199) / 200))
        )
    if m == 200 and population == "these":
        assert low == high


def test_a_column_without_labelled_votes_has_the_interval_of_logic() -> None:
    votes, truth = v10()
    votes[truth >= 0, 2] = -1
    means = accuracies(votes, truth).means()
    assert np.isnan(means.estimate[2])
    assert (means.interval.low[2], means.interval.high[2]) == (0, 1)
    votes[:, 2] = -1
    found = accuracies(votes, truth)
    assert found.outputs.tolist() == [150, 150, 0]
    assert found.pairs(rng=0).adjusted_p[1] == 1
    assert shown(found, 0) == pytest.approx(shown(accuracies(votes[:, :2], truth), 0), abs=1e-12)


# Coverage.


def test_accuracies_of_fifty_workers_are_covered_and_their_pairs_answered() -> None:
    rng = np.random.default_rng(5)
    truth = rng.integers(0, 2, 500)
    votes = np.where(
        rng.random((500, 50)) < rng.uniform(0.6, 0.9, 50), truth[:, None], 1 - truth[:, None]
    )
    votes = np.where(rng.random(votes.shape) < 0.6, -1, votes)
    found = accuracies(votes, np.where(np.arange(500) < 80, truth, -1))
    voted = votes >= 0
    accuracy = ((votes == truth[:, None]) & voted).sum(axis=0) / voted.sum(axis=0)
    assert found.means().interval.covers(accuracy).mean() >= 0.9
    assert found.means().labels_worth.mean() > 1.3 * found.labels.mean()
    pairs = found.pairs(rng=1, draws=500)
    wrong = (accuracy[pairs.first] - accuracy[pairs.second]) * pairs.difference < 0
    decided = pairs.adjusted_p <= 0.05
    assert decided.sum() > 50
    assert (wrong & decided).sum() <= 1  # the error is held in 95% of such tables


def test_a_large_document_that_was_not_labelled_leaves_more_open() -> None:
    rng = np.random.default_rng(2)
    document = np.repeat(np.arange(41), [120, *[3] * 40])
    truth = (rng.random(240) < 0.6).astype(float)
    grades = np.zeros((240, 1))

    def width(some: np.ndarray) -> float:
        y = np.where(np.isin(document, some), truth, np.nan)
        return float(
            fit(Rows(y=y, grades=grades, item=document), pass_fail=True).means().interval.width[0]
        )

    equal = np.where(np.isin(np.arange(240) // 3, np.arange(20)), truth, np.nan)
    plain = fit(Rows(y=equal, grades=grades, item=np.arange(240) // 3), pass_fail=True)
    assert width(np.arange(1, 21)) > 1.5 * plain.means().interval.width[0]


def test_a_column_that_was_always_right_is_not_certain_in_a_difference() -> None:
    rng = np.random.default_rng(6)
    truth = rng.integers(0, 2, 400)
    votes = np.where(rng.random((400, 3)) < [0.95, 0.85, 0.85], truth[:, None], 1 - truth[:, None])
    votes[:30, 0] = truth[:30]
    found = accuracies(votes, np.where(np.arange(400) < 30, truth, -1))
    gap, means = found.difference(0, 1), found.means()
    assert means.estimate[0] == pytest.approx(1)
    assert gap.estimate[0] - gap.interval.low[0] > means.estimate[0] - means.interval.low[0]


def test_a_difference_of_accuracies_stays_within_what_the_disagreements_allow():
    """Five labels of forty: 60 points were shown where 50 are possible."""
    votes = np.stack([np.zeros(40, int), np.arange(40) % 2 == 0], axis=1).astype(int)
    found = accuracies(votes, np.where(np.arange(40) < 5, 0, -1))
    gap = found.difference(0, 1)
    assert gap.estimate[0] <= 0.5
    assert gap.interval.low[0] >= (3 - 17) / 40 - 1e-12
    assert gap.interval.high[0] <= 0.5 + 1e-12


@pytest.mark.parametrize("counted", [False, True])
def test_labels_on_all_disagreements_determine_a_difference(counted):
    rng = np.random.default_rng(1)
    truth = rng.integers(0, 3, 200)
    votes = np.stack([np.where(rng.random(200) < p, truth, 0) for p in (0.7, 0.6, 0.4)], axis=1)
    known = votes[:, 0] != votes[:, 1]
    known |= rng.random(200) < 0.3
    gold = np.where(known, truth, -1)
    counts = np.ones(200)
    if counted:
        table, counts = np.unique(np.column_stack([votes, gold]), axis=0, return_counts=True)
        votes_used, gold = table[:, :3], table[:, 3]
    else:
        votes_used = votes
    found = accuracies(votes_used, gold, counts=counts)
    exact = float(np.mean(votes[:, 0] == truth) - np.mean(votes[:, 1] == truth))
    gap = found.difference(0, 1)
    assert gap.estimate[0] == pytest.approx(exact, abs=1e-12)
    assert gap.interval.width[0] == pytest.approx(0, abs=1e-12)
    pairs = found.pairs(rng=0)
    assert pairs.adjusted_p[0] == pairs.p_value[0] == 0
    assert found.difference(0, 2).interval.width[0] > 0
    new = accuracies(votes_used, gold, counts=counts, population="new")
    assert new.difference(0, 1).interval.width[0] > 0.01


def test_a_mean_against_a_value_is_its_interval_turned_round() -> None:
    found = fit(v8(), pass_fail=False)
    p = least_alpha(found.mean_levels, 0.4, found.labels)
    for k in range(3):
        at = found.means(alpha=float(p[k]))
        gap = np.minimum(np.abs(at.interval.low - 0.4), np.abs(at.interval.high - 0.4))
        assert gap[k] < 1e-6
    assert p[0] < p[2] < p[1]  # A, then C, then B is farthest from it


def test_pairs_are_forecast_at_once_and_a_smaller_gap_needs_more() -> None:
    found = fit(v8(), pass_fail=False)
    many = found.forecast_pairs([0, 0], [1, 2])
    assert many.tolist() == [found.forecast_pairs(0, k)[0] for k in (1, 2)]
    assert (
        found.forecast_pairs(0, 1, gap=0.2)[0] < many[0] < found.forecast_pairs(0, 1, gap=0.08)[0]
    )
    assert found.forecast_pairs(0, 1, spread=1.3)[0] > many[0]


def test_two_systems_are_one_difference() -> None:
    rows = v8()
    two = np.asarray(rows.system) < 2
    part = Rows(
        y=np.asarray(rows.y)[two],
        grades=np.asarray(rows.grades)[two],
        system=np.asarray(rows.system)[two],
        item=np.asarray(rows.item)[two],
    )
    found = fit(part, pass_fail=False)
    pair, alone = found.pairs(rng=0), found.difference(0, 1)
    assert pair.interval.low == alone.interval.low
    assert pair.interval.high == alone.interval.high
    assert pair.adjusted_p == pair.p_value


def test_every_judge_alone_is_the_fit_of_its_grades() -> None:
    rows = v4()
    grades = np.asarray(rows.grades)
    for j, one in enumerate(each_judge(rows, pass_fail=True)):
        alone = fit(Rows(y=rows.y, grades=grades[:, [j]]), pass_fail=True)
        assert shown(one) == shown(alone)


def test_differences_have_ends_at_many_levels() -> None:
    found = fit(v8(), pass_fail=False)
    low, high = found.difference_levels([0, 0], [1, 2])(np.array([0.05, 0.2]))
    for k, (b, alpha) in enumerate(((1, 0.05), (2, 0.2))):
        interval = found.difference(0, b, alpha=alpha).interval
        assert (low[k], high[k]) == (interval.low[0], interval.high[0])
