import asyncio
import gzip
import json
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest

from tallystick.clients import ClientQuestion, Fault, client_of


class Talk(asyncio.Protocol):
    """Say *answer* to every request, or hang up if there is none."""

    def __init__(self, answer, heard):
        self.answer, self.heard, self.buffer = answer, heard, b""

    def connection_made(self, transport):
        self.transport = transport

    def data_received(self, data):
        self.buffer += data
        head, _, body = self.buffer.partition(b"\r\n\r\n")
        if len(body) == int(head.lower().split(b"content-length: ")[1].split()[0]):
            self.heard.append(self.buffer)
            self.buffer = b""
            self.transport.write(self.answer) if self.answer else self.transport.abort()


def post(answer: bytes, *, headers=None, times=1, body=None):
    """Send a body to a server that says *answer*; return the reply and what the server was sent."""
    heard: list[bytes] = []

    async def main():
        server = await asyncio.get_running_loop().create_server(
            lambda: Talk(answer, heard), "127.0.0.1", 0
        )
        url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1"
        client = client_of(ClientQuestion(api=url, header=headers or {}, request={}, timeout=5))
        try:
            replies = [await client.post(body or {"text": "hé"}) for _ in range(times)]
        finally:
            await client.close()
            server.close()
            await asyncio.sleep(0.01)  # lets the server see that the connection is gone
        return replies[-1]

    return asyncio.run(main()), heard


def says(status: str, body: bytes = b"{}", *more: str) -> bytes:
    lines = (f"HTTP/1.1 {status}", f"Content-Length: {len(body)}", *more)
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + body


def fault(answer: bytes) -> Fault:
    with pytest.raises(Fault) as caught:
        post(answer)
    return caught.value


def test_the_body_and_the_headers_arrive_and_the_connection_is_kept(monkeypatch):
    monkeypatch.setenv("K", "k")
    reply, heard = post(
        says("200 OK", b'{"label": "yes"}'), headers={"Authorization": "Bearer $K"}, times=3
    )
    assert reply == {"label": "yes"}
    assert len(heard) == 3
    head, _, body = heard[-1].partition(b"\r\n\r\n")
    assert head.startswith(b"POST /v1 HTTP/1.1\r\n")
    assert b"authorization: bearer k" in head.lower()
    assert b"content-type: application/json" in head.lower()
    assert json.loads(body) == {"text": "hé"}


def test_half_of_a_surrogate_pair_does_not_break_the_run():
    _, heard = post(says("200 OK"), body={"text": "a\ud83d"})
    assert heard[0].endswith(b'{"text":"a\\ud83d"}')


def test_a_compressed_answer_is_read():
    packed = gzip.compress(b'{"label": "yes"}')
    assert post(says("200 OK", packed, "Content-Encoding: gzip"))[0] == {"label": "yes"}


def test_the_server_says_how_long_to_wait():
    assert fault(says("429 Too Many Requests", b"{}", "Retry-After: 7")).wait == 7
    later = format_datetime(datetime.now(UTC) + timedelta(seconds=60), usegmt=True)
    assert 50 < fault(says("503 Service Unavailable", b"{}", f"Retry-After: {later}")).wait <= 60
    assert fault(says("429 Too Many Requests")).wait is None
    assert fault(says("429 Too Many Requests", b"{}", "Retry-After: soon")).wait is None


@pytest.mark.parametrize(
    ("answer", "retry", "billed", "fatal"),
    [
        (says("401 Unauthorized"), False, False, True),
        (says("403 Forbidden"), False, False, True),
        (says("302 Found", b"", "Location: http://127.0.0.1:9/"), False, False, True),
        (says("404 Not Found"), False, False, True),
        (says("400 Bad Request"), False, False, False),
        (says("500 Internal Server Error"), True, False, False),
        (says("529 Overloaded"), True, False, False),
        (says("200 OK", b'{"label": '), True, True, False),
        (says("200 OK", b"no gzip", "Content-Encoding: gzip"), True, True, False),
        (b"", True, True, False),  # broken off after the request was sent: it may have been billed
    ],
)
def test_each_failure_says_whether_to_try_again_and_whether_it_may_be_billed(
    answer, retry, billed, fatal
):
    found = fault(answer)
    assert str(found).startswith("127.0.0.1:")
    assert (found.retry, found.billed, found.fatal) == (retry, billed, fatal)
