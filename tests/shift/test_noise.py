"""Repeated flips: what counts, what is weighted, and what an unchanged or a flaky API shows."""

import numpy as np
import pytest

from tallystick.errors import InputError
from tallystick.sampling import FAILED, Strata
from tallystick.verbs.shift import Items
from tallystick.verbs.shift.intervals import SumBounds
from tallystick.verbs.shift.noise import (
    Confirmed,
    NoiseShares,
    OldDraws,
    Repeats,
    randomness,
    refuse_other_versions,
)


def noise_share(m, x):
    return Confirmed(repeats=m, confirmed=m - x, reverted=0, size=m).share


def repeats(**changed):
    fields = {
        #        right→wrong   wrong→right  wrong→wrong
        "truth":  [0, 0, 0,    0, 1,        0],
        "old":    [0, 0, 0,    1, 0,        1],
        "first":  [1, 1, 2,    0, 1,        2],
        "second": [1, 0, 1,    1, 1,        0],
        "weight": [1, 1, 1,    1, 1,        1],
    }  # fmt: skip
    held = {**fields, **changed}
    return Repeats(**{name: np.array(one) for name, one in held.items()})


def test_flips_count_every_change_of_label():
    found = repeats().flips()
    assert (found.repeats, found.confirmed, found.reverted, found.size) == (6, 2, 2, 6)
    assert repeats().decided == (2, 2)


def test_correctness_counts_only_changes_between_right_and_wrong_of_known_items():
    found = repeats().correctness(3)
    # The wrong→wrong flip does not count; wrong→another wrong label (0→2→1) stays confirmed.
    assert (found.repeats, found.repeats - found.confirmed) == (5, 2)
    assert repeats(truth=[3] * 6).correctness(3).repeats == 0


def test_an_entry_counts_its_own_indicator():
    into = repeats().entry(0, 1)  # answers 1 to items truly 0: in at 0, 1; out at 3, 5
    assert (into.repeats, into.repeats - into.confirmed) == (4, 2)


def shares(held, kind="random"):
    cells = (np.array([0, 1, 1]), np.array([1, 1, 2]))
    return NoiseShares.of(held, kind, cells=cells, labels=3, scale=None)


def test_a_cell_has_its_own_share_and_a_statement_about_all_none_below_that_of_all_flips():
    found = shares(repeats())
    overall = noise_share(6, 4)
    assert found.cells[0] == noise_share(4, 2)
    assert found.cells[2] == 1  # no repeat touches it
    assert found.cells[1] == noise_share(1, 0) < overall
    assert found.joint.tolist() == np.maximum(found.cells, overall).tolist()
    assert shares(repeats(), "deterministic").joint.tolist() == [0, 0, 0]


def right_to_wrong(a, b, wrong=0):
    """Right answers that became wrong and were asked again; some flips moved among wrong ones."""
    n = a + b
    return repeats(
        old=[0] * n + [1] * wrong,
        first=[1] * n + [2] * wrong,
        second=[1] * a + [0] * b + [2] * wrong,
        weight=[1.0] * (n + wrong),
        truth=[0] * (n + wrong),
    )


def test_accuracy_counts_every_flip_as_noise_until_its_repeats_refute_chance():
    assert shares(right_to_wrong(21, 9)).mean == pytest.approx(0.6957, abs=5e-5)  # the page's
    assert shares(right_to_wrong(30, 0)).mean == pytest.approx(0.0549, abs=5e-5)
    # p = .18: λ of (N1) would be .90, but chance may explain all.
    assert shares(right_to_wrong(18, 12)).mean == 1
    # Four of four: p = .06. Flips between two wrong answers say nothing about accuracy.
    assert shares(right_to_wrong(4, 0, wrong=20)).mean == 1
    assert shares(right_to_wrong(5, 0)).mean < 0.3


def test_weights_are_scaled_to_mean_one_over_the_repeats_that_count():
    uneven = repeats(weight=[2, 2, 2, 4, 4, 100])
    found = uneven.correctness(3)
    w = np.array([2, 2, 2, 4, 4]) / 2.8
    assert found.repeats == pytest.approx(5)
    assert found.repeats - found.confirmed == pytest.approx(w[1] + w[3])
    assert found.size == pytest.approx(25 / (w**2).sum())
    assert uneven.decided == (2, 2)  # what is printed is never weighted


