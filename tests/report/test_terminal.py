import io

from tallystick.report import show
from tests.report.conftest import result


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_a_pipe_gets_the_plain_summary():
    out = io.StringIO()
    drawn = result(["a", "b"])
    show(drawn, stream=out)
    assert out.getvalue() == drawn.summary() + "\n"


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
    assert "Warning: careful" in plain.getvalue()


def test_markup_in_names_is_printed_and_not_obeyed(monkeypatch):
    monkeypatch.setenv("NO_COLOR", "1")
    out = Terminal()
    show(result(["[bold red]x[/]", "b\x1b[31m"]), stream=out)
    assert "[bold red]x[/]" in out.getvalue()
    assert "\x1b[31m" not in out.getvalue().split("b", 1)[1]


def test_long_tables_are_cut_and_say_so():
    out = Terminal()
    show(result([f"m{i}" for i in range(100)]), stream=out)
    assert "the first 40 of 100 rows" in out.getvalue()
