"""What more models, or two more rounds, would bring: the vectors of the method, laws, and coverage."""

import csv
import gzip
import os
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from scipy.special import ndtri
from scipy.stats import t as student

from tallystick.results import Unknown
from tallystick.verbs.dynamic.forecast import (
    FAR_APART,
    forecast_panel,
    forecast_path,
    majority_risk,
    other_builders,
)

DATA = Path(os.environ.get("TALLYSTICK_DATA", Path(__file__).parents[3] / "shared" / "data"))
ANLI = DATA / "dynamic" / "anli_dev_rounds_8models.csv.gz"


def errors_of(patterns, times=1):
    """Return the errors, models x items, from "110:4 000:60": how often which models erred."""
    pairs = (pair.split(":") for pair in patterns.split())
    rows = [list(map(int, word)) for word, many in pairs for _ in range(int(many) * times)]
    return np.array(rows, dtype=bool).T


THREE = "000:60 100:6 010:5 001:9 110:4 101:3 011:3 111:10"
FOUR = "0000:50 1000:5 0100:6 0010:4 0001:9 1100:3 0011:4 1001:2 1110:3 0111:4 1111:10"
BLOCKS = "00000:60 10000:10 01100:8 11100:9 01111:6 11111:7"


def rounded(*values):
    return tuple(round(value, 4) for value in values)


def gain_of(errors, models):
    """Return by how much the risk falls from the first *models* to all of them."""
    now = majority_risk(errors[:models].sum(axis=0), models)
    return now - majority_risk(errors.sum(axis=0), len(errors))


@pytest.mark.parametrize(
    ("patterns", "shape", "numbers", "interval", "certain", "more"),
    [
        (THREE, (0.3029, 0.9850), (-0.0003, 0.0112, 0.0153), (-0.0579, 0.0687), (-0.2, 0.1), 2),
        (FOUR, None, (0.0054, 0.0149, 0.0129), (-0.0318, 0.0450), None, 1),
        (BLOCKS, (0.1935, 0.6874), (0.0082, -0.0010, 0.0695), (-0.08, 0.09), (-0.08, 0.09), 2),
    ],
    ids=["three", "four", "blocks"],
)
def test_panels_reach_the_printed_vectors(patterns, shape, numbers, interval, certain, more):
    found = forecast_panel(errors_of(patterns))
    assert shape is None or rounded(*found.shape) == shape
    assert rounded(found.beta_binomial, found.mixture, found.spread) == numbers
    assert rounded(*found.gain.interval) == interval
    assert certain in (None, found.certain)
    assert (found.refuted, found.more, found.gain.interval.level) == (False, more, 0.9)
    assert found.gain.estimate == found.beta_binomial


@pytest.fixture(scope="module")
def anli():
    if not ANLI.exists():
        pytest.skip(f"the real data {ANLI.name} is not here: set TALLYSTICK_DATA")
    with gzip.open(ANLI, "rt", encoding="utf-8") as lines:
        rows = list(csv.DictReader(lines))
    wrong = np.array([[row[name] != row["gold"] for row in rows] for name in list(rows[0])[7:]])
    return {number: wrong[:, [row["round"] == number for row in rows]] for number in "123"}


def test_anli_reaches_the_printed_vector_and_three_models_foretell_all_five(anli):
    found = forecast_panel(anli["1"])
    assert rounded(*found.shape) == (0.3256, 0.8543)
    assert rounded(found.beta_binomial, found.mixture, found.spread) == (0.0010, 0.0030, 0.0066)
    assert (found.refuted, found.certain) == (True, (-0.098, 0.073))
    assert found.gain.estimate == found.mixture
    assert round(found.gain.interval.high, 4) == 0.0197
    # The page prints [EM - Qs, EM + Qs]; the correction lets the range span both estimates.
    reach = float(student.ppf(0.95, 4)) * (1 + 2 / 5) ** 0.5 * found.spread
    assert round(found.mixture - reach, 4) == -0.0136
    assert found.gain.interval.low == pytest.approx(found.beta_binomial - reach)

    # The page: foretold .0060 / .0018 / .0004, actual .0075 / .0018 / .0030, all inside.
    for number, foretold, actual in (
        ("1", 0.0060, 0.0075),
        ("2", 0.0018, 0.0018),
        ("3", 0.0004, 0.0030),
    ):
        gains, guesses = [], []
        for some in combinations(range(5), 3):
            order = [*some, *(k for k in range(5) if k not in some)]
            ahead = forecast_panel(anli[number][list(some)]).gain
            gains.append(gain_of(anli[number][order], 3))
            guesses.append(ahead.estimate)
            assert gains[-1] in ahead.interval
        assert rounded(np.mean(guesses), np.mean(gains)) == (foretold, actual)


def test_the_gain_never_leaves_the_certain_bounds():
    rng = np.random.default_rng(0)
    for _ in range(300):
        models, items = int(rng.integers(1, 8)), int(rng.integers(1, 30))
        more = 2 if models % 2 else 1
        rates = np.repeat(rng.random(2), (models, more))[:, None]
        errors = rng.random((models + more, items)) < rates
        low, high = forecast_panel(errors[:models]).certain
        assert low - 1e-12 <= gain_of(errors, models) <= high + 1e-12


def test_fewer_than_three_models_or_rounds_get_the_certain_bounds_only():
    two = np.array([[1, 0, 0, 0], [1, 1, 0, 0]], dtype=bool)
    for found, what in ((forecast_panel(two), "models"), (forecast_path(two), "rounds")):
        assert isinstance(found.gain.estimate, Unknown)
        assert isinstance(found.gain.interval, Unknown)
        assert (found.decision, f"at least 3 {what}" in found.reason) == ("cannot tell", True)
    assert forecast_panel(two).certain == (-0.125, 0.125)
    assert forecast_panel(two[:1, [0, 1, 1]]).certain == (-2 / 3, 1 / 3)
    assert forecast_panel(two[[0, 0]], pays=0.01).decision == "not worth it"


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
    assert found.gain.estimate in found.gain.interval


