import csv
import gzip
import os
from itertools import combinations
from math import comb
from pathlib import Path

import numpy as np
import pytest
from scipy.special import ndtri
from scipy.stats import t as student

from tallystick.results import Unknown
from tallystick.verbs.dynamic.forecast import forecast_panel, majority_risk

DATA = Path(os.environ.get("TALLYSTICK_DATA", Path(__file__).parents[3] / "shared" / "data"))
ANLI = DATA / "dynamic" / "anli_dev_rounds_8models.csv.gz"

THREE = {"000": 60, "100": 6, "010": 5, "001": 9, "110": 4, "101": 3, "011": 3, "111": 10}
FOUR = {
    "0000": 50, "1000": 5, "0100": 6, "0010": 4, "0001": 9, "1100": 3, "0011": 4, "1001": 2,
    "1110": 3, "0111": 4, "1111": 10,
}  # fmt: skip
BLOCKS = {"00000": 60, "10000": 10, "01100": 8, "11100": 9, "01111": 6, "11111": 7}


def panel(patterns):
    rows = [
        [int(digit) for digit in word] for word, count in patterns.items() for _ in range(count)
    ]
    return np.array(rows, dtype=bool).T


def rounded(values, digits=4):
    return tuple(round(value, digits) for value in values)


def test_three_models_reach_the_printed_vector():
    found = forecast_panel(panel(THREE))
    assert rounded(found.shape) == (0.3029, 0.9850)
    assert rounded((found.beta_binomial, found.mixture)) == (-0.0003, 0.0112)
    assert found.refuted is False
    assert found.gain.estimate == found.beta_binomial
    assert rounded((found.spread,)) == (0.0153,)
    assert rounded(found.gain.interval) == (-0.0579, 0.0687)
    assert found.certain == (-0.2, 0.1)
    assert found.more == 2
    assert found.gain.interval.level == 0.9


def test_four_models_reach_the_printed_vector():
    found = forecast_panel(panel(FOUR))
    assert rounded((found.beta_binomial, found.mixture, found.spread)) == (0.0054, 0.0149, 0.0129)
    assert rounded(found.gain.interval) == (-0.0318, 0.0450)
    assert found.more == 1


def test_five_models_in_blocks_reach_the_vector_of_the_corrections():
    found = forecast_panel(panel(BLOCKS))
    assert rounded(found.shape) == (0.1935, 0.6874)
    assert rounded((found.beta_binomial, found.mixture, found.spread)) == (0.0082, -0.0010, 0.0695)
    assert found.refuted is False
    assert rounded(found.gain.interval) == found.certain == (-0.08, 0.09)


@pytest.fixture(scope="module")
def anli():
    if not ANLI.exists():
        pytest.skip(f"the real data {ANLI.name} is not here: set TALLYSTICK_DATA")
    with gzip.open(ANLI, "rt", encoding="utf-8") as lines:
        rows = list(csv.DictReader(lines))
    models = list(rows[0])[7:]
    return {
        number: np.array(
            [
                [row[model] != row["gold"] for row in rows if row["round"] == number]
                for model in models
            ]
        )
        for number in "123"
    }


def test_anli_round_one_reaches_the_printed_vector(anli):
    errors = anli["1"]
    shares = np.bincount(errors.sum(axis=0), minlength=6) / 1000
    assert shares.tolist() == [0.471, 0.191, 0.098, 0.073, 0.080, 0.087]
    found = forecast_panel(errors)
    assert rounded(found.shape) == (0.3256, 0.8543)
    assert rounded((found.beta_binomial, found.mixture, found.spread)) == (0.0010, 0.0030, 0.0066)
    assert found.refuted is True
    assert found.gain.estimate == found.mixture
    assert found.certain == (-0.098, 0.073)
    assert round(found.gain.interval.high, 4) == 0.0197
    # The page prints [EM - Qs, EM + Qs]; the correction lets the range span both estimates.
    reach = float(student.ppf(0.95, 4)) * (1 + 2 / 5) ** 0.5 * found.spread
    assert round(found.mixture - reach, 4) == -0.0136
    assert found.gain.interval.low == pytest.approx(found.beta_binomial - reach)


def test_three_of_five_anli_models_foretell_the_gain_of_all_five(anli):
    """The page: foretold .0060 / .0018 / .0004, actual .0075 / .0018 / .0030, all inside."""
    for number, foretold, actual in (
        ("1", 0.0060, 0.0075),
        ("2", 0.0018, 0.0018),
        ("3", 0.0004, 0.0030),
    ):
        errors = anli[number]
        all_five = majority_risk(errors.sum(axis=0), 5)
        gains, guesses = [], []
        for some in combinations(range(5), 3):
            part = errors[list(some)]
            found = forecast_panel(part)
            gains.append(majority_risk(part.sum(axis=0), 3) - all_five)
            guesses.append(found.gain.estimate)
            assert found.gain.interval.low <= gains[-1] <= found.gain.interval.high
        assert round(float(np.mean(gains)), 4) == actual
        assert round(float(np.mean(guesses)), 4) == foretold


