"""The application of the labelling page, killed while it saves."""

from __future__ import annotations

import os
import threading

import httpx
import pytest

from tallystick.table.session import open_session
from tests.serve.test_label_page import _form, served, table

pytest.importorskip("starlette", reason="the extra serve is not installed")
pytest.importorskip("uvicorn", reason="the extra serve is not installed")

__all__ = ["table"]  # the fixture that the page's other tests use


@pytest.mark.parametrize("after", [0.05, 0.15])
def test_kill_9_in_the_middle_of_saving_loses_no_answer_that_was_taken(table, after):
    """An answer that the page confirmed is in the file, once; at most one more was on its way."""
    taken: list[int] = []
    with served(table) as links:
        killer = threading.Timer(after, os.kill, (int(links["pid"]), 9))
        ask, _ = _form(links["1"])
        killer.start()
        try:
            with httpx.Client() as client:
                while ask < 18:  # the first batch has 20
                    done = client.post(links["1"], data={"ask": str(ask), "answer": "1"})
                    assert done.status_code == 303
                    taken.append(ask)
                    ask += 1
        except httpx.TransportError:
            pass  # killed
        killer.join()
    session = open_session(table.parent / "s.label")
    kept = [answer.ask for answer in session.answers.values()]
    assert kept[: len(taken)] == taken
    assert len(kept) - len(taken) in (0, 1)
    assert len(set(kept)) == len(kept)
    with served(table) as links:
        assert _form(links["1"])[0] == len(kept)
