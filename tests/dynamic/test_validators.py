import numpy as np
import pytest

from tallystick.errors import InputError
from tallystick.results import Interval, Unknown
from tallystick.verbs.dynamic.validators import (
    agreements,
    noise_share,
    random_labels,
    spelled_votes,
)


def drawn(share, error, validators=3, items=3000, seed=0):
    rng = np.random.default_rng(seed)
    chance = np.where(rng.random(items) < share, 0.5, 1 - error)
    return rng.binomial(validators, chance), np.full(items, validators)


def test_cells_of_several_spellings_are_read():
    agree, count = agreements(["cc", "cnc", "c, n", "", None], ["c", "n", "c", "c", "c"])
    assert agree.tolist() == [2, 1, 1, 0, 0]
    assert count.tolist() == [2, 3, 2, 0, 0]
    agree, count = agreements(["spam;ham|ham"], ["ham"])
    assert (agree.tolist(), count.tolist()) == ([2], [3])
    with pytest.raises(InputError, match="as many validator cells"):
        agreements(["c"], ["c", "n"])


@pytest.mark.parametrize(("share", "error"), [(0.0, 0.05), (0.2, 0.05), (0.5, 0.1)])
def test_three_validators_tell_random_labels_from_careless_people(share, error):
    found = noise_share(*drawn(share, error))
    assert found.interval.low - 1e-9 <= share <= found.interval.high
    assert abs(found.share - share) < 0.1


def test_the_interval_covers_about_as_often_as_it_says():
    hits = [0.3 in noise_share(*drawn(0.3, 0.05, items=400, seed=k)).interval for k in range(100)]
    assert np.mean(hits) >= 0.88


def test_two_validators_cannot():
    found = noise_share(*drawn(0.2, 0.05, validators=2))
    assert isinstance(found.share, Unknown)
    assert "three are needed" in found.share.reason


def test_a_filtered_log_gives_a_set_that_holds_the_truth():
    rng = np.random.default_rng(0)
    votes = rng.random((8000, 3)) < np.where(rng.random(8000) < 0.3, 0.5, 0.95)[:, None]
    agree, count = votes[:, :2].sum(axis=1), np.full(8000, 2)
    third = agree == 1
    agree[third] += votes[third, 2]
    count[third] += 1
    kept = 2 * agree > count
    found = noise_share(agree[kept], count[kept])
    assert isinstance(found.share, Unknown)
    assert isinstance(found.interval, Interval)
    assert found.interval.low == 0
    assert found.interval.high < 0.6
    # Of ambiguous items half are kept, of clear ones nearly all.
    assert 0.3 * 0.5 / (0.3 * 0.5 + 0.7 * 0.99) in found.interval


def test_no_validators_is_said():
    assert isinstance(noise_share(np.zeros(3), np.zeros(3)).share, Unknown)


def test_the_probabilities_of_random_labels_average_to_their_share():
    agree, count = drawn(0.3, 0.05, validators=5)
    found = noise_share(agree, count)
    each = random_labels(agree, count, found)
    assert each.mean() == pytest.approx(found.share, abs=2e-3)  # the likelihood's maximum says so
    assert np.all(np.diff([each[agree == a][0] for a in (3, 4, 5)]) < 0)


def test_no_share_no_probability():
    agree, count = drawn(0.2, 0.05, validators=2)
    assert np.isnan(random_labels(agree, count, noise_share(agree, count))).all()


def test_labels_of_several_words_are_read_whole():
    labels = ["very good", "bad", "very good"]
    agree, count = agreements(["very good, bad", "bad; very good; bad", "very good"], labels)
    assert agree.tolist() == [1, 2, 1]
    assert count.tolist() == [2, 3, 1]


def test_a_sign_inside_a_label_separates_nothing():
    agree, count = agreements(["yes, mostly; no", "no | no"], ["yes, mostly", "no"])
    assert agree.tolist() == [1, 2]
    assert count.tolist() == [2, 2]


def test_validators_in_another_spelling_are_refused_or_read_as_the_true_labels():
    with pytest.raises(
        InputError,
        match=r"'c' \(text, in column 'gold'\) and the label 'C' \(text, in column 'said'\)",
    ):
        spelled_votes(["cCc"], ["c"], name="said", truth="gold")
    read = spelled_votes(
        ["CnC", "N; c", None], ["c", "n", "c"], name="said", truth="gold", coerce=True
    )
    assert agreements(read, ["c", "n", "c"])[0].tolist() == [2, 1, 0]


def test_a_number_of_several_signs_is_one_vote_and_a_word_of_labels_is_several():
    read = spelled_votes(
        ["01", "1.0", "True", "110"], ["0", "1", "1", "1"], name="said", truth="gold", coerce=True
    )
    assert read == ("0,1", "1", "1", "1,1,0")


def test_validators_that_are_spelled_alike_stay_as_they_are():
    cells = ("cnc", "c|n", None, "x")
    assert spelled_votes(cells, ["c", "n", "c", "c"], name="said", truth="gold") == cells
