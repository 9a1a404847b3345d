"""The page of a stream: the verdict first, then what would settle the rest, then the evidence."""

from __future__ import annotations

import numpy as np

from tallystick.serve.jobs import Service
from tallystick.serve.pages.home import WindowPoint
from tallystick.serve.pages.site import ForestEntry
from tallystick.serve.pages.stream import axis_of, panels_of
from tests.serve.pages.form import submit
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
    assert text.index("<h1") < text.index('class="next"') < text.index("Judges now")
    assert "Draw " in text


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
    assert text.index("<bdi>de</bdi>") < text.index("<bdi>en</bdi>")
    assert "dot warn" in text  # settled to be below the average


def test_panels_put_the_judge_that_changed_first(service: Service) -> None:
    points = [
        WindowPoint(
            index=k,
            at=3600.0 * k,
            name=name,
            value=80.0 - (10 if name == "b" and k > 3 else 0),
            low=70.0,
            high=90.0,
            alarmed=k == 4,
            named=k == 4 and name == "b",
        )
        for k in range(8)
        for name in ("a", "b")
    ]
    first, second = panels_of(points)
    assert first["name"] == "b"
    assert [one["kind"] for one in first["points"]] == [""] * 4 + [" after"] * 4
    assert {one["kind"] for one in second["points"]} == {""}
    assert len(first["marks"]) == 1
    assert panels_of(points[:2]) == []


def test_an_axis_has_whole_tens() -> None:
    found = axis_of([ForestEntry("a", 72.3, 66.9, 77.2), ForestEntry("b", 88.0, 83.0, 91.0)])
    assert (found["low"], found["high"]) == (60, 100)
    assert axis_of([])["high"] == 100


def test_without_labels_a_range_is_not_called_an_interval(web: Web) -> None:
    truth = fill(web, n=80)
    text = web.get(f"/streams/{STREAM}").text
    assert "likely range" in text
    assert "95 % interval" not in text
    labels = [{"item": f"q{k}", "label": {"value": truth[k]}} for k in range(0, 80, 2)]
    web.post(f"/v1/streams/{STREAM}/records", json=labels)
    text = web.get(f"/streams/{STREAM}").text
    assert "likely range" not in text
    assert "95 % interval" in text
