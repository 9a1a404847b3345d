import pytest

from tallystick import ask
from tallystick.errors import InputError


@pytest.mark.parametrize("labels", [("A", "B", "tie"), ("x", "y"), ("1", "2")])
def test_an_answer_to_a_swapped_row_is_turned_back(tmp_path, monkeypatch, labels):
    text = f"def better(row):\n    return {labels[0]!r} if row['x'] > row['y'] else {labels[1]!r}\n"
    (tmp_path / f"judge_{labels[0]}.py").write_text(text)
    monkeypatch.syspath_prepend(tmp_path)
    table = {"id": [1, 2], "x": [5, 1], "y": [2, 4]}
    api = f"python:judge_{labels[0]}:better"
    result = ask(table, api=api, pair=("x", "y"), labels=labels, name="j", item="id")
    assert result.table["j"] == [*labels[:2]]


def test_labels_that_name_neither_side_are_refused_before_anything_is_paid():
    """PASS and FAIL of two orders were combined to "tie" before."""
    table = {"id": [1], "x": ["p"], "y": ["q"], "said": ["PASS"]}
    with pytest.raises(InputError, match=r"labels PASS, FAIL names the first or the second"):
        ask(table, api="replay:said", pair=("x", "y"), labels=("PASS", "FAIL"))


@pytest.mark.parametrize(
    ("said", "winner"),
    [
        ("by_place", "tie"),  # always the first: that is no preference
        ("by_text", "A"),  # the answer in column x, wherever it stands
        ("in_brackets", "A"),
    ],
)
def test_without_named_labels_a_swapped_answer_is_turned_back(tmp_path, monkeypatch, said, winner):
    """A judge that always said A was recorded as one that always prefers the first column."""
    (tmp_path / "unnamed_judge.py").write_text(
        "def by_place(row):\n    return 'A'\n"
        "def by_text(row):\n    return 'A' if row['x'] == 'good' else 'B'\n"
        "def in_brackets(row):\n    return '[[A]]' if row['x'] == 'good' else '[[B]]'\n",
        encoding="utf-8",
    )
    monkeypatch.syspath_prepend(tmp_path)
    table = {"id": [1, 2, 3], "x": ["good"] * 3, "y": ["bad"] * 3}
    result = ask(table, api=f"python:unnamed_judge:{said}", pair=("x", "y"), name="j", item="id")
    assert result.table["j"] == [winner] * 3


def test_words_that_name_neither_side_are_unread_with_the_way_out(tmp_path, monkeypatch):
    (tmp_path / "numbers_judge.py").write_text(
        "def better(row):\n    return '1'\n", encoding="utf-8"
    )
    monkeypatch.syspath_prepend(tmp_path)
    table = {"id": [1, 2], "x": ["p", "q"], "y": ["r", "s"]}
    result = ask(table, api="python:numbers_judge:better", pair=("x", "y"), item="id")
    assert result.unread == 4
    assert "as one of A, B, tie" in result.warnings[0]
    assert "--labels" in result.warnings[0]
    assert "--journal FILE keeps" in result.warnings[0]


def test_a_prompt_of_a_pair_must_show_both_answers():
    table = {"id": [1], "x": ["p"], "y": ["q"]}
    with pytest.raises(InputError, match=r"must hold both answers, as \{x\} and \{y\}"):
        ask(table, api="openai:m@http://127.0.0.1:9", prompt="Is {x} good?", pair=("x", "y"))
