import pytest

from tallystick.table import Tally, read


def test_coerced_rows_and_coerced_counts_say_the_same():
    table = {"gold": ["1", "2", "1"], "old": ["1.0", "2.0", "2.0"]}
    data = read(table, truth="gold", old="old", coerce=True)
    assert data.label_lists("gold", "old") == {"gold": [1, 2, 1], "old": [1, 2, 2]}
    assert data.tally("old").labels["old"] == (1, 2)


@pytest.mark.parametrize("token", ["NA", "N/A", "None", "Skip"])
def test_a_word_for_no_answer_is_missing_in_any_case_when_labels_are_coerced(token):
    """It was counted as one more label in lower case: an accuracy of 5% from 600 "labels"."""
    table = {"gold": ["Yes", "No", token] * 20, "gpt": ["yes", "no", "no"] * 20}
    data = read(table, truth="gold", judges=("gpt",), coerce=True)
    tally = data.tally("judges", "truth")
    assert set(tally.labels["gold"]) == {"yes", "no", None}
    assert data.label_lists("gold")["gold"][:3] == ["yes", "no", None]
    assert data.meaning.notes == (
        f"column 'gold' says {token}: read as no answer. If {token} is a label, add --labels no,yes,{token}",
    )
    counted = Tally.of(table, apart=("gold", "gpt"))
    again = read(counted, truth="gold", judges=("gpt",), coerce=True)
    assert set(again.tally("judges", "truth").labels["gold"]) == {"yes", "no", None}
