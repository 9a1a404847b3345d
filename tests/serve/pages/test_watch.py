"""Watches: what changed since the baseline, for how much money."""

from __future__ import annotations

import json

from tallystick.serve.jobs import Service
from tallystick.serve.store import Transaction
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

    def work(transaction: Transaction) -> None:
        watch = transaction.insert(
            "insert into watch (name, spec, every, next, cap_run, cap_month, spent, reserved,"
            " month, by_operator, state, created)"
            " values ('api', ?, 86400, 99.0, 1.2, 30, 10.8, 0, '2026-11', 0, 'on', 0)"
            " returning id",
            (spec,),
        )
        runs = [
            transaction.insert(
                "insert into run (watch, kind, state, started, ended, reserved, cost, result,"
                " fence) values (?, ?, 'done', 5, 6, 0, 1.2, ?, 0) returning id",
                (watch, kind, body),
            )
            for kind, body in (("baseline", None), ("check", result))
        ]
        transaction.run("update watch set baseline = ? where id = ?", (runs[0], watch))

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
