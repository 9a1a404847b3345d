import numpy as np

from tallystick.papers.noisy_judges.correlated_judges import Point, simulate
from tallystick.table import Tally
from tallystick.table.panel import Panel
from tallystick.verbs.judge import evaluate, few_labels
from tallystick.verbs.judge.few_labels import label_draw

POINT = Point(
    prevalence="2/5", accuracy={"x": ("9/10", "4/5"), "y": ("3/4", "17/20"), "z": ("4/5", "3/4")}
)


def labelled(places, n=400, rng=1):
    data = simulate(POINT).independent_draws(n, rng=rng)
    keep = set(np.asarray(places).tolist())
    data["truth"] = [label if i in keep else None for i, label in enumerate(data["truth"].tolist())]
    return Tally.of(data)


def test_labels_on_items_of_one_vote_are_caught_and_the_verdict_says_so():
    votes = simulate(POINT).independent_draws(400, rng=1)["x"]
    tally = labelled(np.flatnonzero(votes == "a")[:50])
    result = few_labels(tally, truth="truth")
    assert result.alarms[0].name == "labels were not drawn at random"
    assert "x says a on 100.0\xa0% of them" in result.warnings[0]
    assert result.verdict.startswith("These labels cannot say how good the judges are")
    assert result.decision == "undecided"
    assert "labels were not drawn at random" in {
        alarm.name for alarm in evaluate(tally, truth="truth").alarms
    }


def test_random_labels_raise_no_more_alarms_than_allowed():
    rng = np.random.default_rng(5)
    found = [
        label_draw(
            Panel.of(
                labelled(rng.choice(200, 40, replace=False), 200, int(rng.integers(1e6))),
                truth="truth",
            )
        )
        for _ in range(300)
    ]
    # at most 1 % each: the 1e-4 quantile of 300
    assert sum(alarm is not None for alarm in found) <= 11


def test_all_or_no_labels_cannot_be_a_bad_draw():
    assert label_draw(Panel.of(labelled(range(400)), truth="truth")) is None
    assert label_draw(Panel.of(labelled([]), truth="truth")) is None


def test_labels_where_judges_disagree_are_caught_though_each_judge_votes_as_elsewhere():
    data = simulate(POINT).independent_draws(600, rng=4)
    apart = np.flatnonzero((data["x"] != data["y"]) | (data["x"] != data["z"]))
    data["truth"] = [
        label if i in set(apart[:80].tolist()) else None
        for i, label in enumerate(data["truth"].tolist())
    ]
    result = evaluate(Tally.of(data), truth="truth")
    assert result.decision == "undecided"
    assert "agree on 0.0\xa0% of them" in result.warnings[0]
