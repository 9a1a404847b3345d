"""`judge` calls a judge the best only where every rival is excluded."""

import json

import numpy as np
import pytest

from tallystick.cli import main
from tallystick.table import Tally
from tallystick.verbs.judge import grade
from tests.known.tables import write


def panel(accuracy, labels, *, seed, items=400):
    """Votes of pass and fail whose errors are half shared, with the truth of so many items."""
    rng = np.random.default_rng(seed)
    shape = (items, len(accuracy))
    truth = rng.integers(0, 2, items)
    luck = np.where(rng.random(shape) < 0.5, rng.random((items, 1)), rng.random(shape))
    votes = np.where(luck < np.array(accuracy), truth[:, None], 1 - truth[:, None])
    words = np.array(["fail", "pass"])
    gold = np.full(items, "", dtype=object)
    known = rng.choice(items, labels, replace=False)
    gold[known] = words[truth[known]]
    judges = {f"judge_{j}": words[votes[:, j]].tolist() for j in range(len(accuracy))}
    return judges | ({"gold": gold.tolist()} if labels else {})


@pytest.fixture
def ask(tmp_path, monkeypatch, capsys):
    """Write a table and return what ``tallystick judge --json`` answers."""
    monkeypatch.chdir(tmp_path)

    def run(table, *options):
        write("votes.csv", table)
        with pytest.raises(SystemExit) as left:
            main(["judge", "votes.csv", *options, "--json"])
        assert left.value.code == 0
        said = json.loads(capsys.readouterr().out)
        return {**said, "verdict": said["verdict"].replace("\xa0", " ")}

    return run


def test_eight_judges_that_may_be_alike_have_no_best(ask):
    said = ask(panel([0.85] * 8, 100, seed=1), "--truth", "gold")
    assert said["verdict"].startswith("We cannot tell which judge is best: judge_")
    assert said["verdict"].count("%") == 2
    assert " or one of 6 others." in said["verdict"]
    assert "most accurate" not in said["verdict"]
    assert said["decision"] == "undecided"
    assert len(said["rivals"]) == 7


def test_a_judge_that_beats_all_others_is_the_most_accurate(ask):
    said = ask(panel([0.95] + [0.6] * 7, 200, seed=2), "--truth", "gold")
    assert said["verdict"].startswith("judge_0 is the most accurate of your eight judges: ")
    assert said["decision"] == "decided"
    assert said["rivals"] == []


def test_a_judge_that_is_beaten_is_named_though_the_best_is_open(ask):
    said = ask(panel([0.9, 0.9, 0.55], 150, seed=3), "--truth", "gold")
    assert said["verdict"].startswith("We cannot tell which judge is best: ")
    assert "judge_2 is not the best: " in said["verdict"]


def test_a_judge_without_a_labelled_vote_is_not_excluded(ask):
    table = panel([0.95, 0.6, 0.6, 0.9], 200, seed=4)
    table["judge_3"] = [
        vote if not gold else "" for vote, gold in zip(table["judge_3"], table["gold"], strict=True)
    ]
    said = ask(table, "--truth", "gold")
    # None of the labels is where judge_3 votes: such labels are no random draw.
    assert said["verdict"].startswith("The labels decide nothing, because they were not drawn at")
    assert "judge_3" in said["verdict"]
    assert (said["leader"], said["decision"]) == (None, "undecided")


def test_without_labels_nobody_is_said_to_be_best(ask):
    said = ask(panel([0.95] + [0.6] * 7, 0, seed=5))
    assert said["verdict"].startswith("Without labels we cannot tell which judge is best. ")
    assert "most accurate" not in said["verdict"]
    assert said["leader"] is None
    assert said["decision"] == "undecided"


@pytest.mark.parametrize("method", ["majority", "independent", "dawid-skene"])
def test_no_method_without_labels_names_a_best_judge(ask, method):
    said = ask(panel([0.95] + [0.6] * 4, 0, seed=6), "--method", method)
    assert said["verdict"].startswith("If ")
    assert "your five judges are right on " in said["verdict"]
    assert "judge_" not in said["verdict"]


def test_labels_that_were_not_drawn_at_random_name_no_best_judge(ask):
    table = panel([0.95] + [0.6] * 7, 400, seed=7)
    table["gold"] = [
        gold if vote == "pass" else ""
        for gold, vote in zip(table["gold"], table["judge_1"], strict=True)
    ]
    said = ask(table, "--truth", "gold")
    assert "not drawn at random" in said["verdict"]
    assert said["leader"] is None
    assert "most accurate" not in said["verdict"]


@pytest.mark.parametrize(
    ("accuracy", "labels"),
    [
        ([0.8] * 8, 20),
        ([0.8] * 8, 100),
        ([0.9, 0.9, *[0.6] * 6], 50),
        ([0.9, 0.9, *[0.6] * 6], 400),
        ([0.8, 0.8], 50),
        ([0.8, 0.8], 400),
    ],
)
def test_judges_that_are_equally_good_are_told_apart_on_few_tables(accuracy, labels):
    """Several are best, so every sentence that names one is false. The bar is 2.5% of tables; more
    than 12 of 200 have probability .002 at that rate."""
    false = 0
    for seed in range(200):
        table = panel(accuracy, labels, seed=[seed, labels], items=labels)
        false += "is the most accurate" in grade(Tally.of(table), truth="gold").verdict
    assert false <= 12


def test_a_best_judge_is_found_where_labels_show_it():
    found = 0
    for seed in range(40):
        table = panel([0.92] + [0.75] * 7, 400, seed=[seed, 9])
        found += grade(Tally.of(table), truth="gold").verdict.startswith("judge_0 is the")
    assert found >= 36
