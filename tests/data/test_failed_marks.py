import pytest

from tallystick import compare
from tallystick.errors import InputError

TABLE = {
    "id": list(range(40)),
    "old": ["correct", "incorrect"] * 20,
    "new": ["Correct", "Correct", "Incorrect", "error"] * 10,
}


@pytest.mark.parametrize("options", [{}, {"models": ("old", "new")}])
def test_a_failed_call_among_right_and_wrong_is_asked_about_with_both_ways_out(options):
    with pytest.raises(InputError, match="error in new is neither pass nor fail") as refused:
        compare(TABLE, **options)
    assert "--missing=error" in str(refused.value)
    assert "--never-true=error" in str(refused.value)
    assert compare(TABLE, missing=("error",), **options).n_items == 30
    counted = compare(TABLE, never_true=("error",), **options)
    assert counted.n_items == 40
    assert {row.name: row.score for row in counted.models} == {"old": 0.5, "new": 0.5}
