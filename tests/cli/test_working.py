"""Work that takes long shows itself on a terminal, and only there."""

from __future__ import annotations

import io
import sys

from tallystick.cli.app import working


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_work_is_shown_on_a_terminal_and_the_line_goes_afterwards(monkeypatch) -> None:
    monkeypatch.setattr(sys, "stderr", shown := Terminal())
    with working("reading votes.csv"):
        pass
    assert "reading votes.csv …" in shown.getvalue()
    assert shown.getvalue().endswith("\r\x1b[K")


def test_a_pipe_gets_nothing_however_long_it_takes(monkeypatch) -> None:
    monkeypatch.setattr(sys, "stderr", pipe := io.StringIO())
    with working("reading"):
        pass
    assert pipe.getvalue() == ""
