from __future__ import annotations

import pyarrow as pa
import pytest

from tallystick.errors import InputError
from tallystick.io import ColumnOptions, Label, assign, check_truth, check_truth_labels, scan


@pytest.mark.parametrize(
    "word", ["NA", "?", "null", "nan", "None", " Unknown", "-1", "-1.0", "n/a"]
)
def test_a_truth_label_like_a_blank_that_nobody_answers_is_refused_with_its_token(
    word: str,
) -> None:
    votes = {
        "gold": ["0", "1", word, word],
        "gpt": ["0", "1", "0", "1"],
        "claude": ["0", "0", "0", "1"],
    }
    table = scan(pa.table(votes))
    with pytest.raises(
        InputError,
        match=f"the truth 'gold' holds .*say --missing={word.strip().replace('?', '.')} ",
    ):
        check_truth(table, assign(table, ColumnOptions(truth="gold")))
    check_truth(table, assign(table, ColumnOptions(truth="gold", missing=(word.strip(),))))
    said = scan(pa.table({**votes, "claude": ["0", "0", word, "1"]}))
    check_truth(said, assign(said, ColumnOptions(truth="gold")))


@pytest.mark.parametrize("labels", [[-1, 1], [-1, 1, None], [-2, -1, 0, 1], [-1.0, 1.0]])
def test_minus_one_is_a_label_beside_one_alone_and_among_other_numbers_below_zero(
    labels: list[Label],
) -> None:
    check_truth_labels("gold", {"gold": labels, "gpt": [1]})


def test_no_answers_and_no_truth_are_for_others_to_refuse() -> None:
    check_truth_labels("gold", {"gold": [None], "gpt": ["a"]})
    check_truth_labels("gold", {"gold": ["a"], "gpt": [None]})
    table = scan(pa.table({"gpt": ["NA", "a"]}))
    check_truth(table, assign(table))
