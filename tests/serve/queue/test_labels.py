"""The queue by HTTP: draws with probabilities, blind items, leases, two readers, skips, undo."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tallystick.serve.jobs import Service
from tallystick.serve.queue_turns import LEASE, UNDO, Turn, person_of
from tests.serve.queue.people import JUDGES, STREAM, draw, fill, key_of, say, turn
from tests.serve.web import Clock, Web


@pytest.fixture
def readers(web: Web, far: Callable[..., Web]) -> list[Web]:
    return [far(key_of(web, name)) for name in ("ann", "bob", "cho")]


def test_an_item_has_exactly_the_fields_of_its_type_and_no_vote(
    web: Web, readers: list[Web]
) -> None:
    fill(web)
    draw(web, budget=30)
    for _ in range(30):
        raw = readers[0].get(f"/v1/streams/{STREAM}/next")
        found = raw.json()
        assert list(found) == list(Turn.__struct_fields__)
        assert not [name for name in (*JUDGES, "stratum", "probability") if name in raw.text]
        assert found["labels"] == ["pass", "fail"]
        k = int(found["item"][1:])
        assert found["show"] == {"Customer": f"Question {k}?", "Answer": f"Answer {k}."}
        say(readers[0], found["ask"], "pass")
    assert turn(readers[0]) is None


def test_each_draw_has_the_probability_of_its_stratum(web: Web, service: Service) -> None:
    fill(web)
    frame = draw(web, budget=60)
    assert sum(one["drawn"] for one in frame["strata"]) == 60
    assert sum(one["size"] for one in frame["strata"]) == 300
    for h, p, n in service.read(
        lambda r: r.all(
            "select stratum, probability, count(*) from draw group by stratum, probability"
        )
    ):
        assert n == frame["strata"][h]["drawn"]
        assert p == frame["strata"][h]["probability"] == pytest.approx(60 / 300)


def test_two_people_share_only_the_overlap(web: Web, readers: list[Web]) -> None:
    fill(web)
    draw(web, budget=40, overlap=0.25)
    ann, bob, _ = readers
    seen: dict[str, list[str]] = {"ann": [], "bob": []}
    going = True
    while going:
        going = False
        for name, who in (("ann", ann), ("bob", bob)):
            item = turn(who)
            if item is not None:
                going = True
                seen[name].append(item["item"])
                say(who, item["ask"], "pass")
    assert len(set(seen["ann"])) == len(seen["ann"])
    assert len(set(seen["ann"]) & set(seen["bob"])) == 10
    assert len(set(seen["ann"]) | set(seen["bob"])) == 40


def test_an_item_is_one_persons_until_the_lease_ends(
    web: Web, readers: list[Web], clock: Clock
) -> None:
    fill(web)
    draw(web, budget=5, overlap=0)
    ann, bob, _ = readers
    first = turn(ann)
    assert first is not None
    assert turn(ann) == first  # loading the page again
    other = turn(bob)
    assert other is not None
    assert other["item"] != first["item"]
    late = bob.post(f"/v1/streams/{STREAM}/labels", json={"ask": first["ask"], "value": "pass"})
    assert late.status_code == 409
    clock.now += LEASE + 1
    say(bob, other["ask"], "pass")  # nobody took it over
    again = turn(bob)
    assert again is not None
    assert again["item"] == first["item"]
    late = ann.post(f"/v1/streams/{STREAM}/labels", json={"ask": first["ask"], "value": "pass"})
    assert late.status_code == 409
    assert "the time for it was over" in late.json()["detail"]


def test_two_who_disagree_give_no_truth_until_a_third_decides(
    web: Web, readers: list[Web], service: Service
) -> None:
    fill(web)
    draw(web, budget=1, overlap=1)
    ann, bob, cho = readers

    def labelled() -> int:
        body = web.get(f"/v1/streams/{STREAM}/rows?format=ndjson").text
        return body.count('"label":"pass"') + body.count('"label": "pass"')

    for who, value in ((ann, "pass"), (bob, "fail")):
        item = turn(who)
        assert item is not None
        say(who, item["ask"], value)
    assert draw_state(service) == "disagreed"
    assert labelled() == 0
    assert turn(ann) is None
    item = turn(cho)
    assert item is not None
    say(cho, item["ask"], "pass")
    assert draw_state(service) == "answered"
    assert labelled() == 1


def draw_state(service: Service) -> str:
    found = service.read(lambda r: r.one("select state from draw"))
    assert found is not None
    return str(found[0])


def test_a_skip_keeps_its_reason_and_is_never_drawn_again(
    web: Web, readers: list[Web], service: Service
) -> None:
    fill(web, n=10)
    draw(web, budget=1, overlap=0)
    ann = readers[0]
    item = turn(ann)
    assert item is not None
    body = {"ask": item["ask"], "skip": "cut off"}
    assert ann.post(f"/v1/streams/{STREAM}/labels", json=body).json() == {"kept": "skipped"}
    assert service.read(lambda r: r.all("select value, reason from label")) == [(None, "cut off")]
    assert draw_state(service) == "skipped"
    frame = draw(web, budget=50)
    assert sum(one["drawn"] for one in frame["strata"]) == 9


def test_an_answer_can_be_taken_back_for_five_minutes(
    web: Web, readers: list[Web], clock: Clock
) -> None:
    fill(web)
    draw(web, budget=3, overlap=0)
    ann = readers[0]
    url = f"/v1/streams/{STREAM}/labels"
    first = turn(ann)
    assert first is not None
    say(ann, first["ask"], "pass")
    assert turn(ann) is not None
    assert ann.post(url, json={"undo": True}).json() == {"kept": "undone"}
    again = turn(ann)
    assert again is not None
    assert again["item"] == first["item"]
    assert again["done"] == 0
    ann.post(url, json={"ask": again["ask"], "skip": "?"})
    assert ann.post(url, json={"undo": True}).json() == {"kept": "undone"}
    say(ann, first["ask"], "fail")
    clock.now += UNDO + 1
    late = ann.post(url, json={"undo": True})
    assert late.status_code == 409
    assert "five minutes" in late.json()["detail"]


def test_what_cannot_be_an_answer_is_refused(
    web: Web, readers: list[Web], far: Callable[..., Web], service: Service
) -> None:
    fill(web)
    frame = draw(web, budget=2)
    ann = readers[0]
    # A row of the stream that this draw, whose seed is a secret, left out.
    drawn = {row for (row,) in service.read(lambda r: r.all("select row_id from draw"))}
    rows = {row for (row,) in service.read(lambda r: r.all("select id from rows"))}
    left_out = min(rows - drawn)
    url = f"/v1/streams/{STREAM}/labels"
    item = turn(ann)
    assert item is not None
    for body, status in (
        ({}, 422),
        ({"value": "pass"}, 422),
        ({"ask": item["ask"], "value": "maybe"}, 422),
        ({"ask": f"{frame['id']}.{left_out}", "value": "pass"}, 404),
        ({"ask": "x", "value": "pass"}, 404),
        ({"item": "nothing", "value": "pass"}, 404),
    ):
        assert ann.post(url, json=body).status_code == status, body
    say(ann, item["ask"], "pass")
    twice = ann.post(url, json={"ask": item["ask"], "value": "pass"})
    assert twice.status_code == 409
    assert "already" in twice.json()["detail"]
    reader = far(key_of(web, "eve", "read"))
    assert reader.get(f"/v1/streams/{STREAM}/next").status_code == 403
    assert reader.post(f"/v1/streams/{STREAM}/frames", json={}).status_code == 403
    assert web.post(f"/v1/streams/{STREAM}/frames", json={"budget": 0}).status_code == 422


def test_a_label_that_nobody_drew_is_kept_as_volunteered(web: Web, service: Service) -> None:
    fill(web)
    body = {"item": "q7", "value": "pass"}
    answer = web.post(f"/v1/streams/{STREAM}/labels", json=body)
    assert answer.json() == {"kept": "volunteered"}
    assert service.read(lambda r: r.all("select origin, value from label")) == [
        ("volunteered", "pass")
    ]


def test_people_of_one_name_are_one_person() -> None:
    from tallystick.serve.auth import LOCAL, Principal

    assert person_of(LOCAL) == "local"
    assert person_of(Principal("4f", "label", "")) == "4f"
