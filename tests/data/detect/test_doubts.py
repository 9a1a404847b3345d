"""When votes are asked about instead of being taken: one test for each reason."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
from tallystick.table.detect_doubts import Notebook, OpenQuestion, doubt_votes, look
from tallystick.table.detect_sample import draw

from tallystick.table import scan

N = 120
TRUTH = np.random.default_rng(99).random(N) < 0.5


def answers(seed: int, right: float, words: tuple[Any, Any] = ("good", "bad")) -> list[Any]:
    said = np.where(np.random.default_rng(seed).random(N) < right, TRUTH, ~TRUTH)
    return [words[0] if one else words[1] for one in said]


def asked(
    votes: tuple[str, ...], truth: str | None = None, /, **columns: list[Any]
) -> list[OpenQuestion]:
    sample = draw(scan(pa.table(columns)))
    book = Notebook(free=[name for name in columns if name not in votes and name != truth])
    doubt_votes(sample, look(sample), votes, truth, frozenset(), book)
    return book.questions


def test_judges_by_name_who_agree_are_not_doubted() -> None:
    votes = ("judge_a", "judge_b", "judge_c")
    columns = {name: answers(i, 0.9) for i, name in enumerate(votes)}
    assert asked(votes, **columns) == []
    assert asked(votes, "gold", gold=answers(9, 1.0), **columns) == []


def test_whole_numbers_of_a_rating_scale_may_be_ratings() -> None:
    draw_ratings = np.random.default_rng(0).integers(1, 6, (2, N)).tolist()
    [question] = asked(("a", "b"), a=draw_ratings[0], b=draw_ratings[1])
    assert question.option == "--judges"
    assert "whole numbers 1 to 5" in question.text
    assert "--models, without a truth, if they are ratings" in question.text


def test_zeros_and_ones_without_a_truth_may_be_marks_or_votes() -> None:
    columns = {name: answers(i, 0.9, (1, 0)) for i, name in enumerate(("gpt", "claude"))}
    [question] = asked(tuple(columns), **columns)
    assert question.option == "--models or --judges"
    assert "hold 0 and 1 and no column is named as the truth" in question.text


def test_labels_of_the_truth_that_agree_with_it_by_chance_only_are_asked_about() -> None:
    columns = {name: answers(i, 0.5, (1, 0)) for i, name in enumerate(("x", "y"), start=20)}
    [question] = asked(("x", "y"), "gold", gold=answers(9, 1.0, (1, 0)), **columns)
    assert "agree with it no more than by chance" in question.text
    assert "--ignore gold" in question.text


def test_yes_and_no_are_facts_of_every_sort_unless_they_follow_the_truth() -> None:
    yes = ("yes", "no")
    gold = answers(9, 1.0, yes)
    gpt, claude = answers(1, 0.9, yes), answers(2, 0.9, yes)
    [question] = asked(
        ("gpt", "claude", "urgent"),
        "gold",
        gold=gold,
        gpt=gpt,
        claude=claude,
        urgent=answers(3, 0.7, yes),
    )
    assert "'urgent' hold 'no', 'yes' as 'gold' does, but so do many facts" in question.text
    assert (
        asked(
            ("gpt", "claude", "urgent"),
            "gold",
            gold=gold,
            gpt=gpt,
            claude=claude,
            urgent=answers(3, 0.95, yes),
        )
        == []
    )


def test_a_vote_that_could_be_the_truth_is_asked_about_by_name_or_blanks() -> None:
    judges = {name: answers(i, 0.9) for i, name in enumerate(("judge_a", "judge_b", "judge_c"))}
    [question] = asked((*judges, "consensus"), **judges, consensus=answers(8, 0.95))
    assert question.option == "--truth"
    assert "--truth consensus" in question.text
    sparse = [label if i % 5 == 0 else None for i, label in enumerate(answers(8, 0.95))]
    [question] = asked((*judges, "review"), **judges, review=sparse)
    assert question.option == "--truth"
    assert "is filled in few rows only" in question.text


def test_one_vote_among_more_other_labels_is_no_group() -> None:
    [question] = asked(
        ("a",),
        a=answers(0, 0.9),
        b=answers(1, 0.9, ("cat", "dog")),
        c=answers(2, 0.9, ("up", "down")),
    )
    assert "no group of columns clearly answers one question ('a', 'b', 'c')" in question.text
