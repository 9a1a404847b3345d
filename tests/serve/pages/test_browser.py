"""The pages in a real browser: keys only, two people, phones, dark, screen readers, hostile text."""

from __future__ import annotations

import asyncio
import json
import socket
import threading
import time
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import httpx
import pytest
import uvicorn

from tallystick.serve.app import make_app, make_service
from tallystick.serve.database import open_store
from tallystick.serve.jobs import Config
from tests.report.browser import ABSENT, CHROMIUM, Browser, Visit
from tests.serve.pages.looks import CONTRAST, FOCUS
from tests.serve.queue.people import JUDGES, InProcess

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason=ABSENT)

EVIL = "<img src=x onerror=\"document.title='owned'\"><script>document.title='owned'</script>"


class Site:
    """A service on a port of its own, and a client for its API."""

    def __init__(self, folder: Path) -> None:
        store = open_store(folder / "serve.sqlite", durability="normal")
        self.service = make_service(store, config=Config(job_pause=0.0, folder=folder))
        self.service.worker = InProcess(store)
        self._socket = socket.socket()
        self._socket.bind(("127.0.0.1", 0))
        self.base = f"http://127.0.0.1:{self._socket.getsockname()[1]}"
        config = uvicorn.Config(make_app(self.service), log_level="error", access_log=False)
        self._server = uvicorn.Server(config)
        self._thread = threading.Thread(
            target=lambda: asyncio.run(self._server.serve(sockets=[self._socket])), daemon=True
        )
        self._thread.start()
        self.api = httpx.Client(base_url=self.base, timeout=60)
        while not self._server.started:
            time.sleep(0.02)

    def key(self, name: str) -> str:
        return str(self.api.post("/v1/keys", json={"role": "label", "name": name}).json()["key"])

    def fill(self, stream: str, n: int) -> None:
        body = {"labels": ["pass", "fail"], "open": True, "instructions": EVIL}
        assert self.api.put(f"/v1/streams/{stream}", json=body).status_code == 200
        records = [
            {
                "item": f"q{k}",
                "votes": {j: ("pass", "fail")[(k * p) % 7 > 4] for p, j in enumerate(JUDGES, 1)},
                "show": {"Customer": f"Question {k}? {EVIL}", "Answer": "word " * 40},
                "slice": {"lang": ("en", "de")[k % 2]},
            }
            for k in range(n)
        ]
        assert self.api.post(f"/v1/streams/{stream}/records", json=records).status_code == 200

    def close(self) -> None:
        self.api.close()
        self._server.should_exit = True
        self._thread.join(timeout=60)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    running = Site(tmp_path_factory.mktemp("site"))
    running.fill("bot", 60)
    running.fill("queue", 200)
    running.api.put("/v1/streams/evil", json={"labels": ["ok", EVIL]})
    records = [
        {"item": EVIL + str(k), "votes": {"a": EVIL, "b": "ok", "c": "ok"}} for k in range(9)
    ]
    assert running.api.post("/v1/streams/evil/records", json=records).status_code == 200
    assert running.api.post("/v1/streams/evil/frames", json={"budget": 3}).status_code == 201
    yield running
    running.close()


def press(browser: Browser, visit: Visit, key: str) -> None:
    """Press a key and wait for the page that follows."""
    browser.heard(visit)
    visit.send("Input.dispatchKeyEvent", type="keyDown", key=key, text=key)
    visit.send("Input.dispatchKeyEvent", type="keyUp", key=key)
    browser.wait(visit, "Page.loadEventFired")


def go(browser: Browser, visit: Visit, url: str) -> None:
    browser.heard(visit)
    visit.send("Page.navigate", url=url)
    browser.wait(visit, "Page.loadEventFired")


def log_in(browser: Browser, visit: Visit, site: Site, key: str) -> None:
    go(browser, visit, f"{site.base}/login")
    visit.evaluate(f"document.getElementById('key').value = {json.dumps(key)}")
    browser.heard(visit)
    visit.evaluate("document.querySelector('form button').click()")
    browser.wait(visit, "Page.loadEventFired")


def log_out(visit: Visit) -> None:
    visit.send("Network.clearBrowserCookies")


def errors_of(visit: Visit) -> list[Any]:
    """Return what the console complained of."""
    found = [json.loads(text) for text in visit.complaints]
    return [one for one in found if one.get("entry", {}).get("level") != "verbose"]


def test_two_people_label_by_keys_only_and_share_only_the_overlap(
    site: Site, browser: Browser
) -> None:
    order = {"budget": 15, "overlap": 0.2}
    assert site.api.post("/v1/streams/queue/frames", json=order).status_code == 201
    seen: dict[str, list[str]] = {}
    spent = 0.0
    for name in ("ann", "bob"):
        with browser.visit(f"{site.base}/login") as visit:
            log_in(browser, visit, site, site.key(name))
            go(browser, visit, f"{site.base}/streams/queue/label")
            mine = seen[name] = []
            began = time.process_time(), time.monotonic()
            while visit.evaluate("document.querySelector('button.big') !== null"):
                text = visit.evaluate("document.documentElement.outerHTML")
                assert not [one for one in (*JUDGES, "stratum", "probability") if one in text]
                mine.append(visit.evaluate("document.querySelector('.read.text').textContent"))
                if len(mine) == 3 and name == "ann":
                    press(browser, visit, "1")
                    press(browser, visit, "u")  # taken back: the same item again
                    again = visit.evaluate("document.querySelector('.read.text').textContent")
                    assert again == mine[-1]
                press(browser, visit, "2" if len(mine) % 4 else "1")
            spent += time.monotonic() - began[1]
            assert visit.evaluate("document.title") == "label · tallystick"
            browser.heard(visit)
            assert errors_of(visit) == []
            assert all(url.startswith(site.base) for url in visit.requests)
            log_out(visit)
    assert all(len(set(mine)) == len(mine) for mine in seen.values())
    assert len(set(seen["ann"]) & set(seen["bob"])) == 3
    assert len(set(seen["ann"]) | set(seen["bob"])) == 15
    assert spent < 60 * 18 / 20, "20 items a minute"


