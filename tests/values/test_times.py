from itertools import pairwise

import pytest

from tallystick.table.words import read_times

IN_ORDER = [
    ["2023-11-20", "2023-12-02", "2024-01-03"],
    ["20/11/2023", "02/12/2023", "03/01/2024"],
    ["11/20/2023", "12/02/2023", "01/03/2024"],
    ["20.11.23", "02.12.23", "03.01.24"],
    ["02.11.2023", "01.12.2023"],
    ["9:05", "10:00"],
    ["20-11-2023 9:05", "20-11-2023 17:30", "02-12-2023 08:00"],
    ["11/20/2023 9:05 AM", "11/20/2023 1:30 PM", "11/20/2023 11:59 pm"],
    ["20 Nov 2023", "2 Dec 2023", "3 January 2024"],
    ["Nov 20, 2023", "Dec 2, 2023", "Jan 3, 2024"],
    ["Mon, 20 Nov 2023 10:00:00 GMT", "Sat, 02 Dec 2023 09:00:00 GMT"],
    ["2023/11/20", "2023/12/2"],
    ["2023-11-20T10:00:00Z", "2023-11-20T12:00:00+01:00", "2023-11-20T11:30:00"],
    ["2023-11", "2024-02"],
    ["9", "10", "11.5"],
    ["9:05:00", "10:00:00"],
]


@pytest.mark.parametrize("words", IN_ORDER, ids=lambda words: words[0])
def test_times_come_out_in_order(words):
    seconds = read_times(words).seconds
    assert all(a < b for a, b in pairwise(seconds))


def test_one_day_above_twelve_settles_the_whole_column():
    late, early, odd = read_times(["03/02/2024", "03/01/2024", "31/01/2024"]).seconds
    assert early < odd < late


def test_days_and_months_that_cannot_be_told_apart_are_not_guessed():
    found = read_times(["03/02/2024", "01/03/2024", "02/01/2024"])
    assert found.seconds is None
    assert "can be day/month or month/day" in found.note


@pytest.mark.parametrize(
    "words",
    [["20/11/2023", "11/20/2023"], ["yesterday", "today"], ["2024-01-01", ""], ["31/02/2024"]],
)
def test_what_is_no_column_of_times_is_not_read(words):
    found = read_times(words)
    assert found.seconds is None
    assert found.note
