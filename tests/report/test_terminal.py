import io
import re

from tallystick.report import show
from tallystick.report.grid import grid
from tallystick.report.terminal import pictured
from tallystick.results import Figure, Interval, Unknown
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


def _drawn_table(names, held, width):
    rows = [
        {"name": "a", "score": 0.5, "interval": Interval(0.25, 0.75)},
        {"name": "b", "score": 0.8, "interval": None},
    ]
    figure = Figure.forest(
        "scores", {"name": names, "score": [0.5, 0.8], "judges": [None, 0.0]}, held, mark="judges"
    )
    table = grid(rows, most=9)
    return pictured(table.lines(), table, [figure], width)


def test_each_interval_is_drawn_beside_its_row():
    held = [Interval(0.25, 0.75), Unknown(reason="no labels")]
    plain = ["name   score", "a      0.50 [0.25, 0.75]", "b      0.8"]
    assert _drawn_table(["a", "b"], held, 79) == plain
    assert _drawn_table(["a", "c"], held, 100) == plain
    shown = _drawn_table(["a", "b"], held, 80)
    assert shown[0].endswith("○ judges")
    track = {line[0]: line[27:] for line in shown[1:3]}
    room = len(track["b"]) - 1
    assert track["b"].index("○") == 0
    assert track["b"].index("●") == room
    assert abs(track["a"].index("●") / room - 0.5 / 0.8) <= 0.5 / room
    assert abs(track["a"].index("━") / room - 0.25 / 0.8) <= 0.5 / room
    assert abs(track["a"].rindex("━") / room - 0.75 / 0.8) <= 0.5 / room
    assert shown[3].split()[::4] == ["0", "0.8"]


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
