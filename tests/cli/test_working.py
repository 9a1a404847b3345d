"""Work that takes long shows itself on a terminal, and only there."""

from __future__ import annotations

import io
import time

import pytest

from tallystick.cli.app import working


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_long_work_is_shown_with_its_seconds_and_the_line_goes_afterwards() -> None:
    shown = Terminal()
    with working("reading votes.csv", stream=shown, after=0.01, every=0.01):
        while "reading votes.csv … 0 s" not in shown.getvalue():
            time.sleep(0.005)
    assert shown.getvalue().endswith("\r\x1b[K")


def test_short_work_shows_nothing() -> None:
    shown = Terminal()
    with working("reading", stream=shown, after=60.0):
        pass
    assert shown.getvalue() == ""


def test_a_pipe_gets_nothing_however_long_it_takes() -> None:
    pipe = io.StringIO()
    with working("reading", stream=pipe, after=0.0, every=0.001):
        time.sleep(0.02)
    assert pipe.getvalue() == ""


def test_an_error_ends_the_line_and_passes() -> None:
    shown = Terminal()

    def fail() -> None:
        while not shown.getvalue():
            time.sleep(0.005)
        raise ValueError("no")

    with pytest.raises(ValueError, match="no"), working("x", stream=shown, after=0.0, every=0.01):
        fail()
    assert shown.getvalue().endswith("\r\x1b[K")


@pytest.mark.parametrize("verb", ["verb", "label", "tables", "first"])
def test_every_way_into_a_table_shows_its_work(verb) -> None:
    from importlib import import_module
    from inspect import getsource

    assert "working(" in getsource(import_module(f"tallystick.cli.{verb}"))
