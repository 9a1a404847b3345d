"""The labelling page of a session: what it shows, what it takes, and what it never does."""

from __future__ import annotations

import contextlib
import csv
import json
import os
import re
import resource
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import httpx
import pytest

from tallystick.table.session import open_session
from tests.report.browser import Browser

pytest.importorskip("starlette", reason="the extra serve is not installed")
pytest.importorskip("uvicorn", reason="the extra serve is not installed")


HOSTILE = [
    "<script>document.title='owned'</script><img src=x onerror=\"document.title='owned'\">",
    "</p></main><script src=http://evil.example/x.js></script>",
    "{{ 7*7 }} {% raw %} javascript:alert(1)",
    "مرحبا بالعالم \u202etxt.exe",
    "w" * 100_000,
    "a\x00b\x1b[31m",
]


def _written(path: Path, texts: Sequence[str]) -> Path:
    with path.open("w", newline="") as stream:
        writer = csv.writer(stream)
        writer.writerow(["id", "text", "gpt", "claude"])
        for i, text in enumerate(texts):
            votes = "pass" if i % 3 else "fail", "pass" if i % 5 else "fail"
            writer.writerow([f"i{i}", text.replace("\x00", ""), *votes])
    return path


@pytest.fixture
def table(tmp_path: Path) -> Path:
    texts = [HOSTILE[i // 2 % len(HOSTILE)] if i % 2 else f"text {i}" for i in range(200)]
    return _written(tmp_path / "t.csv", texts)


@contextlib.contextmanager
def served(table: Path, *options: str) -> Iterator[dict[str, str]]:
    """Run the page; yield reader to link."""
    session = table.parent / "s.label"
    command = [sys.executable, "-m", "tallystick", "label", "--session", str(session), "--open"]
    if not session.exists():
        command += [str(table), "--question", "judge", "--judges", "gpt,claude", "--show", "text"]
    process = subprocess.Popen(
        [*command, *options],
        stderr=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        text=True,
        env={**os.environ, "TALLYSTICK_NO_BROWSER": "1"},
    )
    links: dict[str, str] = {"pid": str(process.pid)}
    assert process.stderr is not None
    for line in process.stderr:
        found = re.match(r"reader (\d).*: (http\S+)", line)
        if found:
            links[found[1]] = found[2]
        if "Ctrl-C" in line:
            break
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline:  # the socket listens before the server answers
        with contextlib.suppress(httpx.TransportError):
            httpx.get(links["1"], timeout=5)
            break
    try:
        yield links
    finally:
        process.terminate()
        process.wait(timeout=30)
        process.stderr.close()


def _form(link: str) -> tuple[int, str]:
    text = httpx.get(link).text
    return int(re.search(r'name="ask" value="(-?\d+)"', text)[1]), text


def test_a_full_disk_is_said_and_the_item_stays(table):
    with served(table) as links:
        ask, _ = _form(links["1"])
        size = (table.parent / "s.label").stat().st_size
        resource.prlimit(int(links["pid"]), resource.RLIMIT_FSIZE, (size + 50, size + 50))
        answer = httpx.post(links["1"], data={"ask": str(ask), "answer": "1"})
        assert answer.status_code == 409
        assert "nothing of this was saved" in answer.text
        assert _form(links["1"])[0] == ask
    assert not open_session(table.parent / "s.label").answers


def test_a_second_process_is_told_that_the_page_is_open(table):
    with served(table):
        other = subprocess.run(
            [
                sys.executable,
                "-m",
                "tallystick",
                "label",
                "--session",
                str(table.parent / "s.label"),
                "--next",
                "5",
            ],
            capture_output=True,
            text=True,
        )
    assert other.returncode == 1
    assert "another process is writing" in other.stderr


# -- in a browser


def _press(browser: Browser, visit, key: str) -> None:
    """Press a key and wait for the page that follows."""
    browser.heard(visit)
    visit.send("Input.dispatchKeyEvent", type="keyDown", key=key, text=key)
    visit.send("Input.dispatchKeyEvent", type="keyUp", key=key)
    browser.wait(visit, "Page.loadEventFired")


def test_labels_by_keyboard_with_a_reload_a_second_reader_and_hostile_text(table, browser):
    with served(table, "--readers", "2") as links, browser.visit(links["1"]) as visit:
        for k in range(24):
            _press(browser, visit, "2" if k % 4 else "1")
            if k == 10:
                browser.heard(visit)
                visit.send("Page.reload")
                browser.wait(visit, "Page.loadEventFired")
            assert visit.evaluate("document.title").endswith("label · tallystick")
        assert visit.evaluate("document.getElementById('number').textContent") == "25"

        # A note, then an answer; then everything is taken back once.
        visit.evaluate("document.getElementById('note-key').click()")
        visit.evaluate("document.getElementById('note').value = 'unsure'")
        visit.evaluate("document.activeElement.blur()")
        _press(browser, visit, "1")
        _press(browser, visit, "s")
        _press(browser, visit, "u")

        with browser.visit(links["2"]) as other:
            for _ in range(5):
                _press(browser, other, "1")
            browser.heard(other)
            asked = other.requests
        browser.heard(visit)
        origin = links["1"].split("/r/")[0]
        assert all(url.startswith(origin) for url in [*visit.requests, *asked])
        seen = [json.loads(text) for text in visit.complaints]
        assert not [one for one in seen if "owned" in json.dumps(one)]
        assert visit.evaluate("document.scripts.length") == 1

    session = open_session(table.parent / "s.label")
    first = [one for one in session.answers.values() if one.reader == "1"]
    assert [one.ask for one in first] == list(range(25))
    assert [one.label for one in first[:24]] == ["pass" if k % 4 else "fail" for k in range(24)]
    assert first[24].note == "unsure"
    assert all(one.seconds is not None for one in first)
    assert sum(one.reader == "2" for one in session.answers.values()) == 5


def test_long_and_right_to_left_text_is_shown_as_text(tmp_path, browser):
    table = _written(tmp_path / "t.csv", HOSTILE * 2)
    with served(table) as links, browser.visit(links["1"]) as visit:
        seen = set()
        for _ in range(2 * len(HOSTILE)):
            shown = visit.evaluate("document.querySelector('.read.text').textContent")
            seen.add(shown)
            way = visit.evaluate("getComputedStyle(document.querySelector('.read.text')).direction")
            assert way == ("rtl" if shown.startswith("مرحبا") else "ltr")
            wide = visit.evaluate("document.documentElement.scrollWidth <= innerWidth")
            assert wide
            _press(browser, visit, "1")
    assert len(seen) == len(HOSTILE)
    for text in (*HOSTILE[:3], HOSTILE[4]):  # the others hold signs that are spelled out
        assert text in seen, text[:40]


def test_kill_9_in_the_middle_of_saving_loses_no_answer_that_was_taken(table):
    """An answer that the page confirmed is in the file, once; at most one more was on its way."""
    taken: list[int] = []
    with served(table) as links:
        killer = threading.Timer(0.1, os.kill, (int(links["pid"]), 9))
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
