from dataclasses import dataclass
from types import SimpleNamespace

import pytest

from tallystick.cli.deliver import ask_first, progress_lines, with_progress
from tallystick.errors import InputError
from tallystick.verbs.shift import ShiftQuestion


def test_a_line_is_written_every_ten_seconds(capsys):
    times = iter([0.0, 4.0, 10.5, 10.5, 12.0, 21.0, 21.0])
    with progress_lines(lambda: next(times)) as show:
        for calls in (1, 2, 3, 4):
            show(SimpleNamespace(calls=calls, planned=10, cost=0.5, error=None))
    assert capsys.readouterr().err == "2 of 10 calls, cost 0.5\n4 of 10 calls, cost 0.5\n"


def test_a_terminal_sees_one_line_that_is_gone_at_the_end(monkeypatch):
    said = []
    terminal = {"isatty": lambda: True, "write": said.append, "flush": lambda: None}
    monkeypatch.setattr("sys.stderr", SimpleNamespace(**terminal))
    with progress_lines(iter((0.0, 0.1, 0.3, 0.3)).__next__) as show:
        for calls in (1, 2):
            show(SimpleNamespace(calls=calls, planned=10, cost=0.0))
    assert said == ["\r2 of 10 calls", "\r\x1b[K"]


def test_a_script_spends_money_only_when_told_to(monkeypatch, capsys):
    monkeypatch.setattr("sys.stdin", SimpleNamespace(isatty=lambda: False))
    ask_first(ShiftQuestion())("free")
    with pytest.raises(InputError, match=r"--yes.*--max-cost"):
        ask_first(ShiftQuestion(price=0.1))("100 calls, 10 USD")
    ask_first(ShiftQuestion(price=0.1, yes=True))("100 calls, 10 USD")
    ask_first(ShiftQuestion(price=0.1, max_cost=5.0))("100 calls, 10 USD")
    assert capsys.readouterr().err.count("100 calls, 10 USD") == 3


def test_a_terminal_is_asked_first(monkeypatch):
    lines = iter(["n\n", "y\n"])
    tty = {"isatty": lambda: True, "write": lambda text: None, "flush": lambda: None}
    monkeypatch.setattr("sys.stdin", SimpleNamespace(readline=lambda: next(lines), **tty))
    monkeypatch.setattr("sys.stderr", SimpleNamespace(**tty))
    with pytest.raises(InputError, match="nothing was spent"):
        ask_first(ShiftQuestion(price=0.1))("10 USD")
    ask_first(ShiftQuestion(price=0.1))("10 USD")


def test_answers_that_no_file_would_keep_are_not_asked_for(monkeypatch):
    from tallystick.cli.deliver import Delivery
    from tallystick.verbs.ask.result import AskQuestion

    @dataclass(frozen=True)
    class AskCall:
        question: AskQuestion
        delivery: Delivery

    with pytest.raises(InputError, match=r"name a file for the answers \(-o FILE\)"):
        with_progress(AskCall(AskQuestion(), Delivery()))
    for kept in (AskQuestion(out="x.csv"), AskQuestion(journal="x")):
        assert with_progress(AskCall(kept, Delivery())).question.progress is not None
