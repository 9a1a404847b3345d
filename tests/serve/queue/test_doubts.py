"""What the way labels were chosen leaves open is said with every result."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.serve.postgres import both
from tests.serve.queue.people import STREAM, draw, fill, key_of, say, turn
from tests.serve.web import Web


def result(web: Web, verb: str = "judge", **query: str) -> dict[str, Any]:
    answer = web.get(f"/v1/streams/{STREAM}/results/{verb}", params=query)
    assert answer.status_code == 200, answer.text
    return dict(answer.json())


def label_all(web: Web, truth: list[str]) -> None:
    while (item := turn(web)) is not None:
        say(web, item["ask"], truth[int(item["item"][1:])])


def more(web: Web, n: int) -> None:
    records = [{"item": f"later{k}", "votes": {"gpt": "pass", "claude": "pass"}} for k in range(n)]
    assert web.post(f"/v1/streams/{STREAM}/records", json=records).status_code == 200


@pytest.mark.parametrize("verb", ["judge", "score", "compare"])
def test_rows_that_came_after_the_draw_are_counted_and_named(web: Web, verb: str) -> None:
    truth = fill(web)
    draw(web, budget=60, overlap=0)
    label_all(web, truth)
    assert result(web, verb)["label_doubts"] == []
    more(web, 250)
    found = result(web, verb)
    assert found["decision"] != "decided"
    assert any(one.startswith("250 rows were in no draw") for one in found["warnings"])
    assert result(web, verb, window="last:400")["warnings"][-1].startswith("250 rows were in no")
    assert "250 rows were in no draw" in web.get(f"/streams/{STREAM}").text


def test_labels_of_rows_that_people_chose_are_named_before_any_draw(web: Web) -> None:
    truth = fill(web)
    for k in range(0, 300, 10):
        web.post(f"/v1/streams/{STREAM}/labels", json={"item": f"q{k}", "value": truth[k]})
    found = result(web)
    assert found["warnings"][-1].startswith("30 labels were given to rows that somebody chose")


@both
def test_skipped_and_disputed_draws_are_counted_and_a_third_person_settles_one(
    web: Web, far: Callable[[str], Web]
) -> None:
    truth = fill(web, overlap=1.0)
    draw(web, budget=40, overlap=1.0)
    other = {"pass": "fail", "fail": "pass"}
    people = [far(key_of(web, name)) for name in ("ann", "bob", "cleo")]
    for number, person in enumerate(people[:2]):
        for k in range(40):
            item = turn(person)
            assert item is not None
            word = truth[int(item["item"][1:])]
            if k < 5:
                person.post(f"/v1/streams/{STREAM}/labels", json={"ask": item["ask"], "skip": "?"})
            else:
                say(person, item["ask"], other[word] if number and k < 15 else word)
    (doubt,) = result(web)["label_doubts"]
    assert doubt["warning"].startswith(
        "15 of 40 drawn rows that were read have no label (people disagree on 10, 5 skipped)"
    )
    assert "A third person can decide" in doubt["warning"]
    label_all(people[2], truth)
    (doubt,) = result(web)["label_doubts"]
    assert doubt["warning"].startswith("5 of 40 drawn rows")
