from __future__ import annotations

import pytest

from tallystick.errors import InputError, MergeError
from tallystick.table.patterns import Recipe


def recipe(**given) -> Recipe:
    return Recipe.of(**given)


def test_missing_tokens_are_text_without_margins_and_cut_columns_stand_apart() -> None:
    made = recipe(missing=[" NA ", -1], cut={"score": [0, 0.5, 1]}, apart=["lang"])
    assert made.missing == {"NA", "-1"}
    assert made.cut == {"score": (0.0, 0.5, 1.0)}
    assert made.apart == {"score", "lang"}


@pytest.mark.parametrize(
    ("given", "named"),
    [
        ({"columns": "gpt"}, r"columns must be a sequence.*columns=\['gpt'\]"),
        ({"missing": "NA"}, "missing must be a sequence"),
        ({"columns": []}, "at least one column"),
        ({"columns": ["a", "b", "a"]}, "columns names 'a' more than once"),
        ({"columns": ["a", "w"], "weight": "w"}, "'w' cannot be a column and the weight"),
        ({"cut": {"s": [0.5]}}, r"cut\['s'\] must be at least two rising edges"),
        ({"cut": {"s": [0, 1, 1]}}, "two rising edges"),
        ({"cut": {"s": [0, float("nan")]}}, "two rising edges"),
    ],
)
def test_options_that_cannot_be_meant_are_refused(given: dict, named: str) -> None:
    with pytest.raises(InputError, match=named):
        recipe(**given)


def test_all_columns_but_the_weight_are_counted_unless_some_are_named() -> None:
    assert recipe(weight="w").select(["a", "w", "b"]) == ("a", "b")
    assert recipe(columns=["b", "a"]).select(["a", "w", "b"]) == ("b", "a")


def test_a_column_that_is_not_there_is_refused_with_its_nearest_name() -> None:
    with pytest.raises(InputError, match="no column 'claud': did you mean 'claude'"):
        recipe(columns=["claud"]).select(["gpt", "claude"])
    with pytest.raises(InputError, match="no column 'xyz'; there are 'gpt', 'claude'"):
        recipe(weight="xyz").select(["gpt", "claude"])
    with pytest.raises(InputError, match="cut names column 'score', which columns= leaves out"):
        recipe(columns=["gpt"], cut={"score": [0, 1]}).select(["gpt", "score"])
    with pytest.raises(InputError, match="no column to count"):
        recipe(weight="w").select(["w"])


def test_recipes_merge_only_where_a_value_keeps_its_meaning() -> None:
    a, b = recipe(columns=["a"], apart=["a"]), recipe(coerce=True, apart=["b"])
    merged = a.merged(b)
    assert (merged.columns, merged.coerce, merged.apart) == (None, True, {"a", "b"})
    assert a.merged(a) is a
    for other, option in (
        (recipe(missing=["NA"]), "missing"),
        (recipe(weight="w"), "weight"),
        (recipe(cut={"s": [0, 1]}), "cut"),
    ):
        with pytest.raises(MergeError, match=f"counted with {option}="):
            a.merged(other)
