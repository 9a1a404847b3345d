from __future__ import annotations

import re
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from tallystick.table.defaults import default_columns

from tallystick import compare, judge, score
from tallystick.errors import InputError
from tallystick.table import scan
from tallystick.table.roles import Roles

N = 60


def answers(seed: int, right: float, words: tuple[str, str] = ("yes", "no")) -> list[str]:
    draw = np.random.default_rng(seed)
    truth = np.random.default_rng(99).random(N) < 0.5
    said = np.where(draw.random(N) < right, truth, ~truth)
    return [words[0] if one else words[1] for one in said]


def chosen(want: str, roles: Roles | None = None, /, **columns: Any) -> tuple[Any, Any]:
    return default_columns(scan(pa.table(columns)), roles or Roles(), want)


def test_columns_that_share_labels_are_taken_and_the_others_left_out_with_a_reason() -> None:
    taken, left_out = chosen(
        "judges",
        id=[f"q{i}" for i in range(N)],
        gold=answers(0, 1.0),
        gpt=answers(1, 0.9),
        claude=answers(2, 0.9),
        length=[i * 1.5 for i in range(N)],
    )
    assert taken == ("gpt", "claude")
    assert left_out["gold"] == "named like the truth: add --truth to use it"
    assert left_out["id"] == "named like an identifier"
    assert left_out["length"] == "numbers with many values"


def test_beside_a_truth_only_its_labels_vote() -> None:
    columns = {
        "gold": answers(0, 1.0),
        "gpt": answers(1, 0.9),
        "tone": answers(2, 0.9, ("kind", "rude")),
    }
    taken, left_out = chosen("judges", Roles(truth="gold"), **columns)
    assert taken == ("gpt",)
    assert left_out["tone"] == "other labels than the truth"
    del columns["gpt"]
    with pytest.raises(InputError, match=r"no column uses the labels of 'gold' \(no, yes\)"):
        chosen("judges", Roles(truth="gold"), **columns)


def test_two_groups_that_fit_are_asked_about_with_the_words_to_type() -> None:
    with pytest.raises(InputError, match=r"--judges c,d,e or --judges a,b"):
        chosen(
            "judges",
            a=answers(1, 0.9),
            b=answers(2, 0.9),
            c=answers(3, 0.9, ("kind", "rude")),
            d=answers(4, 0.9, ("kind", "rude")),
            e=answers(5, 0.9, ("kind", "rude")),
        )


def test_two_judges_with_different_labels_are_told_which_and_what_to_do() -> None:
    with pytest.raises(
        InputError, match=r"use different labels \(no, yes and 0, 1\).*write them alike"
    ):
        chosen("judges", claude=answers(1, 0.9), gpt=answers(2, 0.9, ("1", "0")))


def test_a_column_that_agrees_with_nobody_is_asked_about() -> None:
    judges = {f"j{i}": answers(i, 0.95) for i in range(3)}
    # Every other item of each true label: it says nothing about the truth, by construction.
    seen: dict[str, int] = {}
    stranger = []
    for label in answers(0, 1.0):
        seen[label] = seen.get(label, 0) + 1
        stranger.append("yes" if seen[label] % 2 else "no")
    with pytest.raises(InputError, match=r"'smoker' hold the labels.*--judges j0,j1,j2"):
        chosen("judges", **judges, smoker=stranger)
    assert chosen("judges", **judges, other=answers(7, 0.95))[0] == ("j0", "j1", "j2", "other")


def test_models_without_a_truth_are_scores_on_one_scale() -> None:
    draw = np.random.default_rng(0)
    scores = {name: draw.random(N).round(3).tolist() for name in ("a", "b")}
    taken, left_out = chosen("models", **scores, tokens=draw.integers(50, 900, N).tolist())
    assert taken == ("a", "b")
    assert left_out["tokens"] == "named like a measurement"
    with pytest.raises(InputError, match="not scores of two models on one scale"):
        chosen("models", **scores, c=(1000 * draw.random(N)).tolist())
    with pytest.raises(InputError, match="hold words and not scores"):
        chosen("models", a=answers(0, 0.9, ("cat", "dog")), b=answers(1, 0.9, ("cat", "dog")))


def test_the_one_column_that_may_be_the_truth_is_asked_about() -> None:
    columns = {f"j{k}": answers(k, 0.9) for k in range(3)}
    for name in ("human_label", "SME", "Expert", "label"):
        with pytest.raises(InputError, match=rf"is column {name!r} the truth, or one more"):
            chosen("judges", None, **columns, **{name: answers(9, 0.9)})
    # Two people are two judges, and a truth that was named settles it.
    taken, _ = chosen("judges", **columns, human_1=answers(8, 0.9), human_2=answers(9, 0.9))
    assert len(taken) == 5
    taken, _ = chosen("judges", Roles(truth="j0"), **columns, human=answers(9, 0.9))
    assert "human" in taken


def test_a_column_that_numbers_the_rows_of_a_group_is_no_model() -> None:
    """Question 0 to 4 of each document won a comparison with "2 [2, 2]" before."""
    columns = {
        "doc": np.repeat([f"d{k}" for k in range(12)], 5),
        "q": np.tile(np.arange(5), 12),
        "old": (np.random.default_rng(0).random(60) < 0.6).astype(int),
        "new": (np.random.default_rng(1).random(60) < 0.7).astype(int),
    }
    taken, left_out = chosen("models", Roles(cluster="doc"), **columns)
    assert taken == ("old", "new")
    assert left_out["q"] == "numbers the rows of each 'doc'"
    _, left_out = chosen("models", **columns)
    assert "--cluster 'doc' asks about new ones" in left_out["q"]


