import asyncio
import ssl
from pathlib import Path

import httpx
import pytest

from tallystick.clients.http import Connection

PLAIN = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"


class Server(asyncio.Protocol):
    """Give the next of *answers* to each request; an empty one says nothing."""

    def __init__(self, answers, opened):
        self.answers, self.opened, self.buffer = answers, opened, b""

    def connection_made(self, transport):
        self.transport = transport
        self.opened.append(self)

    def data_received(self, data):
        self.buffer += data
        if self.buffer.endswith(b"{}"):
            self.buffer = b""
            self.transport.write(self.answers.pop(0))


def talk(*answers, between=None, timeout=5.0):
    """Ask as often as there are answers; return the texts and how many connections that took."""
    opened: list[Server] = []
    pending = list(answers)

    async def main():
        loop = asyncio.get_running_loop()
        server = await loop.create_server(lambda: Server(pending, opened), "127.0.0.1", 0)
        url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/"
        wire = Connection(httpx.URL(url), httpx.Headers(), verify=None, timeout=timeout)
        texts = []
        try:
            for _ in answers:
                texts.append((await wire.post(b"{}")).text)
                if between is not None:
                    between(opened[-1].transport)
                    await asyncio.sleep(0.05)
        finally:
            await wire.close()
            server.close()
            await asyncio.sleep(0.01)
        return texts

    return asyncio.run(main()), len(opened)


def test_one_connection_serves_request_after_request():
    assert talk(PLAIN, PLAIN, PLAIN) == (["ok"] * 3, 1)


def test_a_reply_in_pieces_is_put_together():
    pieces = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\no\r\n1\r\nk\r\n0\r\n\r\n"
    assert talk(pieces, PLAIN) == (["ok", "ok"], 1)


def test_an_interim_reply_is_not_the_answer():
    assert talk(b"HTTP/1.1 103 Early Hints\r\n\r\n" + PLAIN, PLAIN) == (["ok", "ok"], 1)


def test_a_server_that_keeps_no_connection_gets_a_new_one():
    closing = PLAIN.replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n")
    assert talk(closing, closing) == (["ok", "ok"], 2)


def test_a_connection_that_was_closed_in_between_is_opened_again():
    assert talk(PLAIN, PLAIN, between=lambda transport: transport.close()) == (["ok", "ok"], 2)


def test_silence_is_a_timeout_and_nonsense_a_broken_protocol():
    with pytest.raises(httpx.ReadTimeout):
        talk(b"", timeout=0.05)
    with pytest.raises(httpx.RemoteProtocolError):
        talk(b"what?\r\n\r\n")


def test_a_server_that_hangs_up_is_said_to(monkeypatch):
    monkeypatch.setattr(Server, "data_received", lambda self, data: self.transport.abort())
    with pytest.raises(
        (httpx.RemoteProtocolError, httpx.ReadError), match=r"without an answer|reset"
    ):
        talk(PLAIN)


def test_a_closed_port_is_a_connect_error():
    async def main():
        await Connection(
            httpx.URL("http://127.0.0.1:9/"), httpx.Headers(), verify=None, timeout=5
        ).post(b"{}")

    with pytest.raises(httpx.ConnectError):
        asyncio.run(main())


def over_tls(trusted):
    """Ask a server whose certificate for localhost is signed by itself; *trusted* is the context of
    the client."""
    # openssl req -x509 -newkey ec …, for these tests alone
    pem = Path(__file__).with_name("localhost.pem")
    own = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    own.load_cert_chain(pem)
    context = ssl.create_default_context(cafile=pem) if trusted else httpx.create_ssl_context()

    async def main():
        loop = asyncio.get_running_loop()
        loop.set_exception_handler(lambda *_: None)  # the server's side of a refused handshake
        server = await loop.create_server(
            lambda: Server([PLAIN, PLAIN], []), "127.0.0.1", 0, ssl=own
        )
        url = f"https://localhost:{server.sockets[0].getsockname()[1]}/"
        wire = Connection(httpx.URL(url), httpx.Headers(), verify=context, timeout=5.0)
        try:
            return [(await wire.post(b"{}")).text for _ in range(2)]
        finally:
            await wire.close()
            server.close()
            await asyncio.sleep(0.05)

    return asyncio.run(main())


def test_certificates_are_checked():
    assert over_tls(trusted=True) == ["ok", "ok"]
    with pytest.raises(httpx.ConnectError, match="self-signed"):
        over_tls(trusted=False)
