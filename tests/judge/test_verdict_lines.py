import numpy as np

from tallystick import judge
from tallystick.verbs.judge.verdict import more_lines


def panel(labelled, n=240):
    rng = np.random.default_rng(1)
    truth = rng.random(n) < 0.4
    words = np.array(["no", "yes"])
    votes = {
        name: words[np.where(rng.random(n) < p, truth, ~truth).astype(int)].tolist()
        for name, p in (("x", 0.9), ("y", 0.8), ("z", 0.75))
    }
    known = rng.permutation(n) < labelled
    gold = [words[int(t)] if k else None for t, k in zip(truth, known, strict=True)]
    return votes | ({"gold": gold} if labelled else {})


def test_shares_from_votes_alone_say_that_they_have_no_interval():
    first = more_lines(judge(panel(0)))[0]
    assert first.startswith("Share of each label")
    assert first.endswith("(from votes alone: no interval).")
    assert "no interval" not in more_lines(judge(panel(60), truth="gold"))[0]


def test_rates_agreement_and_calibration_are_named():
    lines = "\n".join(more_lines(judge(panel(60), truth="gold")))
    assert '"right on yes" is the true positive rate (TPR)' in lines
    assert "Fleiss' kappa" in lines
    assert "measured on 60 labels that were left out" in lines


def test_forecast_labels_never_exceed_the_table():
    result = judge(panel(60), truth="gold")
    assert result.labels_needed.precision <= 180
    assert "180 items are unlabelled" in "\n".join(more_lines(result))
