"""Which labels count in results, and with which probability."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tallystick.serve.chances import Chances, chances
from tallystick.serve.jobs import Service
from tallystick.serve.streams import find_stream
from tests.serve.equal import differences
from tests.serve.postgres import both
from tests.serve.queue.people import STREAM, draw, fill, say, turn
from tests.serve.web import Clock, Web


def known(service: Service) -> Chances:
    return service.read(lambda r: chances(r, find_stream(r, STREAM)))


def label(web: Web, truth: list[str], n: int) -> None:
    for _ in range(n):
        item = turn(web)
        assert item is not None
        say(web, item["ask"], truth[int(item["item"][1:])])


def test_without_a_draw_every_label_counts(web: Web, service: Service) -> None:
    fill(web)
    web.post(f"/v1/streams/{STREAM}/labels", json={"item": "q1", "value": "pass"})
    assert known(service) == Chances()
    assert "probability" not in web.get(f"/v1/streams/{STREAM}/rows").text


def test_a_frame_half_read_counts_as_the_smaller_sample_that_it_is(
    web: Web, service: Service
) -> None:
    truth = fill(web)
    draw(web, budget=60, overlap=0)
    label(web, truth, 30)
    found = known(service)
    assert len(found.drawn) == 30
    # Weighted by one over their probability they stand for all rows.
    assert sum(1 / p for p in found.drawn.values()) == pytest.approx(300)


@both
def test_labels_before_a_draw_stand_for_themselves_and_later_ones_are_left_out(
    web: Web, service: Service
) -> None:
    truth = fill(web)
    url = f"/v1/streams/{STREAM}/labels"
    for k in range(5):
        web.post(url, json={"item": f"q{k}", "value": truth[k]})
    draw(web, budget=20, overlap=0)
    label(web, truth, 20)
    free = [k for k in range(5, 300) if k not in drawn_items(service)][:7]
    for k in free:
        web.post(url, json={"item": f"q{k}", "value": truth[k]})
    found = known(service)
    assert (len(found.drawn), len(found.apart), len(found.undrawn)) == (20, 5, 7)
    lines = [json.loads(one) for one in web.get(f"/v1/streams/{STREAM}/rows").text.splitlines()]
    counted = {one["item"]: one["probability"] for one in lines if "label" in one}
    assert len(counted) == 25
    assert [counted[f"q{k}"] for k in range(5)] == ["1"] * 5
    assert not [k for k in free if f"q{k}" in counted]
    everything = web.get(f"/v1/streams/{STREAM}/rows?label-draw=all").text
    assert everything.count('"label"') == 32
    assert "probability" not in everything


@both
def test_labels_that_came_with_records_are_no_random_draw_once_rows_were_drawn(
    web: Web, service: Service
) -> None:
    truth = fill(web)
    bad = [k for k in range(300) if truth[k] == "fail"][:40]
    records = [{"item": f"q{k}", "label": {"value": "fail", "by": "desk"}} for k in bad]
    assert web.post(f"/v1/streams/{STREAM}/records", json=records).status_code == 200
    draw(web, budget=60, overlap=0)
    label(web, truth, 60)
    found = known(service)
    assert len(found.apart) == 40
    body = web.get(f"/v1/streams/{STREAM}/results/score").json()
    (system,) = body["systems"]
    # As a random sample, forty labels of failures would put it at 0.42 or below.
    assert abs(system["score"] - truth.count("pass") / 300) < 0.2


def drawn_items(service: Service) -> set[int]:
    rows = service.read(lambda r: r.all("select r.item from draw d join rows r on r.id = d.row_id"))
    return {int(item[1:]) for (item,) in rows}


@both
def test_rows_of_two_frames_have_the_chance_of_either(web: Web, service: Service) -> None:
    truth = fill(web)
    draw(web, budget=30, overlap=0)
    label(web, truth, 30)
    draw(web, budget=30, overlap=0)
    label(web, truth, 30)
    found = known(service)
    assert len(found.drawn) == 60
    assert sum(1 / p for p in found.drawn.values()) == pytest.approx(300, rel=0.05)


@pytest.mark.parametrize(
    ("verb", "labels"),
    [("judge", "even"), ("score", "drawn"), ("compare", "even"), ("judge", "all")],
)
def test_http_and_the_command_line_say_the_same_of_drawn_labels(
    web: Web, service: Service, tmp_path: Path, verb: str, labels: str
) -> None:
    truth = fill(web)
    web.post(f"/v1/streams/{STREAM}/labels", json={"item": "q3", "value": "pass"})
    draw(web, budget=60, overlap=0)
    label(web, truth, 50)
    assert differences(web, STREAM, tmp_path, verb, {"labels": labels}) == []


def test_score_says_that_probabilities_were_used(web: Web) -> None:
    truth = fill(web)
    draw(web, budget=60, overlap=0)
    label(web, truth, 60)
    body = web.get(f"/v1/streams/{STREAM}/results/score").json()
    assert "--probability=probability" in body["command"]
    assert any("probabilities" in one for one in body["assumptions"])
    assert body["systems"][0]["n_labels"] == 60


def test_an_even_sample_is_kept_for_verbs_without_probabilities(
    web: Web, service: Service, clock: Clock
) -> None:
    truth = fill(web, n=400)
    draw(web, budget=40, overlap=0)
    label(web, truth, 40)
    draw(web, budget=80, overlap=0)
    label(web, truth, 80)
    found = known(service)
    from tallystick.serve.auth import Span

    kept = found.counted("even", Span())
    assert set(kept) <= set(found.drawn)
    assert len(set(kept.values())) == 1
    assert len(kept) >= 0.4 * len(found.drawn)
    body = web.get(f"/v1/streams/{STREAM}/results/judge").json()
    assert body["n_labels"] == len(kept)


def test_a_slice_without_labels_is_told_of_counts_as_of_rows(
    web: Web, service: Service, tmp_path: Path
) -> None:
    web.put("/v1/streams/part", json={})
    records = [
        {
            "item": f"i{k}",
            "votes": {judge: "ab"[(k + j * (k % 7 == 0)) % 2] for j, judge in enumerate("xyz")},
            "slice": {"lang": "en" if k % 2 else "de"},
            **({"label": {"value": "ab"[k % 4 // 2], "by": "ann"}} if k % 6 == 1 else {}),
        }
        for k in range(600)
    ]
    assert web.post("/v1/streams/part/records", json=records).status_code == 200
    assert differences(web, "part", tmp_path, "judge", {}) == []
    warnings = web.get("/v1/streams/part/results/judge").json()["warnings"]
    assert any("are on rows with 'lang' en" in one for one in warnings)
