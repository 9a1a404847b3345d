from datetime import datetime, timedelta

import numpy as np
import pytest

from tallystick.errors import InputError
from tallystick.table import read
from tallystick.verbs.dynamic import evaluate
from tallystick.verbs.dynamic.attempt_reading import attempts_of
from tallystick.verbs.dynamic.reading import DOOR

PLAIN = {"annotator": list("aabb"), "round": [1, 1, 2, 2], "fooled": ["yes", "no", "yes", "no"]}


def log(columns, **options):
    return attempts_of(read(columns, DOOR, **options))


@pytest.mark.parametrize(
    ("column", "cells", "fooled"),
    [
        ("fooled", [True, False, True, False], [1, 0, 1, 0]),
        ("jailbroken", ["jailbroken", "refused", "success", "failed"], [1, 0, 1, 0]),
        ("correct", ["right", "wrong", "correct", "refused"], [0, 1, 0, 0]),
        ("success", ["1", "0", "1.0", "0.0"], [1, 0, 1, 0]),
    ],
)
def test_words_say_whether_the_model_was_fooled(column, cells, fooled):
    columns = {"annotator": list("aabb"), "round": [1, 1, 2, 2], column: cells}
    assert log(columns)[0].fooled.tolist() == [bool(one) for one in fooled]


def test_the_answer_beside_the_right_one_says_it_too_whatever_the_case():
    columns = {"annotator": list("aab"), "gold": ["yes", "no", None], "answer": ["Yes", "yes", "x"]}
    attempts, _, taken, notes = log(columns)
    assert attempts.fooled.tolist() == [False, True]
    assert taken.prediction == "answer"
    assert "1 of 3 attempts have no outcome and are left out" in notes


def test_a_cell_that_is_neither_yes_nor_no_is_refused_by_its_row():
    with pytest.raises(InputError, match=r"row 2.*'fooled' is '0.73', which says neither"):
        log({**PLAIN, "fooled": ["1", "0.73", "0", "0"]})
    with pytest.raises(InputError, match=r"row 3.*'annotator' is blank"):
        log({**PLAIN, "annotator": ["a", "a", None, "b"]})
    with pytest.raises(InputError, match=r"row 4.*'round' is blank"):
        log({**PLAIN, "round": [1, 1, 2, None]})
    with pytest.raises(InputError, match="no attempt says whether the model was fooled"):
        log({**PLAIN, "fooled": [None] * 4})


def test_validity_is_read_and_what_is_pending_is_open():
    valid = log({**PLAIN, "validated": ["valid", "", "pending", "no"]})[0].valid
    assert valid.tolist() == [True, None, None, False]


def test_votes_come_as_counts_as_words_or_as_labels():
    counts = log({**PLAIN, "votes_yes": [2, None, 1, 0], "votes_no": [1, None, 0, 0]})[0]
    assert (counts.yes.tolist(), counts.no.tolist()) == ([2, 0, 1, 0], [1, 0, 0, 0])
    words = log({**PLAIN, "validators": ["correct;incorrect", "", "flagged|valid", ""]})[0]
    assert (words.yes.tolist(), words.no.tolist()) == ([1, 0, 1, 0], [1, 0, 0, 0])
    labels = {"annotator": list("ab"), "gold": ["e", "n"], "prediction": ["n", "n"]}
    found = log({**labels, "validator_labels": ["e,e,n", ""]})[0]
    assert (found.yes.tolist(), found.no.tolist()) == ([2, 0], [1, 0])
    with pytest.raises(InputError, match="holds the vote 'maybe'"):
        log({**PLAIN, "validators": ["maybe", "", "", ""]})


def test_clock_times_are_seconds_and_a_gap_in_the_costs_is_said():
    attempts, _, _, _ = log({**PLAIN, "time_elapsed": ["0:01:30", "0:00:05", "1:00:00", "0:00:01"]})
    assert attempts.cost.tolist() == [90, 5, 3600, 1]
    attempts, _, _, notes = log({**PLAIN, "cost": [1, 2, None, 3]})
    assert attempts.cost is None
    assert "1 attempts have no cost: no cost per success is given" in notes


def test_times_order_the_attempts_as_numbers_or_as_text():
    assert log({**PLAIN, "timestamp": [9, 100, 5, 7]})[0].order.tolist() == [2, 3, 0, 1]
    days = ["2024-02-01", "2024-01-01", "2024-03-01", "2024-01-01"]
    assert log({**PLAIN, "created_at": days})[0].order.tolist() == [1, 0, 2, 0]


def test_without_rounds_or_annotators_the_log_is_read_and_that_is_said():
    columns = {"model": ["m"] * 3, "success": [1, 0, 1], "date": ["2024-01-01"] * 3}
    attempts, _, taken, notes = log(columns)
    assert taken.annotator is None
    assert attempts.round_names == ("all attempts",)
    assert any("--round date: one round per day" in note for note in notes)
    assert any("no column names who made the attempts" in note for note in notes)


def test_other_models_are_held_against_the_truth_or_read_as_right_and_wrong():
    labels = {"annotator": list("ab"), "gold": ["e", "n"], "prediction": ["n", "e"]}
    wrong = log({**labels, "big": ["e", None]}, models="big", annotator="annotator")[1]
    assert wrong["big"].tolist() == [0, -1]
    marks = log({**PLAIN, "big": [1, 0, None, 1]}, models="big", fooled="fooled")[1]
    assert np.array_equal(marks["big"], [0, 1, -1, 0])


def _rising(dates):
    n = len(dates)
    return {
        "worker": [f"w{k % 10}" for k in range(n)],
        "fooled": [int((k * 37) % n < k) for k in range(n)],
        "date": dates,
        "round": [1] * n,
    }


@pytest.mark.parametrize("form", ["%Y-%m-%d", "%d/%m/%Y", "%m/%d/%Y", "%d.%m.%y", "%d %b %Y"])
def test_attempts_are_in_the_order_of_their_dates_however_those_are_written(form):
    start = datetime(2023, 11, 20)
    days = [start + timedelta(days=k // 5) for k in range(400)]
    found = evaluate(_rising([day.strftime(form) for day in days]))
    gain = found.rounds[0].saturation
    assert gain.estimate == pytest.approx(
        evaluate(_rising([day.isoformat() for day in days])).rounds[0].saturation.estimate
    )
    assert gain.interval.low > 0.2


def test_dates_that_cannot_be_read_leave_the_order_of_the_rows_and_say_so():
    found = evaluate(_rising(["03/04/2024", "04/03/2024"] * 100))
    assert any("taken in the order of the rows" in note for note in found.notes)


def test_rounds_with_names_follow_the_clock_and_not_the_rows():
    names, months = ["extra", "pilot", "main"], {"pilot": "01", "main": "02", "extra": "03"}
    rows = [names[k % 3] for k in range(300)]
    log = {
        "worker": [f"w{k % 12}" for k in range(300)],
        "round": rows,
        "fooled": [int(name == "pilot") for name in rows],
        "created_at": [f"2024-{months[name]}-{1 + k % 28:02d}" for k, name in enumerate(rows)],
    }
    found = evaluate(log)
    assert [each.round for each in found.rounds] == ["pilot", "main", "extra"]
    assert "the rounds are in the order of 'created_at': pilot, main, extra" in found.notes
