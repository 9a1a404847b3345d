import numpy as np

from tallystick.stats.few_labels import accuracies
from tallystick.table import Tally
from tallystick.verbs.judge import evaluate, grade
from tallystick.verbs.judge.few_labels import leader, leader_of


def lucky(n=300):
    """Three judges with many votes and one with two votes, both right; everything is labelled."""
    rng = np.random.default_rng(3)
    truth = rng.integers(0, 2, n)
    votes = {
        name: np.where(rng.random(n) < a, truth, 1 - truth)
        for name, a in (("x", 0.95), ("y", 0.8), ("z", 0.7))
    }
    return {**votes, "lucky": [int(truth[i]) if i < 2 else None for i in range(n)], "gold": truth}


def test_a_judge_with_few_votes_does_not_lead_however_lucky():
    for answer in (
        evaluate(Tally.of(lucky()), judges=(*"xyz", "lucky"), truth="gold"),
        grade(Tally.of(lucky()), truth="gold"),
    ):
        assert answer.leader == "x", answer.method
        assert answer.rivals[0] == "lucky"
        assert "lucky" in answer.verdict


def test_all_labels_are_still_a_sample_of_new_items():
    result = evaluate(Tally.of(lucky()), judges=(*"xyz", "lucky"), truth="gold")
    assert result.verdict.startswith("We cannot tell which judge is best: x 96.0%")
    assert "All votes are labelled (300 items): the doubt is about new items." in result.verdict
    best, _, _, few = result.judges
    assert 0.03 < best.interval.width < 0.07
    assert few.accuracy == 1.0
    assert few.interval.low < 0.25


def test_a_judge_of_whom_nothing_is_known_never_leads_and_is_not_excluded():
    nothing = np.full(2, np.nan)
    assert leader("ab", nothing, nothing) is None
    assert leader("ab", np.array([np.nan, 0.2]), np.array([np.nan, 0.9])).rivals == ("a",)


def test_judges_on_the_same_items_are_told_apart_by_where_they_differ():
    """80 labels: intervals of 75% and 55% overlap, but one is never wrong where the other is
    right."""
    truth = np.zeros(80, int)
    table = {"x": np.arange(80) >= 60, "y": np.arange(80) >= 44}
    votes = {name: wrong.astype(int) for name, wrong in table.items()}
    result = grade(Tally.of({**votes, "gold": truth}), truth="gold")
    assert result.rivals == ()
    # One blank vote changes one item of eighty, and not the answer.
    apart = {**votes, "y": [None if i == 79 else v for i, v in enumerate(votes["y"].tolist())]}
    assert grade(Tally.of({**apart, "gold": truth}), truth="gold").rivals == ()


def test_a_wrong_sole_leader_is_named_at_most_as_often_as_alpha():
    """Three judges that are truly alike, 200 draws of 40 labelled items: a sole leader is always a
    false claim."""
    rng = np.random.default_rng(11)
    patterns = np.array([[a, b, c] for a in (0, 1) for b in (0, 1) for c in (0, 1)])
    share = np.array([0.45, 0.05, 0.05, 0.06, 0.05, 0.06, 0.06, 0.22])
    names, truth = ("x", "y", "z"), np.zeros(8, int)
    false = 0
    for counts in rng.multinomial(40, share, size=200):
        found = accuracies(patterns, truth, counts=counts, population="new")
        false += not leader_of(found, names, alpha=0.05, rng=0).rivals
    assert false <= 10  # 5% of the draws
