"""A body that cannot be read is answered with what to write instead."""

from __future__ import annotations

from typing import Any

import pytest

from tallystick.serve.routes import misread
from tests.serve.web import Web


@pytest.mark.parametrize(
    ("record", "column", "words"),
    [
        ({"item": "a", "truth": "x"}, None, ["'truth'", "did you mean 'label'", "slice, show"]),
        ({"item": "a", "vots": {}}, None, ["did you mean 'votes'"]),
        ({"item": "a", "label": "yes"}, "label", ["an object or null", '{"value": "pass"']),
        ({"item": "a", "label": {"by": "x"}}, "label", ["'value'", '{"value": "pass"']),
        ({"item": "a", "label": {"value": "x", "why": 1}}, "label", ["'label' has no field 'why'"]),
        ({"votes": {}}, None, ["lacks the field 'item'"]),
        ({"item": 1.5}, "item", ["a whole number or text", '"ticket-17"']),
        ({"item": "a", "votes": {"gpt": 0.5}}, "votes[...]", ["send numbers as grades"]),
        ({"item": "a", "grades": {"x": "y"}}, "grades[...]", ["a number or null, and is text"]),
        ({"item": "a", "at": [1]}, "at", ["2026-07-31T12:00:00Z"]),
    ],
)
def test_a_record_that_cannot_be_read_is_answered_with_the_form(
    web: Web, record: dict[str, Any], column: str | None, words: list[str]
) -> None:
    web.put("/v1/streams/qa", json={})
    for body in ([{"item": "fine"}, record], None):
        given: Any = {"json": body} if body else {"content": b'{"item":"b"}\n' + _json(record)}
        answer = web.post("/v1/streams/qa/records", **given)
        assert answer.status_code == 422
        [error] = answer.json()["errors"]
        assert error.get("column") == column
        assert error["line"] == 2
        for word in words:
            assert word in error["way_out"], error
        assert "`" not in answer.text


def _json(record: dict[str, Any]) -> bytes:
    import json

    return json.dumps(record).encode()


def test_settings_that_cannot_be_read_name_the_fields(web: Web) -> None:
    answer = web.put("/v1/streams/qa", json={"windw": 5})
    assert answer.status_code == 422
    way = answer.json()["errors"][0]["way_out"]
    assert "did you mean 'window'" in way
    assert "retention_days" in way


def test_what_is_not_known_is_said_as_it_came() -> None:
    assert misread("Integer value out of range", []) == (None, "Integer value out of range")
