"""Home: an empty service shows three lines; a full one what needs a look."""

from __future__ import annotations

import random
import shlex

from tallystick.serve.jobs import Service
from tests.serve.queue.people import STREAM, fill
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
    assert "One alarm needs a look." in text
    assert text.index('id="streams"') < text.index("bot: the votes changed")
    assert "llama moved" not in text  # what it proves stands on its own page
    assert 'href="/alarms#alarm-1"' in text
    assert f'href="/streams/{STREAM}"' in text
    assert ">60<" in text


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
    text = web.get("/").text
    assert "Nothing was tested yet." in text
    assert "Waiting for a first full window: 1 of 1" in text
    assert "We cannot tell which judge is best:" in text
    assert "25.0" in text  # 15 of 60: on five rows people disagree
