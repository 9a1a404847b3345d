"""Labelling in a terminal: keys, undo, notes, and text that would steer it."""

from __future__ import annotations

import io

from tallystick.verbs.label import begin
from tallystick.verbs.label.shown import label_in_terminal


def _typed(*words):
    rest = list(words)

    def line() -> str:
        if not rest:
            raise EOFError
        return rest.pop(0) + "\n"

    return line


def test_keys_answer_skip_correct_and_note(start):
    out = io.StringIO()
    with start("judge") as work:
        given = label_in_terminal(
            work,
            reader="1",
            lines=_typed("2", "c 1", "fail", "n too long", "1", "s", "nonsense", "q"),
            out=out,
        )
        said = work.session.answers
        assert given == 4
        assert (said[0, "1"].label, said[1, "1"].label, said[2, "1"].skipped) == (
            "fail",
            "fail",
            True,
        )
        assert said[1, "1"].note == "too long"
        assert said[1, "1"].seconds is not None
    assert "one of fail, pass" in out.getvalue()
    assert "gpt" not in out.getvalue()


def test_it_ends_at_the_end_of_input_and_goes_on_where_it_was(start):
    with start("judge") as work:
        label_in_terminal(work, reader="1", lines=_typed("1", "1"), out=io.StringIO())
        label_in_terminal(work, reader="1", lines=_typed("2"), out=io.StringIO())
        assert [work.session.labels(k) for k in range(3)] == [("fail",), ("fail",), ("pass",)]


def test_cells_cannot_steer_the_terminal(tmp_path):
    table = {"text": ["\x1b[31mred\x07"] * 30, "gpt": ["pass", "fail"] * 15}
    out = io.StringIO()
    with begin(
        tmp_path / "s.label", table, question="prevalence", reading={"judges": ("gpt",)}
    ) as work:
        label_in_terminal(work, reader="1", lines=_typed("q"), out=out)
    assert "\x1b" not in out.getvalue()
    assert "\x07" not in out.getvalue()


def test_it_stops_when_nothing_more_is_needed(start, truth):
    words = []
    with start("prevalence", target=0.3) as work:
        out = io.StringIO()
        label_in_terminal(work, reader="1", lines=lambda: words.append(1) or "pass", out=out)
        assert work.standing().stop == "precision"
    assert "Nothing is left to label." in out.getvalue()


def test_earlier_answers_are_listed_and_corrected(start):
    with start("prevalence") as work:
        lines, out = _typed("1", "2", "l", "c 1", "2", "c 9", "q"), io.StringIO()
        assert label_in_terminal(work, reader="1", lines=lines, out=out) == 3
        assert work.session.labels(0) == ("pass",)
        assert work.session.labels(1) == ("pass",)
    assert "1: " in out.getvalue()
    assert "You have not answered 9" in out.getvalue()


def test_numbers_that_are_labels_have_no_keys(tmp_path):
    """Where labels are 0 and 1, a 2 is no answer: it must not count as the second label."""
    table = {"text": [f"text {k}" for k in range(40)], "gpt": [0, 1] * 20}
    out, path = io.StringIO(), tmp_path / "s.label"
    with begin(path, table, question="prevalence", reading={"judges": ("gpt",)}) as work:
        assert label_in_terminal(work, reader="1", lines=_typed("2", "1"), out=out) == 1
        assert work.session.labels(0) == (1,)
    assert "one of 0, 1, or skip, got '2'" in out.getvalue()