def test_ratings_from_1_to_5_are_models_beside_any_group() -> None:
    rng = np.random.default_rng(0)
    taken, _ = chosen(
        "models", topic=["a", "b", "c"] * 20, v1=rng.integers(1, 6, N), v2=rng.integers(1, 6, N)
    )
    assert taken == ("v1", "v2")


def test_words_for_no_answer_beside_pass_and_fail_are_missing() -> None:
    taken, _ = chosen("models", a=["pass", "fail", "N/A"] * 20, b=["Pass", "fail", "Pass"] * 20)
    assert taken == ("a", "b")


@pytest.mark.parametrize(
    ("cells", "what"),
    [
        (["3,5", "4,0", "4,5"], "a decimal comma, such as '3,5'"),
        (["85%", "90 %", "77.5%"], "a per cent sign, such as '77.5%'"),
        (["$1.50", "$0.20", "$3"], "a currency sign"),
        (["120ms", "80 ms", "95ms"], "a unit"),
    ],
)
def test_numbers_in_a_way_that_is_read_as_words_are_refused_by_what_is_wrong(cells, what) -> None:
    with pytest.raises(InputError, match=re.escape(f"'b' has numbers with {what}")):
        chosen("models", a=[1, 2, 3] * 20, b=cells * 20)


def test_a_truth_with_one_label_beside_blanks_is_asked_about() -> None:
    marked = ["yes" if one == "yes" else None for one in answers(9, 1.0)]
    votes = {f"j{k}": answers(k, 0.9, ("yes", "no")) for k in (1, 2)}
    rare = {name: ["no"] * 40 + said[:20] for name, said in votes.items()}
    with pytest.raises(InputError, match="says yes and nothing else"):
        chosen("judges", Roles(truth="gold"), **rare, gold=marked)


def zero_one(**more: list) -> dict[str, list]:
    return {"old": [0, 1, 1, 0] * 30, "new": [1, 1, 1, 0] * 30, **more}


@pytest.mark.parametrize(
    ("name", "cells"),
    [
        ("is_long", [0, 1]),
        ("has_code", [0, 1]),
        ("flagged", [0, 1]),
        ("weight", [0.5, 1.5]),
        ("seed", [1, 2, 3]),
        ("n_shots", [0, 5]),
        ("Unnamed: 0", [0, 1]),
        ("delta", [0, 0.5, 1]),
        ("temperature", [0.7, 1.0]),
    ],
)
def test_columns_named_like_facts_are_no_models_unless_they_are_named(name, cells) -> None:
    table = zero_one(**{name: (cells * 120)[:120]})
    result = compare.evaluate(table)
    assert [row.name for row in result.models] == ["new", "old"]
    assert result.reading.unused[name].startswith("named like")
    named = compare.evaluate(table, models=("old", "new", name))
    assert len(named.models) == 3


def test_flags_are_no_judges_of_outputs_and_votes_on_a_flag_are() -> None:
    table = {
        "id": [k // 2 for k in range(120)],
        "system": ["a", "b"] * 60,
        "gpt": [0, 1, 1] * 40,
        "is_multilingual": [0, 1] * 60,
        "human": [0, 1, None] * 40,
    }
    assert [row.name for row in score.evaluate(table).judges] == ["gpt"]
    votes = {"gpt_flagged": ["yes", "no"] * 30, "claude_flagged": ["yes", "no", "no"] * 20}
    assert {row.name for row in judge.evaluate(votes).judges} == set(votes)


def test_flags_vote_where_nothing_else_does() -> None:
    votes = {"is_safe": ["yes", "no"] * 30, "is_polite": ["yes", "no", "no"] * 20}
    assert {row.name for row in judge.evaluate(votes).judges} == set(votes)


def test_a_model_of_right_and_wrong_with_a_code_is_asked_about() -> None:
    with pytest.raises(InputError, match=r"'third' says -1 in 30 of 120 cells.*--missing=-1"):
        compare.evaluate(zero_one(third=[-1, 0, 1, 1] * 30))


def test_a_lone_y_beside_models_is_asked_about() -> None:
    with pytest.raises(InputError, match="is column 'y' the truth, or one more"):
        compare.evaluate(zero_one(y=[0, 1] * 60))
    letters = {"x": [0, 1, 1] * 40, "y": [0, 1] * 60, "z": [1, 1, 0] * 40}
    assert len(compare.evaluate(letters).models) == 3


def test_a_column_that_counts_all_rows_is_no_model() -> None:
    columns = {
        "nr": np.arange(60),
        "old": (np.random.default_rng(0).random(60) < 0.6).astype(int),
        "new": (np.random.default_rng(1).random(60) < 0.7).astype(int),
    }
    taken, left_out = chosen("models", **columns)
    assert taken == ("old", "new")
    assert left_out["nr"] == "numbers the rows"
    columns["user"] = [f"u{k // 5}" for k in range(60)]
    _, left_out = chosen("models", **columns)
    assert left_out["nr"] == "numbers the rows; --cluster 'user' asks about new ones"


def test_the_ranges_of_a_chart_are_no_models() -> None:
    run = {f"{name} - acc": [k % 2 for k in range(30)] for name in ("old", "new")}
    chart = {"Step": list(range(30))}
    for name, cells in run.items():
        chart |= {name: cells, f"{name}__MIN": cells, f"{name}__MAX": cells}
    result = compare.evaluate(chart)
    assert {model.name for model in result.models} == {"old - acc", "new - acc"}
