"""Does a judge's error depend on the length?"""

import numpy as np
import pytest

from tallystick.errors import InputError
from tallystick.results import Unknown
from tallystick.table import Tally
from tallystick.verbs.score import evaluate
from tallystick.verbs.score.judges import slope


def table(effect, graded=150, seed=0):
    rng = np.random.default_rng(seed)
    n = 600
    length = rng.normal(size=n)
    system = np.array(["short", "long"])[(np.arange(n) % 2)]
    length = length + (system == "long")
    truth = rng.random(n) < 0.6
    passed = rng.random(n) < np.clip(np.where(truth, 0.8, 0.3) + effect * length, 0, 1)
    return {
        "id": np.arange(n) // 2,
        "system": system,
        "gpt": passed.astype(int),
        "human": [int(value) if i < graded else None for i, value in enumerate(truth)],
        "length": length,
    }


ROLES = {"item": "id", "system": "system", "judges": "gpt", "truth": "human"}


def test_a_judge_that_likes_length_has_a_slope_that_explains_part_of_the_lead():
    result = evaluate(table(0.15, graded=500), covariate="length", **ROLES)
    overall = result.covariates[0]
    assert overall.system is None
    assert overall.interval.low > 0
    assert overall.p_value < 0.01
    # long outputs are one unit longer, and the judge gains .15 per unit
    assert overall.explained["long - short"] == pytest.approx(0.15, abs=0.08)
    assert [row.system for row in result.covariates] == [None, "long", "short"]


def test_a_judge_that_ignores_length_is_rarely_accused():
    accused = sum(
        evaluate(table(0.0, seed=seed), covariate="length", **ROLES).covariates[0].p_value < 0.05
        for seed in range(40)
    )
    assert accused <= 6


def test_few_labels_give_no_slope_but_the_reason():
    result = evaluate(table(0.1, graded=6), covariate="length", **ROLES)
    assert isinstance(result.covariates[0].slope, Unknown)


def test_a_perfect_fit_is_not_called_certain():
    x = np.linspace(0, 1, 12)
    value, interval, p = slope(x, 2 * x)
    assert value == pytest.approx(2)
    assert interval.width > 0
    assert p > 0


def test_counts_have_no_covariate():
    held = table(0.1)
    held.pop("length")
    tally = Tally.of({**held, "length": [1] * 600}, columns=["system", "gpt", "human", "length"])
    with pytest.raises(InputError, match="single outputs"):
        evaluate(tally, system="system", judges="gpt", truth="human", covariate="length")
