"""Home, alarms, settings, labels and people."""

from __future__ import annotations

import random
import re
import shlex
from collections.abc import Callable
from dataclasses import replace

from tallystick.serve.alerts import listed_alerts
from tallystick.serve.jobs import Service
from tallystick.serve.queue_turns import people_of
from tallystick.serve.streams import find_stream
from tests.serve.pages.form import submit
from tests.serve.postgres import both
from tests.serve.queue.people import STREAM, draw, fill, key_of, say, turn
from tests.serve.web import Web


def test_an_empty_home_shows_three_lines_that_work(web: Web) -> None:
    text = web.get("/").text
    code = text.partition("<pre><code>")[2].partition("</code>")[0]
    lines = [
        shlex.split(one.replace("&#34;", '"').replace("&#39;", "'")) for one in code.split("\n")
    ]
    assert len(lines) == 3
    for words in lines:
        method = words[words.index("-X") + 1] if "-X" in words else "GET"
        url = next(word for word in words if word.startswith("http"))
        body = words[words.index("-d") + 1].encode() if "-d" in words else None
        answer = web.request(method, url.removeprefix(web.base), content=body)
        assert answer.status_code == 200, answer.text
    assert "my-bot" in web.get("/").text


def test_home_shows_streams_first_and_each_alarm_in_one_line(web: Web, service: Service) -> None:
    fill(web, n=60)
    service.writer.do(
        lambda tx: tx.run(
            "insert into alert (stream, name, what, proves, does_not_prove, detail, at)"
            " values (1, 'change', 'bot: the votes changed', 'llama moved', 'why', '{}', 5.0)"
        )
    )
    text = web.get("/").text
    assert "Alarms that need a look: 1." in text
    assert text.index('id="streams"') < text.index("bot: the votes changed")
    assert "llama moved" not in text  # what it proves stands on its own page
    assert 'href="/alarms#alarm-1"' in text
    assert f'href="/streams/{STREAM}"' in text
    assert ">60<" in text


@both
def test_home_says_what_is_open_what_was_not_tested_and_counts_only_agreed_labels(
    web: Web,
) -> None:
    truth = fill(web, n=60)
    drawn = random.Random(0).sample(range(60), 20)
    labels = [{"item": f"q{k}", "label": {"value": truth[k], "by": "ann"}} for k in drawn]
    other = {"pass": "fail", "fail": "pass"}
    labels += [
        {"item": f"q{k}", "label": {"value": other[truth[k]], "by": "bob"}} for k in drawn[:5]
    ]
    assert web.post(f"/v1/streams/{STREAM}/records", json=labels).status_code == 200
    while "…" in (text := web.get("/").text):
        pass  # a verdict that takes longer than a second comes with the next look
    assert "Nothing was tested yet." in text
    assert "Waiting for a first full window: 1 of 1" in text
    assert "We cannot tell which judge is best:" in text
    assert "25.0" in text  # 15 of 60: on five rows people disagree


def test_an_alarm_says_what_it_proves_and_where_it_was_sent(web: Web, service: Service) -> None:
    assert "No alarm so far" in web.get("/alarms").text
    fill(web, n=5)

    def work(tx: object) -> None:
        run = tx.run  # type: ignore[attr-defined]
        run(
            "insert into alert (id, stream, name, what, proves, does_not_prove, detail, at)"
            " values (1, 1, 'change', '<b>bot</b> changed', 'votes moved', 'why', '{}', 5.0)"
        )
        run(
            "insert into hook (id, name, url, secret, streams, state, created)"
            " values (1, 'pager', 'https://x.example', 's', '[]', 'on', 0)"
        )
        for ident, done in (("a", 7.0), ("b", None)):
            run(
                "insert into delivery (id, hook, alert, body, tries, done, created)"
                " values (?, 1, 1, '{}', 6, ?, 0)",
                (ident, done),
            )

    service.writer.do(work)
    text = web.get("/alarms").text
    assert "&lt;b&gt;bot&lt;/b&gt; changed" in text
    assert "votes moved" in text
    assert "Delivered" in text
    [line] = service.read(lambda r: listed_alerts(r, unseen=True))
    assert line.stream == "bot"
    assert service.read(lambda r: listed_alerts(r, streams=("other",))) == []
    sent = submit(web, "/alarms", "/alarms/1/seen")
    assert sent.status_code == 303


def test_a_key_is_shown_once_works_and_can_be_revoked(web: Web, far: Callable[..., Web]) -> None:
    fill(web, n=5)
    made = submit(web, "/settings", "/settings/keys", name="ann", role="label", stream=STREAM)
    found = re.search(r"<code>(ts_\w+?_[\w-]+)</code>", made.text)
    assert found is not None
    key = found[1]
    again = web.get("/settings").text
    assert key not in again
    assert key.split("_", 2)[2] not in again
    assert "ann" in again
    assert far(key).get(f"/v1/streams/{STREAM}/next").status_code == 204
    ident = key.split("_")[1]
    gone = submit(web, "/settings", f"/settings/keys/{ident}/revoke")
    assert gone.status_code == 303
    assert far(key).get(f"/v1/streams/{STREAM}/next").status_code == 401
    for bad in ({"name": "", "role": "label"}, {"name": "x", "role": "king"}):
        assert submit(web, "/settings", "/settings/keys", **bad).status_code == 422
    assert (
        submit(web, "/settings", "/settings/keys", name="x", role="read", days="x").status_code
        == 422
    )


def test_the_webhook_is_set_and_its_secret_shown_once(web: Web, service: Service) -> None:
    service.config = replace(service.config, allow_hosts=("127.0.0.1",))
    made = submit(web, "/settings", "/settings/webhook", url="http://127.0.0.1:9/in")
    assert "The secret of the webhook" in made.text
    text = web.get("/settings").text
    assert "http://127.0.0.1:9/in" in text
    assert "The secret of" not in text
    assert submit(web, "/settings", "/settings/webhook/test").status_code == 303
    assert "sample" in web.get("/settings").text
    assert submit(web, "/settings", "/settings/webhook/delete").status_code == 303
    assert "http://127.0.0.1:9/in" not in web.get("/settings").text


def test_how_long_rows_are_kept_is_set_stream_by_stream(web: Web) -> None:
    fill(web, n=5)

    def kept(days: str) -> object:
        path = f"/settings/streams/{STREAM}/retention"
        assert submit(web, "/settings", path, retention_days=days).status_code == 303
        return web.get(f"/v1/streams/{STREAM}").json()["settings"].get("retention_days")

    assert kept("90.5") == 90.5
    assert 'value="90.5"' in web.get("/settings").text
    assert kept("") is None
    for name, days, status in ((STREAM, "x", 422), (STREAM, "0", 422), ("nil", "1", 404)):
        path = f"/settings/streams/{name}/retention"
        assert submit(web, "/settings", path, retention_days=days).status_code == status


@both
def test_copies_and_version_are_said(web: Web, engine: str) -> None:
    text = web.get("/settings").text
    assert ("vacuum into" if engine == "sqlite" else "pg_dump") in text
    assert "tallystick serve check" in text


@both
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
