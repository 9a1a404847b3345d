"""The one rule for few labels: its vectors, its laws, what it refuses and what it covers."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from tallystick.errors import InputError
from tallystick.stats.few_labels import FewLabels, Rows, accuracies, fit, prevalences
from tallystick.stats.few_labels_fit import Fit, mean_moments, reach, student, tuning

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
    omega, a = tuning(
        "mean", moments, of.model, pass_fail=found.pass_fail, clustered=found.design.clustered
    )
    t = student(moments, omega, 0.05)
    down, up = (reach(moments, t, omega, a, upper=end, new=new)[at] for end in (False, True))
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
    found = fit(replace(v3(), document=PLACE // 5), pass_fail=True)
    assert raw(found, found.alone) == near(0.475450, 0.876127)
    assert raw(found, found.chosen) == near(0.525718, 0.829741)
    assert shown(found) == near(0.675, 0.525, 0.83)


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
