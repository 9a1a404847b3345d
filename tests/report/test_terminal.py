import io
import re

from tallystick.report import show
from tallystick.results import Interval
from tests.report.conftest import Drawn, result


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_a_pipe_gets_plain_lines_the_verdict_first_and_every_row():
    out = io.StringIO()
    show(result([f"m{i}" for i in range(100)], warnings=("careful",)), stream=out)
    lines = out.getvalue().splitlines()
    assert lines[0] == "m0 leads"
    assert lines[1] == ""
    assert lines[2].split() == ["name", "score"]
    assert lines[3].split(maxsplit=1) == ["m0", "0.50 [0.40, 0.60]"]
    assert lines[102].split() == ["m99", "–"]
    assert lines[103:] == ["", "Intervals: 95%, exact.", "! careful"]
    assert "\x1b" not in out.getvalue()


def test_a_terminal_and_a_pipe_say_the_same_words(monkeypatch):
    monkeypatch.setenv("NO_COLOR", "1")
    drawn = result(["a", "b"], warnings=("careful",), assumptions=("items are drawn at random",))
    pipe, terminal = io.StringIO(), Terminal()
    show(drawn, stream=pipe)
    show(drawn, stream=terminal)
    assert re.sub(r"\x1b\[\d*m", "", terminal.getvalue()).split() == pipe.getvalue().split()


def test_details_are_printed_below_the_table():
    class Advised(Drawn):
        def details(self):
            return ["Advice: stop"]

    out = io.StringIO()
    show(Advised(verdict="v", n_items=1, models=()), stream=out)
    assert out.getvalue() == "v\n\nAdvice: stop\n"


def test_a_terminal_of_eighty_columns_holds_every_line(monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("NO_COLOR", "1")
    out = Terminal()
    show(result([f"a model with quite a long name {i} " + "x" * 40 for i in range(5)]), stream=out)
    assert max(map(len, re.sub(r"\x1b\[\d*m", "", out.getvalue()).splitlines())) <= 80


def test_a_terminal_gets_colour_unless_no_color_is_set(monkeypatch):
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.delenv("NO_COLOR", raising=False)
    out = Terminal()
    show(result(["a", "b"], warnings=("careful",)), stream=out)
    assert "\x1b[" in out.getvalue()
    monkeypatch.setenv("NO_COLOR", "1")
    plain = Terminal()
    show(result(["a", "b"], warnings=("careful",)), stream=plain)
    assert "\x1b[3" not in plain.getvalue()
    assert "! careful" in plain.getvalue()


def test_markup_in_names_is_printed_and_not_obeyed(monkeypatch):
    monkeypatch.setenv("NO_COLOR", "1")
    out = Terminal()
    show(result(["[bold red]x[/]", "b\x1b[31m"], warnings=("\x1b[31m\u202e",)), stream=out)
    assert "[bold red]x[/]" in out.getvalue()
    assert "\x1b[31m" not in out.getvalue()
    assert r"! \x1b[31m\u202e" in out.getvalue()


def test_long_tables_are_cut_and_say_so():
    out = Terminal()
    show(result([f"m{i}" for i in range(100)]), stream=out)
    assert "the first 40 of 100 rows" in out.getvalue()


def test_a_wide_table_breaks_its_heads_and_no_number(monkeypatch):
    monkeypatch.setenv("COLUMNS", "60")
    monkeypatch.setenv("NO_COLOR", "1")
    row = {f"quite a long head {j}": 0.1234 + j / 10 for j in range(6)} | {
        "range": Interval(0.25, 0.75)
    }
    out = Terminal()
    show(Drawn(verdict="v", n_items=1, models=(row,)), stream=out)
    text = re.sub(r"\x1b\[\d*m", "", out.getvalue())
    assert re.findall(r"(?<!\S)0\.\d+(?!\S)", text) == [f"{0.1234 + j / 10:.4f}" for j in range(6)]
    assert "[0.25, 0.75]" in text
    assert max(map(len, text.splitlines())) <= 60
