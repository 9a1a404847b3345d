"""The page of a stream: the verdict first, then what would settle the rest, then the evidence."""

from __future__ import annotations

import json

import numpy as np

from tallystick.serve.database import Transaction
from tallystick.serve.jobs import Service
from tests.serve.pages.form import TOKEN, submit
from tests.serve.postgres import both
from tests.serve.queue.people import STREAM, draw, fill, say, turn
from tests.serve.web import Web


def test_the_verdict_the_draw_and_the_command_stand_on_the_page(web: Web) -> None:
    truth = fill(web)
    page = f"/streams/{STREAM}"
    assert "By their votes alone" in web.get(page).text
    sent = submit(web, page, f"/streams/{STREAM}/frames", budget="30")
    assert (sent.status_code, sent.headers["location"]) == (303, page)
    assert "Label 30 rows" in web.get(page).text
    for _ in range(30):
        item = turn(web)
        assert item is not None
        say(web, item["ask"], truth[int(item["item"][1:])])
    text = web.get(page).text
    assert "30 drawn by the queue." in text
    assert "tallystick judge rows.csv" in text
    assert "label-draw=even" in text
    assert text.index("<h1") < text.index('class="next"') < text.index("<h2>Now</h2>")
    assert "Draw " in text


@both
def test_volunteered_labels_are_shown_apart_and_enter_only_if_asked(web: Web) -> None:
    truth = fill(web)
    draw(web, budget=20, overlap=0)
    for _ in range(20):
        item = turn(web)
        assert item is not None
        say(web, item["ask"], truth[int(item["item"][1:])])
    rows = range(0, 300, 3)
    for k in rows:
        web.post(f"/v1/streams/{STREAM}/labels", json={"item": f"q{k}", "value": truth[k]})
    text = web.get(f"/streams/{STREAM}").text
    assert "that nobody drew are not counted" in text
    assert "Count them too" in text
    asked = web.get(f"/streams/{STREAM}?label-draw=all").text
    assert "this is an assumption" in asked


def test_slices_come_worst_first(web: Web) -> None:
    rng = np.random.default_rng(2)
    web.put("/v1/streams/bot", json={})
    records = []
    for k in range(600):
        truth, lang = ("x", "y")[k % 3 == 0], ("en", "de")[k % 2]
        wrong = {"x": "y", "y": "x"}[truth]
        right = 0.95 if lang == "en" else 0.6
        votes = {judge: truth if rng.random() < right else wrong for judge in "abc"}
        label = {"value": truth, "by": "p"}
        records.append({"item": str(k), "votes": votes, "label": label, "slice": {"lang": lang}})
    assert web.post("/v1/streams/bot/records", json=records).status_code == 200
    assert "data-load" in web.get("/streams/bot").text
    text = web.get("/streams/bot/slices?by=lang").text
    drawn = text.partition("</svg>")[0]
    assert drawn.index(">de</text>") < drawn.index(">en</text>")
    assert drawn.count(">de</text>") == 3  # once per judge
    assert "data-load" not in text


def test_windows_are_drawn_by_judge_and_those_with_an_alarm_are_named(
    web: Web, service: Service
) -> None:
    fill(web, n=20)

    def work(tx: Transaction) -> None:
        for k in range(4):
            judges = [
                {"name": name, "accuracy": 0.8, "interval": [0.7, 0.9]} for name in ("gpt", "<b>")
            ]
            change = {"alarms": [{"judge": "<b>"}] if k == 2 else []}
            tx.run(
                "insert into windows (stream, idx, seq_from, row_from, rows, opened, closed,"
                " result, change) values (1, ?, 0, 0, 10, 0, 1, ?, ?)",
                (k, json.dumps({"judges": judges}), json.dumps(change)),
            )

    service.writer.do(work)
    text = web.get(f"/streams/{STREAM}").text
    drawn = text.partition("alarms in 3 (&lt;b&gt;).</b>")[2].partition("</svg>")[0]
    assert drawn.count("80.0% [70.0, 90.0]") >= 8  # four windows of two judges


def test_what_cron_posted_stands_on_the_page(web: Web) -> None:
    fill(web, n=20)
    assert "Posted from outside" not in web.get(f"/streams/{STREAM}").text
    night = {
        "verb": "shift",
        "verdict": "It <i>changed</i>.",
        "api": "x",
        "gates": [{"passed": False}],
    }
    assert web.post(f"/v1/streams/{STREAM}/posted", json=night).status_code == 200
    text = web.get(f"/streams/{STREAM}").text
    assert "Posted from outside" in text
    assert "It &lt;i&gt;changed&lt;/i&gt;." in text
    assert "Changed:" in text


def test_no_page_speaks_of_files_or_options(web: Web) -> None:
    web.put("/v1/streams/own", json={})
    votes = [{"a": "good", "b": "fair"}, {"a": "bad", "b": "bad"}]
    records = [
        {"item": str(k), "system": "xy"[k % 2], "votes": votes[k % 2], "label": {"value": "good"}}
        for k in range(20)
    ]
    assert web.post("/v1/streams/own/records", json=records).status_code == 200
    text = web.get("/streams/own").text.partition("<pre>")[0]
    assert "Nothing can be said yet" in text
    assert "rows.csv" not in text
    assert "--" not in TOKEN.sub("", text.partition("<main")[2])  # its letters may be anything


def test_without_labels_a_range_is_not_called_an_interval(web: Web) -> None:
    truth = fill(web, n=80)
    text = web.get(f"/streams/{STREAM}").text
    assert "a likely range" in text
    assert "95% interval holds" not in text
    labels = [{"item": f"q{k}", "label": {"value": truth[k]}} for k in range(0, 80, 2)]
    web.post(f"/v1/streams/{STREAM}/records", json=labels)
    text = web.get(f"/streams/{STREAM}").text
    assert "a likely range" not in text
    assert "95% interval holds" in text
