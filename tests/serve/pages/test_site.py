"""Every page: escaped, locked down, one look, with a session for its forms and a version for its parts."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from tallystick.serve.auth import COOKIE, Fix, HttpProblem
from tallystick.serve.jobs import Service
from tallystick.serve.pages.site import (
    HERE,
    START_SECONDS,
    problem_page,
    start_link,
    templates,
)
from tests.serve.pages.form import TOKEN, submit
from tests.serve.postgres import both
from tests.serve.queue.people import STREAM, draw, fill, key_of
from tests.serve.web import Clock, Web

EVIL = "<script>document.title='owned'</script><img src=x onerror=alert(1)>"
PAGES = (
    "/",
    "/streams/{}",
    "/streams/{}/labels",
    "/streams/{}/label",
    "/streams/{}/slices?by=lang",
    "/label",
    "/alarms",
    "/settings",
    "/login",
)


def test_hostile_labels_items_and_texts_are_text_on_every_page(web: Web) -> None:
    web.put("/v1/streams/evil", json={"labels": ["ok", EVIL], "instructions": EVIL})
    records = [
        {
            "item": f"{EVIL}{k}",
            "votes": {"a": EVIL, "b": "ok", EVIL[:200]: "ok"},
            "slice": {"lang": EVIL[:60]},
            "show": {EVIL: EVIL},
        }
        for k in range(12)
    ]
    assert web.post("/v1/streams/evil/records", json=records).status_code == 200
    web.post("/v1/keys", json={"role": "label", "name": EVIL})
    draw(web, "evil", budget=6)
    for page in PAGES:
        answer = web.get(page.format("evil"))
        assert answer.status_code in (200, 303), (page, answer.text)
        assert "<script>document" not in answer.text
        assert "<img src=x" not in answer.text
        assert "onerror=alert(1)>" not in answer.text


@both
def test_every_page_is_locked_down_and_loads_nothing_from_elsewhere(web: Web) -> None:
    fill(web, n=30)
    draw(web, budget=5)
    for page in (*PAGES, "/nothing"):
        answer = web.get(page.format(STREAM))
        policy = answer.headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "unsafe" not in policy
        assert answer.headers["referrer-policy"] == "same-origin"
        assert not re.search(r'(src|href|action)="(https?:)?//', answer.text), page
        assert " style=" not in answer.text
        assert not re.search(r"<script(?! src=)|\son\w+=", answer.text), page


def test_a_part_is_sent_once_and_then_by_its_version(web: Web) -> None:
    fill(web, n=30)
    first = web.get(f"/streams/{STREAM}/labels?part=main")
    assert first.status_code == 200
    assert "<html" not in first.text
    again = web.get(
        f"/streams/{STREAM}/labels?part=main", headers={"if-none-match": first.headers["etag"]}
    )
    assert again.status_code == 304


def test_on_this_machine_the_first_page_opens_a_session(web: Web) -> None:
    answer = web.get("/settings")
    cookie = answer.headers["set-cookie"]
    assert cookie.startswith(f"{COOKIE}=")
    assert "HttpOnly" in cookie
    assert "SameSite=strict" in cookie
    assert "set-cookie" not in web.get("/settings").headers


@pytest.mark.parametrize("page", ["/settings", "/alarms", "/streams/bot", "/label"])
def test_without_a_key_a_page_asks_for_one(far: Callable[..., Web], page: str) -> None:
    answer = far().get(page)
    assert answer.status_code == 401
    assert 'href="/login"' in answer.text


def test_an_error_is_a_page_with_the_way_out(web: Web) -> None:
    fill(web, n=5)
    answer = web.get("/streams/bott")
    assert answer.status_code == 404
    assert "did you mean" in answer.text
    plain = problem_page(HttpProblem(422, EVIL, Fix(EVIL)))
    assert b"<script>" not in bytes(plain.body)


def test_a_reader_of_one_stream_sees_no_other(web: Web, far: Callable[..., Web]) -> None:
    fill(web, n=5)
    fill(web, n=5, stream="secret-bot")
    body = {"role": "read", "name": "r", "streams": [STREAM]}
    key = web.post("/v1/keys", json=body).json()["key"]
    page = far(key)
    assert "secret-bot" not in page.get("/").text
    assert page.get("/streams/secret-bot").status_code == 403
    assert key_of(web, "x")  # keys of others are not listed to readers
    assert page.get("/settings").status_code == 403


def test_the_script_is_short_and_every_template_escapes() -> None:
    assert len((HERE / "script.js").read_text().splitlines()) <= 200
    assert templates().autoescape is True
    for path in Path(HERE / "templates").glob("*.html"):
        assert "| safe" not in path.read_text()


HOME = {"origin": "https://tally.example"}


def test_a_key_opens_a_session_and_logging_out_ends_it(web: Web, far: Callable[..., Web]) -> None:
    key = key_of(web, "eve", "admin")
    browser = far()
    assert browser.get("/").headers["location"] == "/login"
    assert browser.post("/login", data={"key": "ts_x_y"}, headers=HOME).status_code == 401
    answer = browser.post("/login", data={"key": f" {key} "}, headers=HOME)
    assert (answer.status_code, answer.headers["location"]) == (303, "/")
    assert "Secure" in answer.headers["set-cookie"]
    assert browser.get("/settings").status_code == 200
    assert submit(browser, "/settings", "/logout").headers["location"] == "/login"
    assert browser.get("/settings").status_code == 401


def test_a_start_link_works_once_and_not_for_ever(
    service: Service, far: Callable[..., Web], clock: Clock
) -> None:
    path, late = start_link(service), start_link(service)
    assert far().get("/start?token=guess").status_code == 403
    browser = far()
    assert browser.get(path).status_code == 303
    assert browser.get("/settings").status_code == 200
    assert far().get(path).status_code == 403
    clock.now += START_SECONDS + 1
    assert far().get(late).status_code == 403


def test_a_session_ends_with_the_time_of_its_key(
    web: Web, far: Callable[..., Web], service: Service, clock: Clock
) -> None:
    order = {"role": "admin", "name": "eve", "days": 0.1}
    browser = far()
    key = web.post("/v1/keys", json=order).json()["key"]
    assert browser.post("/login", data={"key": key}, headers=HOME).status_code == 303
    assert browser.get("/settings").status_code == 200
    clock.now += 0.1 * 86_400 + 1
    service.door.forget()
    assert browser.get("/settings").status_code == 401


def test_a_form_needs_the_sessions_token_and_our_origin(web: Web) -> None:
    # Without a session there is no token yet, and none is not the same as none.
    early = web.post("/settings/keys", data={"csrf": ""}, headers={"origin": web.base})
    assert early.status_code == 403
    fill(web, n=5)
    token = TOKEN.search(web.get("/settings").text)
    assert token is not None
    form = {"csrf": token[1], "role": "label", "name": "ann"}
    own = {"origin": web.base}
    assert web.post("/settings/keys", data={**form, "csrf": "x"}, headers=own).status_code == 403
    evil = {"origin": "https://evil.example"}
    assert web.post("/settings/keys", data=form, headers=evil).status_code == 403
    site = {"sec-fetch-site": "cross-site"}
    assert web.post("/settings/keys", data=form, headers=site).status_code == 403
    hidden = {"origin": "null"}  # what browsers send from a page with no-referrer
    assert web.post("/settings/keys", data=form, headers=hidden).status_code == 403
    ours = {"origin": web.base, "sec-fetch-site": "same-origin"}
    assert web.post("/settings/keys", data=form, headers=ours).status_code == 200
    assert web.post("/settings/keys", data=form, headers=own).status_code == 200


def test_who_only_labels_is_led_to_the_queue(web: Web, far: Callable[..., Web]) -> None:
    page = far(key_of(web, "ann"))
    assert page.get("/").headers["location"] == "/label"
    assert "nothing for you to label" in page.get("/label").text
    assert far(key_of(web, "app", "write")).get("/").status_code == 403
