"""The sentences of judge: answer, number, doubt, what is not settled."""

import numpy as np

from tallystick.results import Interval
from tallystick.verbs.judge import evaluate
from tallystick.verbs.judge.few_labels import Leader
from tallystick.verbs.judge.result import JudgeScore, LabelsNeeded
from tallystick.verbs.judge.verdict import needed_labels, opening_with_labels


def score(name, accuracy, low, high):
    return JudgeScore(name=name, accuracy=accuracy, interval=Interval(low, high))


SCORES = (
    score("gpt", 0.86, 0.825, 0.886),
    score("claude", 0.845, 0.81, 0.872),
    score("llama", 0.78, 0.74, 0.817),
)


def said(best, **more):
    settings = {"n_labels": 208, "every": False, **more}
    return opening_with_labels(best, SCORES, **settings).verdict.replace("\xa0", " ")


def test_a_leader_with_rivals_is_not_called_the_best():
    best = Leader(place=0, name="gpt", rivals=("claude",), judges=3)
    assert said(best) == (
        "We cannot tell which judge is best: gpt 86.0% [82.5, 88.6], claude 84.5% [81.0, 87.2]."
        " llama is not the best: 78.0% [74.0, 81.7]."
    )
    three = Leader(place=0, name="gpt", rivals=("claude", "llama"), judges=3)
    assert said(three).endswith("claude 84.5% [81.0, 87.2] or llama.")


def test_labels_on_items_without_votes_say_nothing():
    assert "208 labels fell on items without votes" in said(None)


def test_what_is_needed_names_whom_it_tells_apart_and_what_is_left():
    best = Leader(place=0, name="gpt", rivals=("claude",), judges=3)
    enough = LabelsNeeded(precision=0, leader=140, left=392, enough=True)
    assert str(needed_labels(best, enough)) == (
        "about 140 more labels on items drawn at random, to tell gpt from claude"
    )
    short = LabelsNeeded(precision=0, leader=392, left=392, enough=False)
    assert "all that this table has left" in str(needed_labels(best, short))
    alone = Leader(place=0, name="gpt", rivals=(), judges=3)
    assert needed_labels(alone, enough) is None


def test_no_number_of_a_verdict_is_a_bare_fraction():
    rng = np.random.default_rng(1)
    truth = rng.integers(0, 2, 300)
    votes = {f"j{j}": np.where(rng.random(300) < 0.8, truth, 1 - truth) for j in range(4)}
    gold = [int(t) if i % 5 == 0 else None for i, t in enumerate(truth)]
    for table, options in ((votes, {}), ({**votes, "gold": gold}, {"truth": "gold"})):
        verdict = evaluate(table, **options).verdict
        assert "0." not in verdict.replace("00.0", "").replace("0.0%", "").split("[")[0]
        assert "%" in verdict
        assert "\xa0%" not in verdict
