from __future__ import annotations

import pytest

from tallystick.errors import InputError
from tallystick.table.sources import MAX_COLUMNS, check_names


def test_a_nameless_column_gets_its_position_and_a_note() -> None:
    names, notes = check_names(["gold", " ", "gpt", ""], "votes.csv")
    assert names == ("gold", "column_2", "gpt", "column_4")
    assert notes == (
        "votes.csv: column 2 has no name and is called 'column_2'",
        "votes.csv: column 4 has no name and is called 'column_4'",
    )


def test_a_name_that_comes_twice_is_refused_with_both_positions() -> None:
    with pytest.raises(InputError, match=r"votes\.csv has 'gpt' twice \(columns 1 and 3\)"):
        check_names(["gpt", "gold", "gpt"], "votes.csv")
    # The name that a nameless column is given must not hide a column that already has it.
    with pytest.raises(InputError, match=r"'column_2' twice \(columns 1 and 2\)"):
        check_names(["column_2", ""], "votes.csv")


def test_names_that_differ_in_case_only_are_refused() -> None:
    with pytest.raises(InputError, match=r"both 'GPT' and 'gpt', alike but for case"):
        check_names(["GPT", "gpt"], "votes.csv")


def test_the_last_number_of_columns_that_is_read_is_the_limit_itself() -> None:
    header = [f"c{j}" for j in range(MAX_COLUMNS)]
    assert check_names(header, "wide.csv") == (tuple(header), ())
    with pytest.raises(InputError, match=r"2,001 columns, more than 2,000.*transpose"):
        check_names([*header, "one_more"], "wide.csv")
