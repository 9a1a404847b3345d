import math

import numpy as np
import pytest

from tallystick.report.grid import grid
from tallystick.results import Interval, Unknown


def of(*rows, most=10, units=None):
    return grid(rows, units, most=most)


def test_a_column_in_which_nothing_is_known_is_left_out():
    table = of(
        {"a": 1, "b": None, "c": Unknown("no labels"), "d": math.nan},
        {"a": None, "b": None, "c": None, "d": None},
    )
    assert table.names == ("a",)
    assert [str(row[0]) for row in table.rows] == ["1", "–"]


def test_an_interval_is_one_cell_and_its_promise_is_said_once():
    table = of(
        {"x": Interval(0.1, 0.25, guarantee="exact")},
        {"x": Interval(0.3, math.inf, guarantee="exact")},
    )
    assert [str(row[0]) for row in table.rows] == ["[0.10, 0.25]", "[0.3, ∞]"]
    assert table.promise == "95%, exact"
    assert (
        of({"x": Interval(0, 1, guarantee="under", assumption="judges are honest")}).promise
        == "95%, if judges are honest"
    )
    assert of({"x": Interval(0, 1), "y": Interval(0, 1, level=0.9)}).promise == ""


@pytest.mark.parametrize(
    ("cells", "shown"),
    [
        ([0.8675, 0.847], ["0.8675", "0.8470"]),
        ([0.05, 0.1], ["0.05", "0.10"]),
        ([0.5, 1e-9], ["0.5", "1 × 10⁻⁹"]),
        ([3.0, 12.0], ["3", "12"]),
        ([1234567, 3], ["1,234,567", "3"]),
        ([12345.678, 1.0], ["12,346", "1"]),
        ([np.float64(0.25), np.int64(3)], ["0.25", "3"]),
        ([True, False], ["yes", "no"]),
        ([{"a": 0.5, "b": None}, [1, 2]], ["a: 0.5, b: –", "1, 2"]),
        (["evil\x1b[31m‮", "x" * 500], ["evil [31m", "x" * 399 + "…"]),
    ],
)
def test_the_cells_of_a_column_are_written_alike(cells, shown):
    assert [str(row[0]) for row in of(*({"x": cell} for cell in cells)).rows] == shown


def test_numbers_are_set_to_the_right_and_only_the_first_rows_are_shown():
    table = of({"name": "a", "n": 1}, {"name": "b", "n": 100}, {"name": "c", "n": 5}, most=2)
    assert table.text() == "name     n\na        1\nb      100"
    assert (table.total, table.numeric) == (3, (False, True))


def test_an_interval_after_its_estimate_stands_in_the_same_cell_and_sorts_by_the_estimate():
    table = of(
        {"name": "a", "score": 0.863, "interval": Interval(0.849, 0.876), "p": 0.00001},
        {"name": "b", "score": None, "interval": None, "p": 0.5},
        units={"score": "share", "p": "p"},
    )
    assert table.names == ("name", "score", "p")
    assert [str(cell) for cell in table.rows[0]] == ["a", "86.3% [84.9, 87.6]", "< 0.0001"]
    assert [str(cell) for cell in table.rows[1]] == ["b", "–", "0.50"]
    assert [row[1].order for row in table.rows] == [0.863, None]


def test_a_number_beside_an_estimate_has_the_decimals_of_its_interval():
    rows = [
        {"system": "a", "corrected": 4.0881, "interval": Interval(3.87, 4.27), "judges": 4.0171},
        {"system": "b", "corrected": 3.82, "interval": Interval(3.59, 4.0), "judges": None},
    ]
    units = {"corrected": "number", "judges": "number"}
    first, second = grid(rows, units, most=9).text().splitlines()[1:]
    assert first.split() == ["a", "4.09", "[3.87,", "4.27]", "4.02"]
    assert second.split() == ["b", "3.82", "[3.59,", "4.00]", "–"]


def test_a_column_of_no_stated_unit_keeps_its_own_digits():
    rows = [{"score": 4.0881, "interval": Interval(3.87, 4.27), "seconds": 0.0171}]
    assert "0.0171" in grid(rows, {}, most=9).text()
