from dataclasses import dataclass
from types import SimpleNamespace

from tallystick.cli.show_progress import progress_bar, with_progress
from tallystick.shift import ShiftQuestion


@dataclass(frozen=True)
class Call:
    question: ShiftQuestion


def test_a_bar_is_shown_on_a_terminal_only(monkeypatch):
    call = Call(ShiftQuestion())
    monkeypatch.setattr("sys.stderr", SimpleNamespace(isatty=lambda: False))
    assert with_progress(call) is call
    monkeypatch.setattr("sys.stderr", SimpleNamespace(isatty=lambda: True))
    assert with_progress(call).question.progress is progress_bar


def test_the_bar_is_told_calls_cost_and_error(capsys):
    with progress_bar() as show:
        show(SimpleNamespace(calls=3, planned=10, cost=0.5, error=None))
        show(SimpleNamespace(calls=10, planned=10, cost=1.5, error=0.0123))
    seen = capsys.readouterr()
    assert seen.out == ""
