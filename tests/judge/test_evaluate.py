import numpy as np
import pytest

from tallystick.errors import InputError, NotIdentifiable
from tallystick.papers.noisy_judges.correlated_judges import Point, simulate
from tallystick.results import Interval, Unknown
from tallystick.table import Tally
from tallystick.verbs import judge
from tallystick.verbs.judge import (
    dawid_skene,
    grade,
)

QUALITY = {"w": ("9/10", "4/5"), "x": ("3/4", "17/20"), "y": ("4/5", "3/4"), "z": ("7/10", "4/5")}
POINT = Point(prevalence="2/5", accuracy=QUALITY)


def evaluate(votes, *, truth=None, judges=None, **options):
    """Every column but the truth is named as a judge: what columns are is not asked here."""
    names = votes.names if isinstance(votes, Tally) else votes
    named = judges or [name for name in names if name != truth]
    return judge.evaluate(votes, judges=named, truth=truth, **options)


def drawn(n, *, rng=1, labelled=0):
    data = simulate(POINT).independent_draws(n, rng=rng)
    data["truth"] = [
        label if i < labelled else None for i, label in enumerate(data["truth"].tolist())
    ]
    return Tally.of(data)


def copied(n, *, rng=1):
    """Two judges that copy a third."""
    data = simulate(POINT).independent_draws(n, rng=rng)
    generator = np.random.default_rng(rng)
    for name in ("x", "y"):
        data[name] = np.where(generator.random(n) < 0.85, data["w"], data[name])
    return data


def test_without_labels_there_is_a_range_and_no_interval():
    """The rule changed: Dawid-Skene with unreadable items leads, and no interval is claimed."""
    result = evaluate(drawn(4000), truth="truth")
    assert result.method == "dawid-skene with unreadable items"
    assert result.decision == "undecided"
    assert "By their votes alone" in result.verdict
    assert "an error that all judges share does not show" in result.verdict
    for score in result.judges:
        assert isinstance(score.interval, Unknown)
        assert score.logical.low <= score.range[0] < score.accuracy < score.range[1]
    body = result.to_dict()
    assert body["judges"][0]["interval"] is None
    assert "no interval is valid without labels" in body["unknown"]["judges[0].interval"]
    assert len(body["judges"][0]["range"]) == 2
    assert result.needed.count > 0


def test_judges_that_copy_are_caught_and_no_interval_is_claimed():
    result = evaluate(Tally.of(copied(4000)), truth="truth")
    assert result.n_labels == 4000
    result = evaluate(Tally.of({k: v for k, v in copied(4000).items() if k != "truth"}))
    assert "misfit" in {alarm.name for alarm in result.alarms}
    assert result.method == "dawid-skene with unreadable items"
    assert all(isinstance(score.interval, Unknown) for score in result.judges)
    assert "no label-free number can be relied on" in result.verdict


def test_labels_make_numbers_that_rest_on_no_independence():
    result = evaluate(drawn(4000, labelled=200), truth="truth")
    assert result.method == "labels"
    assert result.decision == "undecided"
    assert result.verdict.startswith("We cannot tell which judge is best: x 83.1%")
    assert "or one of 2 others." in result.verdict
    assert 1000 < result.needed.count <= result.labels_needed.left == 3800
    assert result.n_labels == 200
    assert result.labels_worth > 200
    truth = {
        name: 0.4 * float(eval_pair[0]) + 0.6 * float(eval_pair[1])
        for name, eval_pair in POINT.accuracy.items()
    }
    for score in result.judges:
        assert isinstance(score.interval, Interval)
        assert abs(score.accuracy - truth[score.name]) < 0.08
        assert score.logical.low <= score.accuracy <= score.logical.high


def test_it_is_decided_only_if_nobody_may_be_as_good():
    every = evaluate(drawn(4000, labelled=4000), truth="truth")
    assert every.rivals == ()
    assert (every.decision, every.needed) == ("decided", None)
    alone = evaluate(Tally.of({"x": [0, 1, 0], "gold": [0, 1, 1]}), truth="gold")
    assert (alone.decision, alone.needed) == ("decided", None)
    level = judge.grade(
        Tally.of({"x": [0, 1] * 5, "y": [1, 0] * 5, "gold": [0] * 10}), truth="gold"
    )
    assert level.decision == "undecided"
    assert str(level.needed).startswith("more items like these: all of them are labelled")
    few = judge.grade(
        Tally.of({"x": [0] * 14, "y": [0] * 12 + [1] * 2, "gold": [0] * 14}), truth="gold"
    )
    assert few.decision == "undecided"
    assert few.needed.count is None
    assert few.needed.of.startswith("items like these: all of them are labelled, too few to tell x")


def test_everything_labelled_leaves_no_doubt_about_these_items():
    result = grade(simulate(POINT).tally, truth="truth", population="these")
    for score, (a, b) in zip(result.judges, POINT.accuracy.values(), strict=True):
        assert score.accuracy == pytest.approx(0.4 * float(a) + 0.6 * float(b))
        assert score.interval.width == pytest.approx(0, abs=1e-12)
        assert score.per_label["a"].estimate == pytest.approx(float(a))


