"""Forms in a real browser over plain HTTP, on an address that is not loopback by its name.

Browsers treat loopback as secure and send more headers there, so a form that works on 127.0.0.1 may
be refused on every other address.
"""

from __future__ import annotations

import json
import re
from pathlib import Path

import httpx
import pytest

pytest.importorskip("starlette", reason="the extra serve is not installed")
pytest.importorskip("uvicorn", reason="the extra serve is not installed")

from tests.report.browser import ABSENT, CHROMIUM, Browser, Visit
from tests.serve.web import running

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason=ABSENT)


def click(browser: Browser, visit: Visit, button: str) -> str:
    """Click a button that sends a form; return the text of the page that follows."""
    browser.heard(visit)
    visit.evaluate(f"document.querySelector({json.dumps(button)}).click()")
    browser.wait(visit, "Page.loadEventFired")
    return str(visit.evaluate("document.body.innerText"))


def enter(browser: Browser, visit: Visit, base: str, key: str) -> str:
    go(browser, visit, f"{base}/login")
    visit.evaluate(f"document.getElementById('key').value = {json.dumps(key)}")
    return click(browser, visit, "form button")


def go(browser: Browser, visit: Visit, url: str) -> None:
    browser.heard(visit)
    visit.send("Page.navigate", url=url)
    browser.wait(visit, "Page.loadEventFired")


def test_login_settings_and_labelling_work_over_plain_http_from_another_address(
    tmp_path: Path,
) -> None:
    with running(tmp_path / "data", "--host", "0.0.0.0") as server:
        port = server.address.rpartition(":")[2]
        base = f"http://tally.test:{port}"
        shown = re.search(r"shown once: (ts_\S+)", server.said)
        assert shown is not None, server.said
        admin = shown[1]
        headers = {"Authorization": f"Bearer {admin}"}
        # The first draw loads what computes: the clock of a busy machine is not what is tested.
        with httpx.Client(
            base_url=f"http://127.0.0.1:{port}", headers=headers, timeout=60.0
        ) as api:
            settings = {"labels": ["pass", "fail"], "open": True}
            assert api.put("/v1/streams/qa", json=settings).status_code == 200
            records = [
                {
                    "item": f"q{n}",
                    "votes": {"a": "pass", "b": "fail"},
                    "show": {"Text": f"Is it {n}?"},
                }
                for n in range(20)
            ]
            assert api.post("/v1/streams/qa/records", json=records).status_code == 200
            assert api.post("/v1/streams/qa/frames", json={"budget": 5}).status_code == 201

            browser = Browser(tmp_path / "profile", local=True, names="MAP tally.test 127.0.0.2,")
            try:
                with browser.visit(f"{base}/") as visit:
                    assert visit.evaluate("window.isSecureContext") is False
                    assert visit.evaluate("location.pathname") == "/login"
                    enter(browser, visit, base, admin)
                    assert visit.evaluate("location.pathname") == "/"

                    go(browser, visit, f"{base}/settings")
                    visit.evaluate("document.getElementById('key-name').value = 'ann'")
                    text = click(browser, visit, "form[action='/settings/keys'] button")
                    made = re.search(r"ts_\w{12}_\S+", text)
                    assert made is not None, text

                    visit.send("Network.clearBrowserCookies")
                    enter(browser, visit, base, made[0])
                    go(browser, visit, f"{base}/streams/qa/label")
                    before = visit.evaluate("document.querySelector('.read.text').textContent")
                    click(browser, visit, "button.big")
                    after = visit.evaluate("document.querySelector('.read.text').textContent")
                    assert before != after
            finally:
                browser.close()
            people = api.get("/streams/qa/labels").text
            assert '<bdi>ann</bdi></th><td class="n" data-l="labels">1</td>' in people
