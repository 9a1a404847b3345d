"""The vectors were computed apart from this code, by the formulas of docs/theory/shift.md."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tallystick.errors import InputError
from tallystick.verbs.shift.noise import Repeats, assumes_equal_noise, noise_share


@pytest.mark.parametrize(
    ("m", "x", "expected"),
    [(30, 9, 0.6957), (30, 0, 0.0549), (39, 20, 1.0), (50, 12, 0.5504), (0, 0, 1.0)],
)
def test_the_printed_shares_come_out(m, x, expected):
    assert round(float(noise_share(m, x)), 4) == expected


@given(st.integers(1, 200), st.data())
def test_more_unconfirmed_flips_mean_more_noise(m, data):
    x = data.draw(st.integers(0, m - 1))
    less, more = noise_share([m, m], [x, x + 1])
    assert 0 < less <= more <= 1


def test_unconfirmed_flips_beyond_the_repeats_are_refused():
    with pytest.raises(InputError, match="at most repeats"):
        noise_share(3, 4)


def repeats(**changed):
    fields = {
        #        right→wrong   wrong→right  wrong→wrong
        "truth":  [0, 0, 0,    0, 1,        0],
        "old":    [0, 0, 0,    1, 0,        1],
        "first":  [1, 1, 2,    0, 1,        2],
        "second": [1, 0, 1,    1, 1,        0],
        "weight": [1, 1, 1,    1, 1,        1],
    }  # fmt: skip
    return Repeats(**{**fields, **changed})


def test_flips_count_every_change_of_label():
    found = repeats().flips()
    assert (found.repeats, found.confirmed, found.reverted) == (6, 2, 2)
    assert (found.unconfirmed, found.size) == (4, 6)
    assert repeats().decided == (2, 2)


def test_correctness_counts_only_changes_between_right_and_wrong():
    found = repeats().correctness()
    # The wrong→wrong flip does not count; wrong→another wrong label (0→2→1) stays confirmed.
    assert (found.repeats, found.unconfirmed) == (5, 2)


def test_an_entry_counts_its_own_indicator():
    found = repeats()
    into = found.entry(0, 1)  # answers 1 to items truly 0: in at 0, 1; out at 3, 5
    assert (into.repeats, into.unconfirmed) == (4, 2)
    shares = found.entry_shares([0, 1, 1], [1, 1, 2])
    assert shares[0] == noise_share(4, 2)
    assert shares[2] == 1  # no repeat touches it


def test_statements_about_many_entries_take_no_share_below_that_of_all_flips():
    found = repeats()
    own = found.entry_shares([0, 1], [1, 1])
    joint = found.entry_shares([0, 1], [1, 1], joint=True)
    overall = float(noise_share(6, 4))
    assert own[1] == noise_share(1, 0) < overall
    assert joint.tolist() == np.maximum(own, overall).tolist()


def test_weights_are_scaled_to_mean_one_over_the_repeats_that_count():
    uneven = repeats(weight=[2, 2, 2, 4, 4, 100])
    found = uneven.correctness()
    w = np.array([2, 2, 2, 4, 4]) / 2.8
    assert found.repeats == pytest.approx(5)
    assert found.unconfirmed == pytest.approx(w[1] + w[3])
    assert found.size == pytest.approx(25 / (w**2).sum())
    assert uneven.decided == (2, 2)  # what is printed is never weighted
    worth = found.size / found.repeats
    assert found.decided == pytest.approx((found.confirmed * worth, found.reverted * worth))


def test_strata_asked_more_often_than_their_share_do_not_make_chance_look_like_change():
    """Right answers with slips: every old slip is asked, and one in nine of the other items."""
    rng = np.random.default_rng(2)
    plain, weighted = [], []
    for _ in range(400):
        old, first, second = (rng.random((3, 400)) < 0.1).astype(int)  # 1 is a slip
        asked = np.flatnonzero((old == 1) | (np.arange(400) % 9 == 0))
        flipped = asked[old[asked] != first[asked]]
        found = Repeats(
            old=old[flipped],
            first=first[flipped],
            second=second[flipped],
            weight=np.where(old[flipped] == 1, 1.0, 9.0),
        )
        a, b = found.decided
        plain.append(a - b)
        a, b = found.flips().decided
        weighted.append(float(a - b))
    assert np.mean(plain) > 20  # unweighted, an unchanged API looks changed in every run
    assert abs(np.mean(weighted)) < 4 * np.std(weighted) / 20


def test_no_repeat_of_correctness_leaves_all_noise_possible():
    none = repeats(truth=[5] * 6).correctness()
    assert (none.repeats, none.size) == (0, 0)
    assert noise_share(none.repeats, none.unconfirmed) == 1


@pytest.mark.parametrize(
    ("changed", "named"),
    [
        ({"second": [0, 1]}, "equally long"),
        ({"weight": [1, 1, 1, 1, 1, 0]}, "weight must be positive"),
        ({"first": [0, 1, 2, 0, 1, 2]}, "repeat 0 did not flip"),
    ],
)
def test_repeats_that_do_not_fit_are_refused(changed, named):
    with pytest.raises(InputError, match=named):
        repeats(**changed)


def test_accuracy_needs_true_labels():
    with pytest.raises(InputError, match="truth is None"):
        repeats(truth=None).correctness()
    assert repeats(truth=None).flips().repeats == 6


def test_the_assumption_is_named_only_where_it_matters():
    assert assumes_equal_noise(0.9, asked=201, items=1000)
    assert not assumes_equal_noise(0.9, asked=200, items=1000)
    assert not assumes_equal_noise(1.0, asked=1000, items=1000)


def test_reverted_flips_measure_the_within_item_variance():
    """P(n1 flips o, n2 reverts) = E[r(1-r)] for right/wrong, whatever the old rate is."""
    rng = np.random.default_rng(0)
    r = rng.beta(2, 1, 200_000)
    old = rng.random(r.size) < rng.beta(1, 1, r.size)
    first, second = rng.random(r.size) < r, rng.random(r.size) < r
    share = np.mean((first != old) & (second == old))
    assert share == pytest.approx(np.mean(r * (1 - r)), abs=0.004)
