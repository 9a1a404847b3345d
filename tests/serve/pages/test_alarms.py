"""Alarms: what each proves, what it does not, and whether it was delivered."""

from __future__ import annotations

from tallystick.serve.alerts import listed_alerts
from tallystick.serve.jobs import Service
from tests.serve.pages.form import submit
from tests.serve.queue.people import fill
from tests.serve.web import Web


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
