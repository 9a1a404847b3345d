"""Per cent signs and decimal commas are read where a whole column is written so."""

from __future__ import annotations

import pyarrow as pa
import pytest

from tallystick import compare, judge, score
from tallystick.errors import InputError
from tallystick.table import scan
from tallystick.table.numbers import with_plain_numbers


def cells_of(*cells: str | None, missing: tuple[str, ...] = ()) -> list[str | None]:
    table = with_plain_numbers(scan(pa.table({"x": pa.array(cells, pa.string())})), missing)
    return [cell for (cell,) in table.query("select x from rows")]


@pytest.mark.parametrize(
    ("cells", "plain"),
    [
        (["90%", "7.5%", "100%"], ["0.9", "0.075", "1.0"]),
        (["12,5%", "-3%"], ["0.125", "-0.03"]),
        (["0,854", "1,0", "2"], ["0.854", "1.0", "2"]),
        (["4,5", "NA", "3,5", None], ["4.5", "NA", "3.5", None]),
        (["1,234", "0,5", "0,25"], ["1.234", "0.5", "0.25"]),
    ],
)
def test_a_column_that_is_written_so_throughout_is_read(cells, plain) -> None:
    assert cells_of(*cells) == plain


@pytest.mark.parametrize(
    "cells",
    [
        ["1.234,5", "987,25", "12"],  # German
        ["1,234.5", "987.25", "12"],  # English
        ["1,234,567", "-2,000", "NA"],
        ["1\u202f234,5", "987"],  # French
        ["1'234.50", "987.25"],  # Swiss
        [f"{value:,}".replace(",", ".") for value in range(950, 1050, 4)],
    ],
)
def test_thousands_in_groups_are_refused_where_they_are_used(cells) -> None:
    near = [f"{value:,}".replace(",", ".") for value in range(1010, 1010 + len(cells))]
    table = {"old": cells, "new": near, "id": list(range(len(cells)))}
    for models in (("old", "new"), ("new", "old")):
        with pytest.raises(InputError, match="writes thousands in groups"):
            compare(table, models=models)


def test_a_table_of_nothing_but_thousands_in_groups_says_so() -> None:
    scores = [f"{value:,}.5" for value in range(1000, 1080)]
    with pytest.raises(InputError, match="column 'old' writes thousands in groups"):
        compare({"old": scores, "new": scores[::-1]})


def test_milliseconds_with_three_decimals_are_no_thousands() -> None:
    times = [f"{value / 1000:.3f}" for value in range(1000, 9000, 37)] + ["100", "250"]
    assert cells_of(*times) == times
    assert not with_plain_numbers(scan(pa.table({"x": times}))).doubtful


@pytest.mark.parametrize(
    "cells",
    [
        ["1,234", "12,000", "999"],  # thousands, or a little more than one
        ["90%", "0.9"],  # of which scale is 0.9?
        ["0,5", "good"],
        ["1", "1,5", "0"],  # a slip of the pen
        ["a, b", "c, d"],
        ["1", "2"],
    ],
)
def test_any_other_column_is_left_as_it_is(cells) -> None:
    assert cells_of(*cells) == cells


def test_scores_of_models_in_per_cent_are_compared_as_shares() -> None:
    table = {"old": ["40%", "60%"] * 40, "new": ["70%", "71%"] * 40}
    result = compare(table)
    assert result.models[0].name == "new"
    assert result.models[0].score == pytest.approx(0.705)
    assert any("is read as 0.71" in note for note in result.notes)


@pytest.mark.parametrize("sign", ["%", ","])
def test_grades_are_read_as_if_they_were_written_with_points(sign: str) -> None:
    gpt = [0.2, 0.9, 0.55, 0.61] * 40
    human = [0.3, None, 0.5, None] * 40
    systems = {"id": [k // 2 for k in range(160)], "system": ["a", "b"] * 80}

    def written(value: float | None) -> str | None:
        if value is None:
            return None
        return f"{100 * value:g}%" if sign == "%" else str(value).replace(".", ",")

    plain = score({**systems, "gpt": gpt, "human": human})
    odd = score({**systems, "gpt": [*map(written, gpt)], "human": [*map(written, human)]})
    assert [row.score for row in odd.systems] == [row.score for row in plain.systems]
    assert any("grades go from 0 to 1" in note for note in plain.notes)


def test_labels_in_per_cent_stay_labels() -> None:
    votes = {"x": ["10%", "20%"] * 30, "y": ["10%", "20%", "20%"] * 20, "gold": ["10%", "20%"] * 30}
    with pytest.warns(UserWarning, match="'gold' equals 'x' on all 60 rows"):
        result = judge(votes, truth="gold")
    assert set(result.prevalence) == {"10%", "20%"}


def test_a_column_without_a_single_grade_says_what_to_write() -> None:
    table = {"system": ["a", "b"] * 20, "gpt": ["blau", "rot"] * 20, "human": ["1", "0"] * 20}
    with pytest.raises(InputError, match="or write pass and fail") as told:
        score(table, judges=("gpt",))
    assert "--missing" not in str(told.value)
