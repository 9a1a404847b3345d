"""What HTTP may ask of a watch, and what only the operator may."""

from __future__ import annotations

from typing import Any

import pytest

from tallystick.serve.auth import HttpProblem
from tallystick.serve.watches import WatchOrder, check_order, client_options, table_of

ITEMS: list[dict[str, Any]] = [{"id": "1", "text": "a"}, {"id": "2", "text": "b"}]


def order(**more: Any) -> WatchOrder:
    given = {
        "api": "openai:m@http://127.0.0.1:1/v1",
        "items": ITEMS,
        "item": "id",
        "labels": ["a", "b"],
        "prompt": "Which? {text}",
    }
    return WatchOrder(**{**given, **more})


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"api": "python:os:system"}, "operator's file"),
        ({"api": "command:rm -rf x"}, "operator's file"),
        ({"api": "replay:text"}, "operator's file"),
        ({"api": "gopher://x"}, "must look like"),
        ({"prompt": "/etc/passwd"}, "cannot be kept"),
        ({"prompt": "@/etc/passwd"}, "cannot be kept"),
        ({"system_prompt": "secret.txt"}, "cannot be kept"),
        ({"items": []}, "cannot be kept"),
        ({"items": [*ITEMS, {"id": "1"}]}, "cannot be kept"),
        ({"item": "key"}, "cannot be kept"),
        ({"budget": 0}, "cannot be kept"),
        ({"cap_month": float("nan")}, "cannot be kept"),
        ({"header": {"Authorization": "Bearer sk-1234567890abcdefghij"}}, r"\$"),
        ({"api": "https://api.example/v1?api_key=sk-1234567890abcdefghijkl"}, r"\$"),
    ],
)
def test_what_http_may_not_ask_is_refused(change: dict[str, Any], says: str) -> None:
    with pytest.raises(HttpProblem, match=says) as refused:
        check_order(order(**change), allow=("127.0.0.1",))
    assert refused.value.status == 422


def test_a_private_address_is_refused_unless_listed() -> None:
    with pytest.raises(HttpProblem, match="list the host"):
        check_order(order(), allow=())
    check_order(order(), allow=("127.0.0.1",))


def test_the_operator_may_run_code() -> None:
    check_order(order(api="python:mine:answer", prompt=None), allow=(), by_operator=True)


def test_items_become_columns_and_the_rest_options_of_shift() -> None:
    assert table_of(order()) == {"id": ["1", "2"], "text": ["a", "b"]}
    options = client_options(order(price=0.1))
    assert options["api"] == "openai:m@http://127.0.0.1:1/v1"
    assert options["price"] == 0.1
    assert not {"items", "budget", "cap_run"} & set(options)
