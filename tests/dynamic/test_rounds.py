import pytest

from tallystick.verbs.dynamic.log import order_rounds, round_name


@pytest.mark.parametrize(
    ("cells", "names", "codes"),
    [
        (["2", "10", "2"], (2, 10), [0, 1, 0]),
        ([3.0, 1.0], (1, 3), [1, 0]),
        (["R2", "R10", "R2"], ("R2", "R10"), [0, 1, 0]),
        (["2024-03-02T10:00:00", "2024-03-01"], ("2024-03-01", "2024-03-02"), [1, 0]),
        (["pilot", "main", "pilot"], ("pilot", "main"), [0, 1, 0]),
        (["0", "1"], (0, 1), [0, 1]),
    ],
)
def test_rounds_are_ordered_whatever_they_are_called(cells, names, codes):
    found = order_rounds(cells)
    assert found.names == names
    assert found.codes.tolist() == codes


def test_names_without_order_stand_as_they_appear_and_that_is_said():
    (note,) = order_rounds(["pilot", "main"]).notes
    assert note == "the names of the rounds do not say their order: pilot and main. Number them"


def test_a_date_that_does_not_exist_is_a_name():
    assert order_rounds(["2024-02-31", "2024-01-01"]).names == ("2024-01-01", "2024-02-31")


@pytest.mark.parametrize(
    ("cells", "names"),
    [
        (["30/11/2023", "02/12/2023"], ("2023-11-30", "2023-12-02")),
        (["Q1 2024", "Q4 2023"], ("Q4 2023", "Q1 2024")),
        (["2024-02", "2023-11"], ("2023-11", "2024-02")),
        (["v1.10", "v1.9"], ("v1.9", "v1.10")),
    ],
)
def test_dates_quarters_and_versions_have_an_order(cells, names):
    found = order_rounds(cells)
    assert found.names == names
    assert found.notes == ()


def test_days_that_may_be_months_are_no_order():
    found = order_rounds(["03/02/2024", "01/03/2024", "02/01/2024"])
    assert found.names == ("03/02/2024", "01/03/2024", "02/01/2024")
    assert not found.ordered


def test_a_round_called_round_is_not_called_so_twice():
    assert round_name("round 12") == "round 12"
    assert round_name("12") == "round 12"
