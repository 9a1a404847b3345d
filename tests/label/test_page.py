"""The page of a session: pairs side by side, Markdown without tags, answers that are corrected."""

from __future__ import annotations

import re

import numpy as np
import pytest

from tallystick.verbs.label import begin

pytest.importorskip("starlette", reason="the extra serve is not installed")
from starlette.testclient import TestClient

from tallystick.serve.label_page import label_app


def _page(work):
    return TestClient(label_app(work, {"k": "1"}), base_url="http://127.0.0.1:8123")


def test_an_answer_is_listed_shown_again_and_replaced(start):
    with start("prevalence") as work:
        page = _page(work)
        for ask in range(3):
            page.get("/r/k")
            page.post("/r/k", data={"ask": str(ask), "answer": "0"})
        listed = page.get("/r/k").text
        assert "My answers" in listed
        assert 'href="?ask=2"' in listed
        again = page.get("/r/k?ask=2").text
        assert "You answered “fail”" in again
        assert re.search(r'name="ask" value="1"', again)
        page.post("/r/k", data={"ask": "1", "answer": "1"})  # an old page: not taken
        assert work.session.labels(1) == ("fail",)
        page.post("/r/k", data={"ask": "1", "answer": "1", "correct": "1"})
        assert work.session.labels(1) == ("pass",)


def test_the_outputs_of_an_item_stand_side_by_side(tmp_path):
    rng = np.random.default_rng(1)
    table = {
        "id": np.repeat(np.arange(60), 2).tolist(),
        "system": ["a", "b"] * 60,
        "text": [f"a **long** answer of some sort, number {k}" for k in range(120)],
        "gpt": rng.integers(0, 2, 120).tolist(),
    }
    reading = {"judges": ("gpt",), "system": "system", "item": "id"}
    options = {"goal": "difference"}
    with begin(
        tmp_path / "s.label", table, question="score", reading=reading, options=options
    ) as work:
        text = _page(work).get("/r/k").text
    assert text.count("<section") == 2
    assert text.count('aria-current="true"') == 1
    assert "a **long** answer" in text


def test_the_key_of_a_label_that_is_a_digit_is_the_digit(tmp_path):
    """Keys 1 and 2 beside the labels 0 and 1 answered 0 to whoever pressed 1."""
    table = {"text": [f"text {k}" for k in range(40)], "gpt": [0, 1] * 20}
    path = tmp_path / "s.label"
    with begin(path, table, question="prevalence", reading={"judges": ("gpt",)}) as work:
        text = _page(work).get("/r/k").text
    found = re.findall(r'name="answer" value="(\d)" data-key="(\w*)"', text)
    assert found == [("0", "0"), ("1", "1")]
