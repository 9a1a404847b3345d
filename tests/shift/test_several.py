import pytest

from tallystick import shift
from tallystick.errors import InputError

from .test_answer import ROLES, TABLE


def test_several_apis_share_one_budget_and_one_table(tmp_path):
    result = shift.evaluate(
        TABLE,
        **ROLES,
        api=("replay:new", "replay:old"),
        budget=300,
        deterministic=True,
        journal=tmp_path / "j",
    )
    assert [one.api for one in result.apis] == ["replay:new", "replay:old"]
    assert result.calls == 300
    first, second = result.apis
    assert first.accuracy_change.interval.high < 0
    assert second.flip_rate.estimate == 0
    assert first.accuracy_change.interval.level == pytest.approx(0.975)
    assert result.figures()[0].kind == "forest"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["j.1", "j.2"]


def test_what_is_for_one_api_is_refused_for_several():
    both = {"api": ("replay:new", "replay:old"), "budget": 300}
    with pytest.raises(InputError, match="one API at a time"):
        shift.evaluate(TABLE, **ROLES, **both, gates=("flip_rate <= 1%",))
    with pytest.raises(InputError, match="is too small for 2 APIs"):
        shift.evaluate(TABLE, **ROLES, api=("replay:new", "replay:old"), budget=1)


def test_without_a_truth_flips_are_told_and_accuracy_is_not():
    table = {name: TABLE[name] for name in ("id", "old", "new")}
    result = shift.evaluate(table, old="old", new="new", item="id")
    moved = sum(a != b for a, b in zip(TABLE["old"], TABLE["new"], strict=True)) / 400
    assert result.flip_rate.estimate == pytest.approx(moved)
    assert result.verdict.startswith("These answers differ")
    assert "ccuracy" not in result.verdict
    assert not any("ccuracy" in row["what"] for row in result.rows())
    assert not any(cell.survives for cell in result.top_cells)  # noise alone would move answers
    body = result.to_dict()
    assert body["accuracy_change"]["estimate"] is None
    certain = shift.evaluate(table, old="old", new="new", item="id", deterministic=True)
    assert certain.top_cells[0].true == "four"  # which answers moved where
    assert certain.top_cells[0].answered in ("four", "five")
    with pytest.raises(InputError, match="true labels"):
        shift.evaluate(table, old="old", new="new", gates=("accuracy_change >= -1%",))