@pytest.mark.parametrize(
    ("pays", "decision"),
    [(0.1, "not worth it"), (-0.06, "worth it"), (0.05, "cannot tell"), (0.07, "not worth it")],
)
def test_a_panel_is_decided_where_the_range_leaves_the_gain_that_pays(pays, decision):
    assert forecast_panel(errors_of(THREE), pays=pays).decision == decision


# Paths.


def test_three_rounds_reach_the_printed_vector_and_an_even_number_takes_the_one_before():
    errors = errors_of(THREE)
    found = forecast_path(errors)
    assert rounded(found.step, found.variance**0.5, found.panel) == (0.0181, 0.0135, -0.0003)
    assert rounded(*found.gain.interval) == (-0.0258, 0.0436)
    assert found.panel == forecast_panel(errors).gain.estimate
    assert found == forecast_path(np.vstack([errors, np.ones((1, 100), dtype=bool)]))


def test_rounds_of_different_teams_get_a_wider_range():
    one, many = (forecast_path(errors_of(THREE), teams=why) for why in (None, "other names"))
    reach = 2.919986 * (many.variance + many.spread**2) ** 0.5
    assert many.gain.interval.low == pytest.approx(min(many.step, many.panel) - reach)
    assert many.gain.interval.high == pytest.approx(many.step + reach)
    assert 1.7 <= many.gain.interval.width / one.gain.interval.width <= 2.6
    assert many.gain.interval.assumption != one.gain.interval.assumption
    assert (one.teams, many.teams) == (None, "other names")


def test_no_two_rounds_repair_more_than_the_items_at_the_edge():
    errors = np.zeros((3, 400), dtype=bool)
    errors[0, :160] = True  # the models differ much, and no item is wrong by one vote
    assert forecast_path(errors, teams="other names").gain.interval.high <= 0
    errors[1, :4] = True  # four items are
    found = forecast_path(errors, teams="other names").gain.interval
    assert found.high == pytest.approx(0.01 + 1.6448536 * (0.01 / 400) ** 0.5)


def test_go_on_is_said_only_where_any_gain_pays_and_nothing_on_fewer_than_400_items():
    small, large = (forecast_path(errors_of(THREE, k), pays=0.5) for k in (3, 4))
    assert small.gain.interval.high < 0.5
    assert (small.decision, large.decision) == ("cannot tell", "stop")
    assert "at least 400" in small.reason
    # Three models that err alike: the spread is 0, and repairs outnumber breaks.
    alike = errors_of("000:70 100:5 010:5 001:5 110:5 101:5 011:5", 60)
    assert forecast_path(alike).gain.interval.low > 0.001
    cautious = forecast_path(alike, pays=0.001)
    assert (forecast_path(alike).decision, cautious.decision) == ("go on", "cannot tell")
    assert "often failed" in cautious.reason


@pytest.mark.parametrize(
    ("names", "rates", "said"),
    [
        ("mmm", (0.2, 0.21, 0.2), None),
        (("bert-r1", "bert-r2", "bert-r3"), (0.2, 0.2, 0.2), None),
        (("Model v1", "model v2.1", "MODEL-v3"), (0.2, 0.2, 0.2), None),
        (("round 1", "round 2", "3"), (0.2, 0.2, 0.2), None),
        (("bert-r1", "roberta-r2", "bert-r3"), (0.2, 0.2, 0.2), "names (bert and roberta)"),
        ("mmm", (0.2, 0.2 + 0.9 * FAR_APART, 0.2 - 0.9 * FAR_APART), None),
        ("mmm", (0.2, 0.2 + 1.1 * FAR_APART, 0.2 - 1.1 * FAR_APART), "differ by 4.4 points"),
        ("m", (0.4,), None),
    ],
)
def test_other_teams_show_in_names_or_in_error_rates_far_apart(names, rates, said):
    found = other_builders(names, np.array([np.arange(1000) < round(1000 * r) for r in rates]))
    assert found is None if said is None else said in found


# Coverage of the 90% range: 200 draws give fewer than 164 with probability 3e-4.


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
def test_the_range_of_a_panel_holds_the_realised_gain(draw, models):
    rng, inside = np.random.default_rng(models), 0
    for _ in range(200):
        errors = draw(rng, models + 1 + models % 2, 300)
        low, high = forecast_panel(errors[:models]).gain.interval
        inside += low - 1e-12 <= gain_of(errors, models) <= high + 1e-12
    assert inside >= 164


@pytest.mark.parametrize(
    ("turn", "teams", "rounds"), [(0.0, None, 3), (0.0, None, 5), (0.7, "other names", 5)]
)
def test_the_range_of_a_path_holds_the_gain_in_the_population(turn, teams, rounds):
    """Rounds share difficulty, which turns, and protect where earlier rounds erred."""
    rng, inside, size = np.random.default_rng(rounds), 0, 4000
    for _ in range(200):
        (hard, other), count, errors = rng.standard_normal((2, size)), np.zeros(size), []
        for t in range(rounds + 2):
            shared = np.cos(turn * t) * hard + np.sin(turn * t) * other
            own = 0.4**0.5 * rng.standard_normal(size)
            errors.append(0.6**0.5 * shared + own - 0.15 * count > 0.6)
            count += errors[-1]
        held_out = rng.choice(size, 400, replace=False)
        found = forecast_path(np.array(errors)[:rounds, held_out], teams=teams)
        inside += gain_of(np.array(errors), rounds) in found.gain.interval
    assert inside >= 164
