import numpy as np
import pytest

from tallystick.errors import InputError
from tallystick.results import Unknown
from tallystick.verbs.dynamic.attempts import (
    Attempts,
    corrected_rate,
    two_vote_set,
    validator_error,
)


def votes(cells):
    yes = [pair[0] for pair, count in cells.items() for _ in range(count)]
    no = [pair[1] for pair, count in cells.items() for _ in range(count)]
    return np.array(yes), np.array(no)


@pytest.mark.parametrize(
    ("cells", "expected"),
    [
        ({(3, 0): 40, (2, 1): 12, (1, 2): 6, (0, 3): 10}, (0.7607, 0.9160, 0.8503)),
        ({(2, 0): 60, (2, 1): 14, (1, 2): 9, (0, 2): 17}, (0.7160, 0.9018, 0.7614)),
    ],
)
def test_em_reaches_the_vectors_of_the_corrections(cells, expected):
    found = validator_error(*votes(cells))
    seen = (found.share, found.sensitivity, found.specificity)
    assert tuple(round(value, 4) for value in seen) == expected
    assert found.items == sum(cells.values())


def test_two_votes_leave_the_printed_set_open():
    """m = .774, D = .0973: [.656, .860]."""
    both, mixed = 696_376, 155_248
    yes = np.repeat([2, 1, 0], [both, mixed, 1_000_000 - both - mixed])
    low, high = two_vote_set(yes, 2 - yes)
    assert (round(low, 3), round(high, 3)) == (0.656, 0.860)
    found = validator_error(yes, 2 - yes)
    assert isinstance(found.share, Unknown)
    assert found.possible == (low, high)


def test_votes_that_do_not_agree_more_than_chance_leave_everything_open():
    yes = np.array([2, 1, 1, 0])
    assert two_vote_set(yes, 2 - yes) == (0.0, 1.0)


def test_one_vote_or_none_identifies_nothing():
    single = validator_error(np.array([1, 0, 1]), np.array([0, 1, 0]))
    assert "one vote per item" in single.share.reason
    assert single.possible is None
    assert "no item has a vote" in validator_error(np.zeros(3), np.zeros(3)).share.reason


def test_items_without_votes_are_left_out():
    yes, no = votes({(3, 0): 40, (2, 1): 12, (1, 2): 6, (0, 3): 10})
    grown = validator_error(np.append(yes, [0, 0]), np.append(no, [0, 0]))
    assert grown == validator_error(yes, no)


def test_the_true_share_is_found_in_a_large_log():
    rng = np.random.default_rng(0)
    valid = rng.random(40_000) < 0.8
    yes = rng.binomial(3, np.where(valid, 0.9, 0.15))
    found = validator_error(yes, 3 - yes)
    assert found.share == pytest.approx(0.8, abs=0.01)
    assert found.sensitivity == pytest.approx(0.9, abs=0.01)
    assert found.specificity == pytest.approx(0.85, abs=0.02)


def _log(rng, annotators=15, each=40):
    size = annotators * each
    fooled = rng.random(size) < np.repeat(rng.beta(6, 9, annotators), each)
    valid = rng.random(size) < 0.8
    yes = np.where(fooled, rng.binomial(3, np.where(valid, 0.9, 0.2)), 0)
    return Attempts(
        annotator=np.repeat(np.arange(annotators), each),
        round=np.ones(size, int),
        fooled=fooled,
        yes=yes,
        no=np.where(fooled, 3 - yes, 0),
    )


def test_the_corrected_rate_is_fooling_times_validity():
    log = _log(np.random.default_rng(1))
    rate, interval = corrected_rate(log, 1)
    share = validator_error(log.yes[log.fooled], log.no[log.fooled]).share
    assert rate == pytest.approx(log.fooled.mean() * share)
    assert interval.low < rate < interval.high


def test_the_jackknife_is_the_textbook_one():
    log = _log(np.random.default_rng(2), annotators=5, each=60)
    rate, interval = corrected_rate(log, 1)

    def logit(p):
        return np.log(p / (1 - p))

    left = []
    for name in range(5):
        keep = (log.annotator != name) & log.fooled
        found = validator_error(log.yes[keep], log.no[keep])
        left.append(logit(keep.sum() / (log.annotator != name).sum() * found.share))
    left = np.array(left)
    error = (4 / 5 * ((left - left.mean()) ** 2).sum()) ** 0.5
    assert logit(interval.high) == pytest.approx(logit(rate) + 2.776445 * error, rel=1e-6)
    assert logit(interval.low) == pytest.approx(logit(rate) - 2.776445 * error, rel=1e-6)


def test_the_corrected_interval_holds_the_rate():
    """The page measured .89 to .98; 60 draws at .89 give fewer than 45 once in 1000."""
    rng = np.random.default_rng(3)
    assert sum(0.4 * 0.8 in corrected_rate(_log(rng), 1)[1] for _ in range(60)) >= 45


def test_a_single_annotator_has_no_interval():
    rate, interval = corrected_rate(_log(np.random.default_rng(4), annotators=1), 1)
    assert 0 < rate < 1
    assert isinstance(interval, Unknown)


def test_a_log_that_fooled_nobody_or_has_no_votes_says_so():
    log = _log(np.random.default_rng(5))
    nobody = Attempts(
        annotator=log.annotator, round=log.round, fooled=np.zeros(log.size), yes=log.yes, no=log.no
    )
    assert "no attempt fooled" in corrected_rate(nobody, 1)[0].reason
    bare = Attempts(annotator=log.annotator, round=log.round, fooled=log.fooled)
    with pytest.raises(InputError, match="votes"):
        corrected_rate(bare, 1)


@pytest.mark.parametrize(("yes", "no"), [([1], [1, 2]), ([-1], [2]), ([0.5], [1])])
def test_votes_that_are_no_counts_are_refused(yes, no):
    with pytest.raises(InputError):
        validator_error(np.array(yes), np.array(no))