def test_help_and_note_by_keys(site: Site, browser: Browser) -> None:
    site.api.post("/v1/streams/queue/frames", json={"budget": 2, "overlap": 0})
    with browser.visit(f"{site.base}/streams/queue/label") as visit:
        visit.send("Input.dispatchKeyEvent", type="keyDown", key="?", text="?")
        assert visit.evaluate("document.getElementById('help').hidden") is False
        visit.send("Input.dispatchKeyEvent", type="keyDown", key="n", text="n")
        assert visit.evaluate("document.activeElement.id") == "note"
        # A number that is typed into the note is text, not an answer.
        visit.send("Input.dispatchKeyEvent", type="keyDown", key="1", text="1")
        assert visit.evaluate("document.getElementById('note').value").endswith("1")
        visit.send("Input.dispatchKeyEvent", type="keyDown", key="Escape")
        press(browser, visit, "s")
        found = site.service.read(
            lambda r: r.one("select reason from label where reason is not null")
        )
        assert found is not None
        assert found[0].endswith("1")


PAGES = (
    "/",
    "/streams/bot",
    "/streams/bot/slices?by=lang",
    "/streams/bot/labels",
    "/streams/evil/label",
    "/label",
    "/alarms",
    "/settings",
    "/login",
)


@pytest.mark.parametrize("page", PAGES)
def test_every_page_fits_a_phone_has_contrast_names_and_no_complaint(
    site: Site, browser: Browser, page: str
) -> None:
    with browser.visit(site.base + page, patient=False) as visit:
        for width, mode in ((1280, "light"), (390, "dark"), (390, "light")):
            visit.send(
                "Emulation.setDeviceMetricsOverride",
                width=width,
                height=800,
                deviceScaleFactor=1,
                mobile=False,
            )
            visit.prefer(color_scheme=mode)
            # What is open must fit as well.
            visit.evaluate("document.querySelectorAll('details').forEach(d => { d.open = true })")
            assert visit.evaluate("document.documentElement.scrollWidth <= innerWidth"), width
            assert visit.evaluate(CONTRAST) == [], mode
        assert visit.evaluate("document.documentElement.lang") == "en"
        levels = visit.evaluate(
            "[...document.querySelectorAll('h1,h2,h3')].map(h => Number(h.tagName[1]))"
        )
        assert levels.count(1) == 1
        assert levels[0] == 1
        assert all(b <= a + 1 for a, b in pairwise(levels))
        _names(visit)
        browser.heard(visit)
        assert errors_of(visit) == []
        assert all(url.startswith((site.base, "data:")) for url in visit.requests)
        assert "owned" not in visit.evaluate("document.title")


def _names(visit: Visit) -> None:
    """Check that a screen reader hears a name for everything that can be used."""
    visit.send("Accessibility.enable")
    nameless = [
        node["role"]["value"]
        for node in visit.send("Accessibility.getFullAXTree")["nodes"]
        if not node.get("ignored")
        and node["role"]["value"]
        in ("button", "link", "textbox", "combobox", "image", "navigation")
        and not node.get("name", {}).get("value", "").strip()
    ]
    assert nameless == []


def test_the_keyboard_reaches_everything_and_shows_where_it_is(
    site: Site, browser: Browser
) -> None:
    with browser.visit(f"{site.base}/settings") as visit:
        seen = []
        for _ in range(60):
            for kind in ("keyDown", "keyUp"):
                visit.send(
                    "Input.dispatchKeyEvent",
                    type=kind,
                    key="Tab",
                    code="Tab",
                    windowsVirtualKeyCode=9,
                )
            here = visit.evaluate(FOCUS)
            if here[0] == "BODY":
                break
            seen.append(here)
        assert seen[0][1] == "Skip to the answer"
        assert [one for one in seen if one[2] == "none" or one[3] < 2 or not one[4]] == []
        assert {"A", "BUTTON", "INPUT", "SELECT"} <= {one[0] for one in seen}


def test_a_page_brings_itself_up_to_date(site: Site, browser: Browser) -> None:
    site.api.put("/v1/streams/live", json={})
    with browser.visit(f"{site.base}/") as visit:
        assert "live" in visit.evaluate("document.getElementById('streams').textContent")
        site.api.put("/v1/streams/brandnew", json={})
        visit.evaluate("refresh(document.querySelector('[data-refresh]'))")
        for _ in range(200):
            if "brandnew" in visit.evaluate("document.getElementById('streams').textContent"):
                break
            time.sleep(0.1)
        else:
            pytest.fail("the page did not change")
        browser.heard(visit)
        assert errors_of(visit) == []


def test_pages_work_without_the_script(site: Site, browser: Browser) -> None:
    with browser.visit("about:blank") as visit:
        visit.send("Emulation.setScriptExecutionDisabled", value=True)
        go(browser, visit, f"{site.base}/streams/bot")
        root = visit.send("DOM.getDocument", depth=-1)["root"]["nodeId"]
        text = visit.send("DOM.getOuterHTML", nodeId=root)["outerHTML"]
        assert "By lang" in text
        assert 'href="/streams/bot/slices?by=lang"' in text
