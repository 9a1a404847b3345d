from datetime import date

import pytest

from tallystick import plot
from tallystick.errors import FileError, FormatError, InputError
from tallystick.shift import Items, Run, append_history, read_history, run, update_old
from tallystick.shift.clients import ReplayClient

from .conftest import COLUMNS


def test_assessments_are_kept_in_order_of_date(items, rows, tmp_path):
    result = run(items, ReplayClient("new", columns=COLUMNS), rows, Run(budget=80))
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


def test_the_next_run_starts_from_the_last_answers(items, rows, tmp_path):
    client = ReplayClient("new", columns=COLUMNS)
    run(items, client, rows, Run(budget=len(items), journal=tmp_path / "j"))
    later = update_old(items, tmp_path / "j")
    again = run(later, client, rows, Run(budget=100))
    assert again.flip_rate.estimate == 0


def test_a_journal_of_other_items_is_refused(items, rows, tmp_path):
    run(items, ReplayClient("new", columns=COLUMNS), rows, Run(budget=60, journal=tmp_path / "j"))
    other = Items.of(["a", "b"], old=["a", "b"], names=["x", "y"])
    with pytest.raises(FormatError, match="other data"):
        update_old(other, tmp_path / "j")
    with pytest.raises(InputError, match="old answer"):
        update_old(Items.of(["a", "b"]), tmp_path / "j")
