"""The labelling page: one item, blind, by forms that count once."""

from __future__ import annotations

import re
from collections.abc import Callable

from tallystick.serve.jobs import Service
from tests.serve.pages.form import TOKEN, submit
from tests.serve.queue.people import JUDGES, STREAM, draw, fill, key_of
from tests.serve.web import Web

PAGE = f"/streams/{STREAM}/label"


def ask_in(web: Web) -> str:
    found = re.search(r'name="ask" value="([^"]*)"', web.get(PAGE).text)
    assert found is not None
    return found[1]


def test_the_page_shows_the_texts_the_keys_and_nothing_else(web: Web) -> None:
    fill(web, question="Is it right?", instructions="Facts count.")
    draw(web, budget=10)
    text = web.get(PAGE).text
    assert "Is it right?" in text
    assert "Facts count." in text
    assert re.search(r"<kbd>1</kbd> pass", text)
    assert re.search(r"<kbd>2</kbd> fail", text)
    assert '<b id="number">1</b> of 10' in text
    blind = TOKEN.sub("", text)  # its letters may be anything
    assert not [word for word in (*JUDGES, "stratum", "q1", " % [") if word in blind]


def test_texts_are_shown_as_the_markdown_that_they_are(web: Web) -> None:
    web.put(f"/v1/streams/{STREAM}", json={"labels": ["pass", "fail"]})
    show = {"Answer": "# Steps\n3. *mix*\n4. **bake** at `a < b`\n\n<script>x</script>"}
    record = {"item": "q", "votes": {"a": "pass"}, "show": show}
    web.post(f"/v1/streams/{STREAM}/records", json=[record])
    draw(web, budget=1)
    steps = '<ol><li value="3"><em>mix</em></li><li value="4"><strong>bake</strong> at'
    assert f"<h3>Steps</h3>{steps} <code>a &lt; b</code></li></ol>" in (text := web.get(PAGE).text)
    assert "<p>&lt;script&gt;x&lt;/script&gt;</p>" in text


def test_an_item_without_a_text_says_that_there_is_nothing_to_read(web: Web) -> None:
    web.put(f"/v1/streams/{STREAM}", json={"labels": ["pass", "fail"]})
    records = [{"item": f"bare-{k}", "votes": {"a": "pass", "b": "fail"}} for k in range(20)]
    web.post(f"/v1/streams/{STREAM}/records", json=records)
    draw(web, budget=5)
    text = web.get(PAGE).text
    assert "bare-" in text
    assert "Nothing was sent with this item" in text


def test_an_answer_a_skip_and_an_undo_by_forms(web: Web, service: Service) -> None:
    fill(web)
    draw(web, budget=3, overlap=0)
    first = ask_in(web)
    sent = submit(web, PAGE, PAGE, ask=first, answer="1", seconds="2.5", note="unsure")
    assert (sent.status_code, sent.headers["location"]) == (303, PAGE)
    assert submit(web, PAGE, PAGE, ask=first, answer="1").status_code == 303  # sent twice
    rows = service.read(lambda r: r.all("select value, seconds, note from label"))
    assert rows == [("fail", 2.5, "unsure")]
    assert "Undo “fail”" in web.get(PAGE).text
    submit(web, PAGE, PAGE, answer="undo")
    assert ask_in(web) == first
    submit(web, PAGE, PAGE, ask=first, answer="skip", note="cut off")
    assert service.read(lambda r: r.all("select reason from label where current = 1"))[-1] == (
        "cut off",
    )
    assert ask_in(web) != first
    wrong = submit(web, PAGE, PAGE, ask=ask_in(web), answer="77")
    assert wrong.status_code == 409
    assert "Not saved" in wrong.text


def test_a_page_left_open_too_long_says_so(web: Web, far: Callable[..., Web]) -> None:
    fill(web)
    draw(web, budget=1, overlap=0)
    ann, bob = far(key_of(web, "ann")), far(key_of(web, "bob"))
    assert "pass" in ann.get(PAGE).text
    assert "nothing for you to read" in bob.get(PAGE).text


def test_one_queue_with_work_is_opened_at_once(web: Web) -> None:
    fill(web, n=20)
    fill(web, n=20, stream="other")
    assert "nothing for you to label" in web.get("/label").text
    draw(web, budget=2)
    assert web.get("/label").headers["location"] == PAGE
    draw(web, "other", budget=2)
    assert "2 streams" in web.get("/label").text