def test_only_flips_that_were_answered_twice_are_repeats():
    items = Items.of(["a", "a", "b", "b", "a", "b"], old=["a", "a", "b", "b", "b", "a"])
    first = (np.array([0, 1, 2, 3, 4]), np.array([1, 0, 0, FAILED, 0]))
    again = (np.array([0, 1, 2, 3, 4]), np.array([1, 1, FAILED, 0, 0]))
    found = Repeats.of(items, Strata([0] * 6), first, again, np.array([5]))
    # Item 1 did not flip, item 2 failed the second time, item 3 the first time.
    assert found.first.tolist() == [1, 0]
    assert found.second.tolist() == [1, 0]


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
            truth=np.zeros(len(flipped), int),
        )
        a, b = found.decided
        plain.append(a - b)
        weighted.append(found.flips().confirmed - found.flips().reverted)
    assert np.mean(plain) > 20  # unweighted, an unchanged API looks changed in every run
    assert abs(np.mean(weighted)) < 4 * np.std(weighted) / 20


def one(old, first, second, asked, repeated):
    flipped = np.flatnonzero(old[asked] != first)
    some = flipped[:repeated]
    held = Repeats(
        old=old[asked[some]],
        first=first[some],
        second=second[some],
        weight=np.ones(len(some)),
        truth=np.zeros(len(some), int),
    )
    share = len(flipped) / len(asked)
    half = 1.96 * np.sqrt(share * (1 - share) / len(asked))
    ends = (np.asarray(x) for x in (share, share - half, share + half, 0.0, 0.0))
    return SumBounds(*ends), held.flips()


@pytest.mark.parametrize(("old", "shown"), [(0.0, 198), (0.1, 150)])
def test_with_old_draws_change_and_instability_are_covered(old, shown):
    """A third of the items became a coin, the others are as noisy as they were."""
    rng = np.random.default_rng(7)
    truth = np.where(np.arange(1500) % 2 == 0, old, 1 - old)
    coin = np.where(np.arange(1500) % 3 == 0, 0.5, truth)
    hits = less = stable = 0
    for _ in range(200):
        before = (rng.random((1500, 2)) < truth[:, None]).astype(int)
        asked = rng.permutation(1500)[:600]
        first, second = ((rng.random(600) < coin[asked]).astype(int) for _ in range(2))
        bounds, repeated = one(before[:, 0], first, second, asked, 80)
        found = randomness(bounds, repeated, old=OldDraws.of(before))
        hits += found.beyond.low <= np.mean((truth - coin) ** 2) <= found.beyond.high
        stable += found.new.low <= np.mean(2 * coin * (1 - coin)) <= found.new.high
        less += found.less_stable
    assert hits >= 178  # 1e-3 quantile at .95
    assert stable >= 178
    assert less >= shown


def test_an_unchanged_api_shows_nothing_beyond_noise_and_nothing_less_stable():
    rng = np.random.default_rng(2)
    hits = less = excess = 0
    for _ in range(200):
        r = rng.choice([0.1, 0.5, 0.9], 1000)
        before = (rng.random((1000, 2)) < r[:, None]).astype(int)
        first, second = ((rng.random(1000) < r).astype(int) for _ in range(2))
        bounds, repeated = one(before[:, 0], first, second, np.arange(1000), 60)
        found = randomness(bounds, repeated)
        hits += found.beyond.low <= 0
        less += found.less_stable
        excess += randomness(bounds, repeated, old=OldDraws.of(before)).excess.low > 0
    assert hits >= 178  # 1e-3 quantile at .95
    assert less <= 14  # 1e-3 quantile at .025
    assert excess <= 14


def test_repeats_of_one_version_are_taken_and_another_version_is_refused():
    rng = np.random.default_rng(3)
    rates = rng.choice([0.1, 0.9], 500)
    same = (rng.random((500, 3)) < rates[:, None]).astype(int)
    refuse_other_versions(same, ["spring", "spring.2", "spring.3"], ["no", "yes"])
    moved = same.copy()
    moved[:, 2] = np.where(rng.random(500) < 0.4, 1, moved[:, 2])
    with pytest.raises(InputError, match=r"spring.3 is not a repeat of spring"):
        refuse_other_versions(moved, ["spring", "spring.2", "spring.3"], ["no", "yes"])
    # As many one way as the other, but far more than between the first two.
    calm = np.stack([np.arange(500) % 2] * 3, axis=1)
    calm[:200, 2] = 1 - calm[:200, 2]
    with pytest.raises(InputError, match=r"spring and spring.3 differ more often"):
        refuse_other_versions(calm, ["spring", "spring.2", "spring.3"], ["no", "yes"])
