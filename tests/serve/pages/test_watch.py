"""Watches: what changed since the baseline, for how much money."""

from __future__ import annotations

import json

from tallystick.serve.service import Service
from tests.serve.pages.form import submit
from tests.serve.web import Web


def keep(service: Service) -> None:
    spec = json.dumps(
        {"api": "https://api.example", "items": [{"id": "1"}], "item": "id", "currency": "$"}
    )
    result = json.dumps(
        {
            "verdict": "3.1 % of the answers changed.",
            "flip_rate": {"estimate": 0.031, "interval": [0.019, 0.046]},
            "top_cells": [
                {"true": "<i>", "words": "<i> → b: +3.0 points ± 1.0 points", "survives": True},
                {"true": "a", "words": "a → b: +0.1 points ± 1.0 points", "survives": False},
            ],
        }
    )

    def work(tx: object) -> None:
        tx.run(  # type: ignore[attr-defined]
            "insert into watch (id, name, spec, every, next, cap_run, cap_month, spent, reserved,"
            " month, baseline, by_operator, state, created)"
            " values (1, 'api', ?, 86400, 99.0, 1.2, 30, 10.8, 0, '2026-11', 1, 0, 'on', 0)",
            (spec,),
        )
        for ident, kind, body in ((1, "baseline", None), (2, "check", result)):
            tx.run(  # type: ignore[attr-defined]
                "insert into run (id, watch, kind, state, started, ended, reserved, cost, result,"
                " fence) values (?, 1, ?, 'done', 5, 6, 0, 1.2, ?, 0)",
                (ident, kind, body),
            )

    service.writer.do(work)


def test_a_watch_shows_its_change_by_run_its_money_and_what_moved(
    web: Web, service: Service
) -> None:
    assert "No API is watched yet" in web.get("/watches").text
    keep(service)
    assert "$10.80 of $30.00" in web.get("/watches").text
    text = web.get("/watches/api").text
    assert "3.1 % of the answers changed." in text
    assert "[1.9, 4.6]" in text
    assert "&lt;i&gt; → b: +3.0 points" in text
    assert "a → b: +0.1 points" not in text
    assert "compared with" in text
    assert web.get("/watches/none").status_code == 404


def test_a_new_baseline_goes_through_the_same_door_as_the_api(web: Web, service: Service) -> None:
    keep(service)
    sent = submit(web, "/watches/api", "/watches/api/baseline")
    assert sent.status_code == 303
    assert web.get("/v1/watches/api").json()["runs"][0]["kind"] == "baseline"
