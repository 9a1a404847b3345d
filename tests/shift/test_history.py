from datetime import date

import pytest

from tallystick.clients import ReplayClient
from tallystick.errors import FileError, FormatError, InputError
from tallystick.report import plot
from tallystick.verbs.shift import Items, ShiftQuestion, append_history, read_history, run, since
from tallystick.verbs.shift.baseline import check_history

from .conftest import COLUMNS


def test_assessments_are_kept_in_order_of_date(items, rows, tmp_path):
    result = run(items, ReplayClient("new", columns=COLUMNS), rows, ShiftQuestion(budget=80))
    for day in (date(2024, 5, 2), date(2024, 4, 1)):
        append_history(tmp_path / "h", result, on=day)
    history = read_history(tmp_path / "h")
    assert [row["date"] for row in history.rows()] == ["2024-04-01", "2024-05-02"]
    assert history.figures()[0].kind == "rounds"
    assert "2 assessments since 2024-04-01" in history.verdict
    drawn = plot(history).svg()
    assert "Change of accuracy over time" in drawn


def test_a_damaged_history_is_refused_by_line(tmp_path):
    (tmp_path / "h").write_text("{}\n")
    with pytest.raises(FormatError, match="line 1"):
        read_history(tmp_path / "h")
    with pytest.raises(FileError):
        read_history(tmp_path / "none")


def test_a_journal_of_other_items_is_refused(items, rows, tmp_path):
    run(
        items,
        ReplayClient("new", columns=COLUMNS),
        rows,
        ShiftQuestion(budget=60, journal=tmp_path / "j"),
    )
    other = Items.of(["a", "b"], old=["a", "b"], names=["x", "y"])
    with pytest.raises(FormatError, match="other data"):
        since(other, tmp_path / "j")


def asked_in_full(truth, new, path, **options):
    items = Items.of(truth, old=truth, **options)
    rows = [{"new": answer} for answer in new]
    run(
        items,
        ReplayClient("new", columns=["new"]),
        rows,
        ShiftQuestion(budget=len(truth), journal=path),
    )
    return items


def test_a_new_label_in_the_data_does_not_rename_the_answers_of_the_last_run(tmp_path):
    truth = ["cat", "dog"] * 50
    asked_in_full(truth, truth, tmp_path / "j")
    wider = [*truth, "ant"]
    later = since(Items.of(wider, old=wider), tmp_path / "j")
    assert [later.labels[code] for code in later.old] == wider


def test_an_answer_that_was_no_label_then_is_read_by_the_labels_of_now(tmp_path):
    truth = ["cat", "dog"] * 10
    asked_in_full(truth, ["ant", *truth[1:-1], "refused"], tmp_path / "j")
    later = since(Items.of(truth, old=truth, labels=["ant", "cat", "dog"]), tmp_path / "j")
    assert [later.columns[code] for code in later.old] == ["ant", *truth[1:-1], "(other)"]


def test_an_answer_of_the_last_run_that_is_no_label_any_more_is_refused(tmp_path):
    truth = ["cat", "dog"] * 10
    asked_in_full(truth, ["ant", *truth[1:]], tmp_path / "j", labels=["ant", "cat", "dog"])
    with pytest.raises(InputError, match=r"holds the answer 'ant' to item '0'.*--labels"):
        since(Items.of(truth, old=truth), tmp_path / "j")


def test_a_history_of_another_api_or_other_data_is_refused(items, rows, tmp_path):
    result = run(items, ReplayClient("new", columns=COLUMNS), rows, ShiftQuestion(budget=80))
    append_history(tmp_path / "h", result, on=date(2024, 4, 1))
    other = run(items, ReplayClient("old", columns=COLUMNS), rows, ShiftQuestion(budget=80))
    with pytest.raises(FormatError, match="the API changed"):
        append_history(tmp_path / "h", other, on=date(2024, 5, 1))
    with pytest.raises(FormatError, match="the data"):
        check_history(tmp_path / "h", (result.api, result.asked_hash, "other"))
