"""One result file as one run: its items, its metrics, its model."""

from __future__ import annotations

import pyarrow as pa
import pytest

from tallystick.errors import InputError
from tallystick.table import scan
from tallystick.table.roles import Layout, Roles
from tallystick.table.runs import AskedOfRuns, plain_run, what_was_asked


def _read(columns, *, metric=None, **given):
    asked = AskedOfRuns(Layout(metric=metric), Roles.of(given), ())
    return plain_run(scan(pa.table(columns)), "a.csv", asked)


def test_every_column_of_numbers_is_a_metric_and_the_file_names_the_model():
    log, notes = _read({"id": [1, 2], "f1": [0.5, 1.0], "note": ["x", "y"]})
    assert (log.model, notes) == ("a", ())
    assert log.scores == {"f1": {"1": [0.5], "2": [1.0]}}


def test_a_column_with_one_model_names_the_run():
    log, _ = _read({"id": [1, 2], "model": ["m", "m"], "f1": [0.5, 1.0]})
    assert log.model == "m"


def test_items_without_a_name_are_called_by_what_was_asked():
    columns = {"prompt": ["a", "b"], "f1": [0.5, 1.0]}
    log, (note,) = _read(columns)
    assert note.endswith("items are matched by the content of prompt")
    assert len(log.scores["f1"]) == 2
    assert what_was_asked(scan(pa.table(columns))) == ["prompt"]


def test_a_file_without_items_or_scores_is_refused_with_the_way_out():
    with pytest.raises(InputError, match=r"no column names the items.*--item C"):
        _read({"f1": [0.5, 1.0]})
    with pytest.raises(InputError, match=r"no column holds scores.*--metric C"):
        _read({"id": [1, 2], "note": ["some words", "other words"]})


def test_answers_are_held_against_the_truth_where_one_is_named():
    log, _ = _read(
        {"id": [1, 2], "said": ["a", "b"], "gold": ["a", "a"]}, metric="said", truth="gold"
    )
    assert log.scores == {"said": {"1": [1.0], "2": [0.0]}}
