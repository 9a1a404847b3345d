"""An answer speaks of the rows that could have been drawn, and says which labels it cannot use."""

from __future__ import annotations

import secrets
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tallystick.serve.answer import answer_stream
from tallystick.serve.service import Service
from tallystick.serve.span import Span
from tests.serve.queue.people import STREAM, InProcess, draw, fill, key_of, say, turn
from tests.serve.web import Web

RECORDS = f"/v1/streams/{STREAM}/records"
LABELS = f"/v1/streams/{STREAM}/labels"


@pytest.fixture(autouse=True)
def no_worker_process(service: Service) -> None:
    service.worker = InProcess(service.store)


def asked(service: Service, verb: str, **span: Any) -> Any:
    found = answer_stream(service.store, STREAM, verb, {}, Span(**span))
    assert found.result is not None, found.why
    return found.result


def read_all(web: Web, truth: list[str]) -> None:
    while (item := turn(web)) is not None:
        say(web, item["ask"], truth[int(item["item"][1:])])


@pytest.mark.parametrize("verb", ["judge", "score"])
def test_rows_after_the_last_draw_are_no_part_of_the_answer(
    web: Web, service: Service, verb: str
) -> None:
    truth = fill(web)
    draw(web, budget=80, overlap=0)
    read_all(web, truth)
    before = asked(service, verb)
    assert not before.warnings
    late = [
        {"item": f"late{n}", "votes": {"gpt": "pass", "claude": "pass", "llama": "pass"}}
        for n in range(700)
    ]
    assert web.post(RECORDS, json=late).status_code == 200
    after = asked(service, verb)
    assert after.n_items == 300
    assert after.verdict == before.verdict  # it is what it was: nothing is known of the new rows
    assert "700 rows of this window came after the last draw" in after.warnings[0]
    assert after.decision != "decided"
    few = asked(service, verb, last=900)
    assert few.n_items == 200
    assert "700 rows" in few.warnings[0]
    exported = web.get(f"/v1/streams/{STREAM}/rows?labels=drawn").text
    assert len(exported.splitlines()) == 300
    assert len(web.get(f"/v1/streams/{STREAM}/rows").text.splitlines()) == 1000

    draw(web, budget=80, overlap=0)
    again = asked(service, verb)
    assert again.n_items == 300  # drawn, and nobody has read it
    while (item := turn(web)) is not None:
        name = item["item"]
        say(web, item["ask"], "pass" if name.startswith("late") else truth[int(name[1:])])
    whole = asked(service, verb)
    assert whole.n_items == 1000
    assert not any("last draw" in one for one in whole.warnings)


@pytest.mark.parametrize("verb", ["judge", "score"])
def test_labels_that_people_picked_are_left_out_and_the_answer_says_so(
    web: Web, service: Service, verb: str
) -> None:
    truth = fill(web)
    fails = [k for k in range(300) if truth[k] == "fail"][:60]
    for k in fails:
        assert web.post(LABELS, json={"item": f"q{k}", "value": "fail"}).status_code == 200
    found = asked(service, verb)
    assert "60 labels are left out because nobody drew their rows" in found.warnings[0]
    assert "random labels" not in found.verdict
    assert found.decision != "decided"
    every = asked(service, verb, labels="all")
    assert "as if its row had been drawn at random" in every.warnings[0]


def test_labels_that_came_with_records_do_not_bend_a_draw(
    web: Web, service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The draw is the same each time: an interval may miss, and a test may reject.
    monkeypatch.setattr(secrets, "token_bytes", lambda n: b"1" * n)
    monkeypatch.setattr(secrets, "randbits", lambda _: 7)
    truth = fill(web, n=600, seed=3)
    fails = [k for k in range(600) if truth[k] == "fail"][:100]
    web.post(RECORDS, json=[{"item": f"q{k}", "label": {"value": "fail"}} for k in fails])
    draw(web, budget=80, overlap=0)
    read_all(web, truth)
    share = float(np.mean([one == "pass" for one in truth]))
    interval = asked(service, "score").systems[0].interval
    assert interval.low < share < interval.high
    assert "not drawn at random" not in asked(service, "judge").verdict


def test_draws_that_people_cannot_settle_are_named_and_leave_the_answer_open(
    web: Web, far: Callable[..., Web], service: Service
) -> None:
    truth = fill(web, overlap=1.0)
    draw(web, budget=80)
    ann, bob, eve = (far(key_of(web, name)) for name in ("ann", "bob", "eve"))
    other = {"pass": "fail", "fail": "pass"}
    for person in (ann, bob):
        while (item := turn(person)) is not None:
            value = truth[k := int(item["item"][1:])]
            say(person, item["ask"], other[value] if person is bob and k % 4 == 0 else value)
    drawn = web.get(f"/v1/streams/{STREAM}/frames").json()["frames"][0]
    found = asked(service, "judge")
    assert f"on {drawn['disagreed']} two people disagree" in found.warnings[0]
    assert found.decision != "decided"
    assert "drawn rows without a label are like those with one" in found.assumptions
    read_all(eve, truth)  # a third person decides
    assert not any("disagree" in one for one in asked(service, "judge").warnings)


def test_skipped_draws_are_named(web: Web, service: Service) -> None:
    truth = fill(web)
    draw(web, budget=80, overlap=0)
    for _ in range(15):
        item = turn(web)
        assert item is not None
        web.post(LABELS, json={"ask": item["ask"], "skip": "too hard"})
    read_all(web, truth)
    for verb in ("judge", "score", "compare"):
        found = asked(service, verb)
        assert "15 of the 80 drawn rows that were read have no label" in found.warnings[0]
        assert found.decision != "decided"
