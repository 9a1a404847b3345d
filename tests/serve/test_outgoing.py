"""Calls that leave the service go where they were checked to go, and nowhere else."""

from __future__ import annotations

import http.server
import threading
from collections.abc import Iterator
from typing import Any

import pytest

from tallystick.errors import InputError
from tallystick.serve.alerts import post, target_of


def answers(*addresses: str) -> Any:
    """A resolver that gives one answer after the other, as an attacker's DNS does."""
    given = list(addresses)

    def resolve(host: str, port: int, **_: Any) -> list[Any]:
        address = given.pop(0) if len(given) > 1 else given[0]
        return [(2, 1, 6, "", (address, port))]

    return resolve


@pytest.mark.parametrize(
    "address",
    [
        "127.0.0.1",
        "10.1.2.3",
        "192.168.0.9",
        "169.254.169.254",
        "172.16.0.1",
        "0.0.0.0",
        "100.64.0.1",
        "::1",
        "fe80::1%eth0",
        "fd00::1",
        "::ffff:127.0.0.1",
    ],
)
def test_internal_addresses_are_refused_unless_listed(address: str) -> None:
    with pytest.raises(InputError, match="internal address"):
        target_of("https://hooks.example/x", resolve=answers(address))
    listed = target_of(
        "https://hooks.example/x", allow=("Hooks.Example",), resolve=answers(address)
    )
    assert listed.address == address


def test_the_name_is_resolved_once_so_that_dns_cannot_change_its_mind() -> None:
    target = target_of("https://hooks.example/x", resolve=answers("93.184.216.34", "127.0.0.1"))
    assert target.address == "93.184.216.34"


def test_one_internal_address_among_public_ones_is_enough_to_refuse() -> None:
    def resolve(host: str, port: int, **_: Any) -> list[Any]:
        return [(2, 1, 6, "", ("93.184.216.34", port)), (2, 1, 6, "", ("10.0.0.1", port))]

    with pytest.raises(InputError, match=r"10\.0\.0\.1"):
        target_of("https://hooks.example/x", resolve=resolve)


@pytest.mark.parametrize(
    ("url", "why"),
    [
        ("http://hooks.example/", "without encryption"),
        ("ftp://hooks.example/", "not an https address"),
        ("https:///x", "not an https address"),
        ("https://user:pass@hooks.example/", "password"),
        ("https://hooks.example:99999/", "port"),
        ("file:///etc/passwd", "not an https address"),
    ],
)
def test_addresses_that_are_not_plain_https_are_refused(url: str, why: str) -> None:
    with pytest.raises(InputError, match=why):
        target_of(url, resolve=answers("93.184.216.34"))


class _Handler(http.server.BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["content-length"]))
        self.server.seen.append(self.path)  # type: ignore[attr-defined]
        if self.path.startswith("/moved"):
            self.send_response(302)
            self.send_header("Location", "/secret")
        else:
            self.send_response(200)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_: Any) -> None:
        return


@pytest.fixture
def receiver() -> Iterator[Any]:
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
    server.seen = []  # type: ignore[attr-defined]
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield server
    server.shutdown()
    server.server_close()


def test_a_redirect_is_an_answer_and_is_not_followed(receiver: Any) -> None:
    target = target_of(f"http://127.0.0.1:{receiver.server_port}/moved?a=1", allow=("127.0.0.1",))
    assert post(target, b"{}", {}) == 302
    assert receiver.seen == ["/moved?a=1"]
