from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from tallystick.table.detect_doubts import Notebook, Profile, look
from tallystick.table.detect_sample import draw
from tallystick.table.detecting import (
    Voters,
    find_confidences,
    find_prediction,
    find_validators,
    find_versions,
)

from tallystick.table import scan
from tallystick.table.roles import Roles


def profiles(**columns: list[Any]) -> dict[str, Profile]:
    return dict(look(draw(scan(pa.table(columns)))))


def fractions(seed: int, high: float = 1.0) -> list[float]:
    return (high * np.random.default_rng(seed).random(80)).tolist()


@pytest.mark.parametrize(
    ("votes", "found"),
    [
        (("pred_new", "pred_old"), {"old": "pred_old", "new": "pred_new"}),
        (("api_2023", "api_2021", "gpt"), {"old": "api_2021", "new": "api_2023"}),
        (("old_town", "new_york"), {}),
        (("pred_old", "pred_2021"), {}),
        (("pred_old", "gpt"), {}),
    ],
)
def test_two_votes_are_versions_if_their_names_differ_in_time_only(
    votes: tuple[str, ...], found: dict[str, str]
) -> None:
    book = Notebook(free=list(votes))
    assert find_versions(Voters(votes=votes), Roles(), book) == found
    assert [part.role for part in book.taken] == list(found)
    assert find_versions(Voters(votes=votes), Roles(old="x"), Notebook(free=[])) == {}


def test_three_versions_are_left_to_the_caller_with_a_note() -> None:
    votes = ("api_2021", "api_2022", "api_2023")
    book = Notebook(free=list(votes))
    assert find_versions(Voters(votes=votes), Roles(), book) == {}
    assert "name two of them (--old, --new)" in book.notes[0]


def test_the_confidence_of_the_old_version_is_used_and_the_other_set_aside() -> None:
    looked = profiles(conf_old=fractions(0), conf_new=fractions(1), conf=fractions(2))
    book = Notebook(free=list(looked))
    voters = Voters(votes=("pred_old", "pred_new"))
    assert find_confidences(looked, voters, {"old": "pred_old"}, book) == {"confidence": "conf_old"}
    assert [(part.columns, part.role) for part in book.taken] == [
        (("conf_old",), "confidence"),
        (("conf_new",), "not used"),
    ]
    # A confidence that names no vote belongs to none of them.
    assert book.free == ["conf"]


def test_a_classifier_is_found_beside_weak_labels_only() -> None:
    weak = Voters(votes=("lf_0", "lf_1", "pred"))
    looked = profiles(score=fractions(0))
    book = Notebook(free=["score"])
    assert find_prediction(looked, weak, Roles(), True, book) == {"prediction": "pred"}
    models = Voters(votes=("gpt", "claude", "pred"))
    assert find_prediction(looked, models, Roles(), False, Notebook(free=["score"])) == {}


@pytest.mark.parametrize(("high", "found"), [(1.0, {"score": "score"}), (90.0, {})])
def test_a_score_is_a_classifier_if_it_stays_between_zero_and_one(
    high: float, found: dict[str, str]
) -> None:
    looked, book = profiles(score=fractions(0, high)), Notebook(free=["score"])
    voters = Voters(votes=("lf_0", "lf_1"))
    assert find_prediction(looked, voters, Roles(), True, book) == found
    assert find_prediction(looked, voters, Roles(score="s"), True, book) == {}


@pytest.mark.parametrize(
    ("cells", "found"),
    [
        (["cnc", "ccc", "nnc"], {"validators": "validators"}),
        (["c,n,c", "c,c,c", "n,n,c"], {"validators": "validators"}),
        (["cne", "ccc", "nnc"], {}),
    ],
)
def test_validators_hold_nothing_but_labels_of_the_truth(
    cells: list[str], found: dict[str, str]
) -> None:
    looked = profiles(gold=["c", "n", "c"] * 20, validators=cells * 20)
    voters = Voters(votes=("gpt",), truth="gold")
    assert find_validators(looked, voters, Roles(), Notebook(free=["validators"])) == found
    unknown = Voters(votes=("gpt",))
    assert find_validators(looked, unknown, Roles(), Notebook(free=["validators"])) == {}
