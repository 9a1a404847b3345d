"""`bound` decides by labels alone, and asks where predictions and weak labels use other words."""

import json
import re

import numpy as np
import pytest

from tallystick.cli import main
from tests.known.tables import write

ITEMS = 1500


def copied(rate, *, seed, right=0.4):
    """Weak labels that copy one source on this share of the rows, and a classifier that is it."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, 2, ITEMS)
    source = np.where(rng.random(ITEMS) < right, truth, 1 - truth)
    table = {}
    for k in range(5):
        own = np.where(rng.random(ITEMS) < 0.6, truth, 1 - truth)
        table[f"lf_{k}"] = np.where(rng.random(ITEMS) < rate, source, own)
    return table | {"h": source}, truth


@pytest.fixture
def ask(tmp_path, monkeypatch, capsys):
    """Write a table; return the exit code of ``tallystick bound --json``, its answer and stderr."""
    monkeypatch.chdir(tmp_path)

    def run(table, *options, verb="bound"):
        write("rows.csv", table)
        named = ("--prediction", "h", "--weak", "lf_*")
        with pytest.raises(SystemExit) as left:
            main([verb, "rows.csv", *named, *options, *(["--json"] if verb == "bound" else [])])
        out, err = capsys.readouterr()
        said = json.loads(out) if out.startswith("{") else {}
        if said:
            said["verdict"] = said["verdict"].replace("\xa0", " ")
        return left.value.code, said, err

    return run


@pytest.mark.parametrize("rate", [0.6, 0.95])
@pytest.mark.parametrize("seed", [1, 2])
def test_weak_labels_that_share_errors_prove_no_claim(ask, rate, seed):
    """The accuracy is 40%, and Dawid-Skene puts it above 50%."""
    table, truth = copied(rate, seed=seed)
    code, said, _ = ask(table, "--at-least", "0.5")
    assert code == 0
    assert (table["h"] == truth).mean() < 0.45 < 0.5 < said["bounds"][1]["interval"][0]
    assert said["decision"] == "undecided"
    assert said["verdict"].startswith(
        "Without labels we cannot tell whether the accuracy of h is at least 50.0%. If "
    )
    assert said["verdict"].endswith(
        "Errors that the weak labels share break these ranges, and no vote shows whether they do."
    )


def test_a_claim_is_not_refuted_by_votes_either(ask):
    table, _ = copied(0.95, seed=3, right=0.9)
    table["h"] = 1 - table["h"]
    _, said, _ = ask(table, "--at-least", "0.7")
    assert said["bounds"][1]["interval"][1] < 0.7
    assert said["decision"] == "undecided"
    assert " is below " not in said["verdict"]


def test_without_labels_it_says_how_many_would_tell(ask):
    table, truth = copied(0.95, seed=4, right=0.35)
    _, said, _ = ask(table, "--at-least", "0.5")
    assert said["needed"]["count"] == 20
    told = re.search(
        r"about (\d+) tell whether it is at least 50.0% if it is 10 points off",
        said["needed"]["of"].replace("\xa0", " "),
    )
    enough = int(told[1])
    assert 100 < enough < 200
    gold = np.full(ITEMS, "", dtype=object)
    known = np.random.default_rng(4).choice(ITEMS, enough, replace=False)
    gold[known] = truth[known]
    _, said, _ = ask({**table, "gold": gold}, "--at-least", "0.5", "--truth", "gold")
    assert said["decision"] == "decided"
    assert said["verdict"].startswith("The accuracy of h is below 50.0%")


def test_fewer_than_twenty_labels_decide_nothing(ask):
    table, truth = copied(0.95, seed=5)
    gold = np.full(ITEMS, "", dtype=object)
    known = np.random.default_rng(5).choice(ITEMS, 12, replace=False)
    gold[known] = truth[known]
    _, said, _ = ask({**table, "gold": gold}, "--at-least", "0.5", "--truth", "gold")
    assert said["decision"] == "undecided"
    assert said["verdict"].startswith("With fewer than 20 labels we cannot tell whether")
    assert said["needed"]["count"] == 8


def test_without_labels_no_classifier_is_better_than_another(ask):
    """Dawid-Skene prefers the copy of the weak labels; the other one is right more often."""
    table, truth = copied(0.95, seed=6)
    flips = np.random.default_rng(6).random(ITEMS) < 0.7
    table["h2"] = np.where(flips, 1 - table["h"], table["h"])
    assert (table["h2"] == truth).mean() > (table["h"] == truth).mean()
    _, said, _ = ask(table, "--prediction", "h2")
    first, second = (
        one["interval"] for one in said["bounds"] if one["label_model"] == "dawid-skene"
    )
    assert first[0] > second[1]
    assert said["decision"] == "undecided"
    assert said["pairs"] == []
    assert said["verdict"].startswith("Without labels we cannot tell which classifier is best. Err")


WORDS = np.array(["ham", "spam"])


@pytest.mark.parametrize("verb", ["bound", "label"])
def test_a_prediction_in_words_is_asked_about_beside_votes_in_numbers(ask, verb):
    table, _ = copied(0.2, seed=7)
    table["h"] = WORDS[table["h"]]
    more = ("--question", "bound", "--session", "s.label") if verb == "label" else ()
    code, said, err = ask(table, *more, verb=verb)
    assert code == 2
    assert not said
    assert "and no label of h (ham, spam)" in err


def test_a_truth_that_speaks_like_the_prediction_does_not_hide_the_votes(ask):
    table, truth = copied(0.2, seed=8)
    table |= {"h": WORDS[table["h"]], "gold": WORDS[truth]}
    code, _, err = ask(table, "--truth", "gold")
    assert code == 2
    assert "and no label of h (ham, spam)" in err


def test_four_classes_that_were_named_are_four_classes(ask):
    table, _ = copied(0.2, seed=9)
    table["h"] = WORDS[table["h"]]
    code, said, _ = ask(table, "--labels", "ham,spam,0,1")
    assert code == 0
    assert said["classes"] == ["0", "1", "ham", "spam"]


def test_a_rule_that_only_finds_spam_beside_a_classifier_that_never_does_is_no_question(ask):
    table = {"lf_a": ["spam", "", ""] * 40, "lf_b": ["spam", "", "spam"] * 40, "h": ["ham"] * 120}
    code, said, _ = ask(table)
    assert code == 0
    assert said["classes"] == ["ham", "spam"]