def test_everything_labelled_is_about_new_items_unless_told_otherwise():
    result = grade(simulate(POINT).tally, truth="truth")
    assert result.population == "new"
    for score in result.judges:
        assert score.interval.low < score.accuracy < score.interval.high


def test_two_judges_get_logic_only():
    result = evaluate(Tally.of({"x": [0, 0, 1, 1], "y": [0, 1, 1, 0]}))
    assert result.method == "logical"
    assert result.decision == "unknowable"
    assert "cannot be graded without labels" in result.verdict
    assert "at most 75.0%" in result.verdict


def test_one_item_one_judge_and_identical_judges_never_give_a_wrong_number():
    one = evaluate(Tally.of({"x": ["a"], "y": ["b"]}))
    assert one.decision == "unknowable"
    with pytest.raises(NotIdentifiable, match="every vote is 'a'"):
        evaluate(Tally.of({"x": ["a"]}))
    same = {name: [0, 1, 0, 1, 1] * 20 for name in "xyz"}
    result = evaluate(Tally.of(same))
    assert result.decision == "undecided"
    assert all(isinstance(score.interval, Unknown) for score in result.judges)


def test_a_constant_judge_is_graded_and_said_to_be_blind():
    data = simulate(POINT).independent_draws(3000, rng=4)
    votes = Tally.of({**{k: v for k, v in data.items() if k != "truth"}, "constant": ["a"] * 3000})
    result = evaluate(votes)
    constant = next(score for score in result.judges if score.name == "constant")
    assert constant.per_label["a"].estimate == pytest.approx(1.0)

    assert any("constant always votes a" in warning for warning in result.warnings)


def test_scores_are_refused_as_labels():
    rng = np.random.default_rng(1)
    for votes in (
        rng.random((60, 3)).round(3),
        rng.random((4000, 3)).round(2),
        rng.integers(0, 10**6, (60, 3)),
    ):
        with pytest.raises(InputError, match="look like scores or free text"):
            evaluate(Tally.of({name: votes[:, k] for k, name in enumerate("xyz")}))
    many = evaluate(Tally.of({name: rng.integers(0, 25, 300) for name in "xyz"}))
    assert len(many.prevalence) == 25


def test_true_labels_that_no_judge_gives_are_pointed_out():
    votes = {"x": [0, 1] * 20, "y": [0, 0, 1, 1] * 10, "gold": [2] * 3 + [None] * 37}
    assert any(
        "no judge ever says 2, the only true label so far" in w
        for w in evaluate(Tally.of(votes), truth="gold").warnings
    )
    with pytest.raises(
        InputError, match="column 'x' says 0, 1, and the truth 'gold' says 2, 3: no label is shared"
    ):
        evaluate(Tally.of({**votes, "gold": [2, 3] * 20}), truth="gold")


def test_a_judge_without_votes_is_refused_by_name():
    with pytest.raises(InputError, match="'mute' has no vote"):
        evaluate(Tally.of({"x": [0, 1], "mute": [None, None]}))


def test_sixty_five_judges_with_all_patterns_distinct_work():
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 2, 200)
    votes = {f"j{k}": np.where(rng.random(200) < 0.75, truth, 1 - truth) for k in range(65)}
    tally = Tally.of(votes)
    assert tally.patterns == 200
    result = evaluate(tally)
    assert len(result.judges) == 65
    assert np.median([score.accuracy for score in result.judges]) == pytest.approx(0.75, abs=0.03)


def test_known_judges_give_the_prevalence():
    known = {name: {"a": float(a), "b": float(b)} for name, (a, b) in POINT.accuracy.items()}
    votes = simulate(POINT).tally
    result = dawid_skene(votes, truth="truth", known=known)
    assert result.prevalence["a"].estimate == pytest.approx(0.4, abs=1e-6)
    assert "shares are" in result.verdict
    with pytest.raises(InputError, match="known names 'stranger'"):
        dawid_skene(votes, truth="truth", known={"stranger": {"a": 0.9, "b": 0.9}})
    with pytest.raises(InputError, match="every label"):
        dawid_skene(votes, truth="truth", known={"w": {"a": 0.9}})
    with pytest.raises(InputError, match="from 0 to 1"):
        dawid_skene(votes, truth="truth", known={"w": {"a": 1.9, "b": 0.4}})


def test_a_judge_of_known_quality_keeps_it_and_a_wrong_one_is_told():
    votes = drawn(4000)
    right = {"w": {"a": 0.9, "b": 0.8}}
    result = evaluate(votes, truth="truth", known=right)
    score = result.judges[0]
    assert score.accuracy == pytest.approx(0.84, abs=0.01)
    assert not any(alarm.name == "misfit" for alarm in result.alarms)
    wrong = evaluate(votes, truth="truth", known={name: {"a": 0.6, "b": 0.6} for name in QUALITY})
    assert wrong.method == "dawid-skene"
    assert any(alarm.name == "misfit" for alarm in wrong.alarms)
