"""Login, logout, and forms that only our own pages can send."""

from __future__ import annotations

from collections.abc import Callable

from tests.serve.pages.form import TOKEN, submit
from tests.serve.queue.people import fill, key_of
from tests.serve.web import Web

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


def test_a_form_needs_the_sessions_token_and_our_origin(web: Web) -> None:
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
