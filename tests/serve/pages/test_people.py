"""Labels and people: agreement with its interval, what waits for a third, pace, skips."""

from __future__ import annotations

from collections.abc import Callable

from tallystick.serve.jobs import Service
from tallystick.serve.queue_turns import people_of
from tallystick.serve.streams import find_stream
from tests.serve.queue.people import STREAM, draw, fill, key_of, say, turn
from tests.serve.web import Web


def test_agreement_disagreements_and_pace_stand_on_the_page(
    web: Web, far: Callable[..., Web], service: Service
) -> None:
    fill(web)
    page = f"/streams/{STREAM}/labels"
    assert "Nobody has labelled" in web.get(page).text
    draw(web, budget=20, overlap=1)
    ann, bob = far(key_of(web, "ann")), far(key_of(web, "bob"))
    for who, rare in ((ann, 5), (bob, 4)):
        for k in range(20):
            item = turn(who)
            assert item is not None
            say(who, item["ask"], "fail" if k % rare == 0 else "pass")
    found = service.read(lambda r: people_of(r, find_stream(r, STREAM)))
    assert (found["twice"], [one["name"] for one in found["people"]]) == (20, ["ann", "bob"])
    assert found["agreed"] == 20 - len(found["open"])
    assert found["share"][0] < found["agreed"] / 20 < found["share"][1]
    assert found["kappa"] is not None
    text = web.get(page).text
    assert f"Two people agree on {100 * found['agreed'] / 20:.1f}%" in text
    assert "exact 95% interval" in text
    assert found["open"][0]["item"] in text


def test_one_person_is_told_that_nobody_knows_how_often_they_err(web: Web) -> None:
    fill(web)
    draw(web, budget=2, overlap=0)
    item = turn(web)
    assert item is not None
    say(web, item["ask"], "pass")
    web.post(f"/v1/streams/{STREAM}/labels", json={"ask": turn(web)["ask"], "skip": "blurred"})  # type: ignore[index]
    text = web.get(f"/streams/{STREAM}/labels").text
    assert "nobody knows how often they err" in text
    assert "blurred" in text
