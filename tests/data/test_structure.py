"""Long and wide tables are told apart by structure, whatever their headers say."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from tallystick.errors import InputError
from tallystick.table import read, scan
from tallystick.table.long_tables import long_readings
from tallystick.verbs.judge import evaluate

N = 60
WHO = ("ann", "bob", "eve")


def _votes(seed: int = 0) -> dict[str, list[str]]:
    draw = np.random.default_rng(seed)
    truth = draw.random(N) < 0.6
    return {
        who: ["yes" if v else "no" for v in np.where(draw.random(N) < right, truth, ~truth)]
        for who, right in zip(WHO, (0.9, 0.85, 0.75), strict=True)
    }


def _long(item: str, who: str, vote: str, **more: Any) -> dict[str, list[Any]]:
    votes = _votes()
    rows = [(i, name) for i in range(N) for name in WHO]
    return {
        item: [f"x{i}" for i, _ in rows],
        who: [name for _, name in rows],
        vote: [votes[name][i] for i, name in rows],
        **{name: [make(i, who) for i, who in rows] for name, make in more.items()},
    }


HEADERS = {
    "usual": ("item", "judge", "vote"),
    "review": ("review", "annotator", "label"),
    "sample": ("sample", "judge", "verdict"),
    "crowd": ("HITId", "WorkerId", "Answer.category"),
    "ticket": ("ticket", "agent", "decision"),
    "german": ("Frage", "wer", "Urteil"),
    "snake": ("conversation_id", "grader_name", "is_helpful"),
    "bare": ("a", "b", "c"),
    "shuffled": ("vote", "item", "judge"),
    "label studio": ("task id", "completed_by", "choice"),
    "prodigy": ("_input_hash", "_annotator_id", "answer"),
}


@pytest.mark.parametrize("headers", HEADERS.values(), ids=HEADERS)
def test_the_judges_are_found_whatever_the_headers_say(headers: tuple[str, str, str]) -> None:
    found = read(_long(*headers), evaluate_door()).roles
    assert found.item == headers[0]
    assert set(found.judges) == set(WHO)


def evaluate_door() -> Any:
    from tallystick.verbs.judge import CAPABILITY

    return CAPABILITY.door


@pytest.mark.parametrize("headers", HEADERS.values(), ids=HEADERS)
def test_a_long_table_gives_the_answer_of_the_wide_one(headers: tuple[str, str, str]) -> None:
    wide, long = evaluate(_votes()), evaluate(_long(*headers))
    assert [score.accuracy for score in wide.judges] == [score.accuracy for score in long.judges]


def test_rows_may_carry_ids_texts_times_and_a_truth() -> None:
    table = _long(
        "post",
        "rater",
        "toxic",
        row=lambda i, who: f"{i}-{who}",
        text=lambda i, who: f"the text of post {i}",
        seconds=lambda i, who: 3.5 + i + len(who),
        gold=lambda i, who: "yes" if i % 2 else "no",
    )
    assert [one.judge for one in long_readings(scan(pa.table(table)))] == ["rater"]
    assert evaluate(table, truth="gold").n_labels == N


def test_the_id_and_the_name_of_a_rater_are_one_voter() -> None:
    table = _long("post", "rater_id", "vote", rater_name=lambda i, who: who.upper())
    assert len(long_readings(scan(pa.table(table)))) == 1


def test_two_ways_to_read_a_long_table_are_asked_about() -> None:
    table = _long("post", "rater", "toxic", rude=lambda i, who: "yes" if i % 3 else "no")
    table["rude"] = ["yes" if k * k % 7 < 3 else "no" for k in range(len(table["rude"]))]
    # Two columns vary within a post: these are two questions, or two columns of votes.
    assert long_readings(scan(pa.table(table))) == ()


def test_an_output_table_of_systems_and_judges_stays_wide() -> None:
    votes = _votes()
    rows = [(i, system) for i in range(20) for system in ("A", "B", "C")]
    table = {
        "question": [f"q{i}" for i, _ in rows],
        "system": [system for _, system in rows],
        **{who: votes[who][:60] for who in WHO},
    }
    assert long_readings(scan(pa.table(table))) == ()
    assert set(read(table, evaluate_door()).roles.judges) == set(WHO)


def test_a_wide_table_with_a_split_and_a_repeating_id_stays_wide() -> None:
    table = {"id": [i % 30 for i in range(N)], "split": ["train", "test"] * 30, **_votes()}
    table["split"] = ["train"] * 30 + ["test"] * 30
    assert long_readings(scan(pa.table(table))) == ()


def test_a_table_without_votes_is_a_named_question() -> None:
    table = {"id": list(range(N)), "text": [f"text {i}" for i in range(N)]}
    with pytest.raises(InputError, match="--judges"):
        evaluate(table)