def test_the_gain_never_leaves_the_certain_bounds():
    rng = np.random.default_rng(0)
    for _ in range(300):
        models, items = int(rng.integers(1, 8)), int(rng.integers(1, 30))
        errors = rng.random((models, items)) < rng.random()
        more = 2 if models % 2 else 1
        grown = np.vstack([errors, rng.random((more, items)) < rng.random()])
        low, high = forecast_panel(errors).certain
        before = majority_risk(errors.sum(axis=0), models)
        gain = before - majority_risk(grown.sum(axis=0), models + more)
        assert low - 1e-12 <= gain <= high + 1e-12


def test_the_expected_gain_of_exchangeable_models_is_bounded_as_the_page_says():
    """C(M, m) max (pq)^m (q - p) for M = 1, 3, 5, 7, 9."""
    p = np.linspace(0, 0.5, 200_001)
    tops = []
    for models in (1, 3, 5, 7, 9):
        m = (models + 1) // 2
        tops.append(comb(models, m) * float(np.max((p * (1 - p)) ** m * (1 - 2 * p))))
    assert rounded(tops) == (0.0962, 0.0537, 0.0372, 0.0285, 0.0230)


def test_fewer_than_three_models_get_the_certain_bounds_only():
    found = forecast_panel(np.array([[1, 0, 0, 0], [1, 1, 0, 0]], dtype=bool))
    assert isinstance(found.gain.estimate, Unknown)
    assert isinstance(found.gain.interval, Unknown)
    assert found.certain == (-0.125, 0.125)
    assert found.decision == "cannot tell"
    assert (
        forecast_panel(np.array([[1, 0], [1, 0]], dtype=bool), pays=0.01).decision == "not worth it"
    )
    assert forecast_panel(np.array([[True, False, False]])).certain == (-2 / 3, 1 / 3)


@pytest.mark.parametrize(
    "errors",
    [
        np.zeros((5, 40), dtype=bool),
        np.ones((4, 40), dtype=bool),
        np.repeat(np.arange(40)[None] < 8, 5, axis=0),
        np.array([[1, 0], [0, 1], [1, 0]], dtype=bool),
    ],
    ids=["no errors", "nothing but errors", "clones", "too even"],
)
def test_panels_without_a_maximum_of_the_likelihood_get_a_stable_gain(errors):
    found = forecast_panel(errors)
    assert found.gain.estimate == pytest.approx(0.0, abs=1e-4)
    assert found.gain.interval.low <= found.gain.estimate <= found.gain.interval.high


def test_a_gain_that_no_model_can_bring_is_not_worth_its_price():
    clones = np.repeat(np.arange(40)[None] < 8, 5, axis=0)
    assert forecast_panel(clones).decision == "not worth it"
    assert forecast_panel(panel(THREE), pays=0.1).decision == "not worth it"
    assert forecast_panel(panel(THREE), pays=-0.06).decision == "worth it"
    assert forecast_panel(panel(THREE), pays=0.05).decision == "cannot tell"


def _probit(rng, models, items):
    shared = rng.standard_normal(items)
    return 0.6**0.5 * shared + 0.4**0.5 * rng.standard_normal((models, items)) > ndtri(0.7)


def _block(rng, models, items):
    """Half of the items move as one block: the cell that made the corrections widen the core."""
    errors = _probit(rng, models, items)
    errors[:, : items // 2] = (rng.random(models) < 0.3)[:, None]
    return errors


@pytest.mark.parametrize(
    ("draw", "models"), [(_probit, 3), (_probit, 4), (_probit, 5), (_block, 5)]
)
def test_the_range_holds_the_realised_gain_nine_times_in_ten(draw, models):
    rng = np.random.default_rng(models)
    more, inside = 2 if models % 2 else 1, []
    for _ in range(200):
        errors = draw(rng, models + more, 300)
        now = majority_risk(errors[:models].sum(axis=0), models)
        gain = now - majority_risk(errors.sum(axis=0), models + more)
        found = forecast_panel(errors[:models]).gain.interval
        inside.append(found.low - 1e-12 <= gain <= found.high + 1e-12)
    # 200 draws at .9 give fewer than 164 with probability 3e-4.
    assert sum(inside) >= 164
