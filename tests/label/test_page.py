"""The page of a session: locked down and blind, pairs side by side, Markdown without tags, answers
that are corrected.
"""

from __future__ import annotations

import re

import numpy as np
import pytest

from tallystick.verbs.label import begin

pytest.importorskip("starlette", reason="the extra serve is not installed")
from starlette.testclient import TestClient

from tallystick.serve.pages.label import label_app
from tallystick.serve.pages.site import marked
from tests.label.conftest import JUDGES


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
        assert 'id="estimate"' not in listed  # only if it is asked for
        assert 'id="estimate"' in page.get("/r/k?estimate=1").text
        assert 'href="?ask=2"' in listed
        again = page.get("/r/k?ask=2").text
        assert "You answered “fail”" in again
        assert re.search(r'name="ask" value="1"', again)
        page.post("/r/k", data={"ask": "1", "answer": "1"})  # an old page: not taken
        assert work.session.labels(1) == ("fail",)
        page.post("/r/k", data={"ask": "1", "answer": "1", "correct": "1"})
        assert work.session.labels(1) == ("pass",)


def test_the_page_is_locked_down_and_blind(start):
    with start() as work:
        page = _page(work)
        answer = page.get("/r/k")
        policy = answer.headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "unsafe" not in policy
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert not [name for name in (*JUDGES, " % [") if name in answer.text]
        assert page.get("/r/guess").status_code == 404
        assert page.get("/r/k", headers={"host": "evil.example:80"}).status_code == 400
        strange = {"origin": "http://evil.example"}
        assert page.post("/r/k", data={"answer": "0"}, headers=strange).status_code == 403
        assert page.post("/r/k", data={"note": "x" * 70_000}).status_code == 413
        assert not work.session.answers


def test_a_form_sent_twice_counts_once_and_undo_takes_it_back(start):
    with start() as work:
        page = _page(work)
        ask = int(re.search(r'name="ask" value="(-?\d+)"', page.get("/r/k").text)[1])
        for _ in range(3):
            sent = {"ask": str(ask), "answer": "1", "seconds": "2.5", "note": "hm"}
            answer = page.post("/r/k", data=sent, follow_redirects=False)
            assert answer.status_code == 303
        assert len(work.session.answers) == 1
        assert work.session.answers[ask, "1"].note == "hm"
        assert work.session.answers[ask, "1"].seconds == 2.5
        assert "Undo “pass”" in page.get("/r/k").text
        page.post("/r/k", data={"ask": str(ask), "answer": "undo"})
        assert not work.session.answers
        wrong = page.post("/r/k", data={"ask": str(ask), "answer": "77"})
        assert wrong.status_code == 409
        assert "Not saved" in wrong.text


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
    assert "<p>a <strong>long</strong> answer" in text


@pytest.mark.parametrize(
    "text",
    [
        "<script>alert(1)</script>",
        "- [x](javascript:alert(1)) `<i>`",
        "# ![x](http://e.org/p.png)",
        "**<b onclick=x>** *<i>*",
        '```<u>\n<u>\n```\n2. "><img src=x onerror=x>',
    ],
)
def test_no_tag_link_or_image_of_a_text_reaches_the_page(text):
    made = marked(text)
    assert not re.search(r"<(?!/?(p|h3|ul|ol|li|pre|code|strong|em)>|li value=.\d+.>)", made)


def test_headings_lists_and_code_are_rendered():
    made = marked(
        "# Title\n\n- one\n* *two*\n\n2) x\n```py\n  x**2 < 1\n\n```\n`a*b*` 2 * 3 * 4\nend"
    )
    assert made == (
        '<h3>Title</h3><ul><li>one</li><li><em>two</em></li></ul><ol><li value="2">x</li></ol>'
        "<pre>  x**2 &lt; 1</pre><p><code>a*b*</code> 2 * 3 * 4\nend</p>"
    )


def test_the_key_of_a_label_that_is_a_digit_is_the_digit(tmp_path):
    """Keys 1 and 2 beside the labels 0 and 1 answered 0 to whoever pressed 1."""
    table = {"text": [f"text {k}" for k in range(40)], "gpt": [0, 1] * 20}
    path = tmp_path / "s.label"
    with begin(path, table, question="prevalence", reading={"judges": ("gpt",)}) as work:
        text = _page(work).get("/r/k").text
    found = re.findall(r'name="answer" value="(\d)" data-key="(\w*)"', text)
    assert found == [("0", "0"), ("1", "1")]
