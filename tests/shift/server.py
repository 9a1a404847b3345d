"""A small API on loopback that answers late, and badly now and then. Run as a process; prints its
port.

    python server.py DELAY FAULTS SECONDS PAUSE KINDS

POST / answers {"label": …} with the field "new" of the request; POST /v1/chat/completions like a
chat model; POST /echo with the Authorization header it got; POST /denied with 401. GET /stats says
what was asked and answered. It ends by itself after SECONDS. A bare protocol, so that it takes
little of the machine on which the client is timed. A share FAULTS of the items fails at the first
try, in one of the KINDS (with commas between); 429 asks to wait PAUSE seconds."""

import asyncio
import contextlib
import json
import random
import sys
import time
from collections import Counter

DELAY, FAULTS, SECONDS, PAUSE = (
    (float(word) for word in sys.argv[1:5]) if __name__ == "__main__" else (0.0, 0.0, 0.0, 0.0)
)
KINDS = sys.argv[5].split(",") if __name__ == "__main__" else []
times: list[float] = []
requests: Counter[str] = Counter()
paid: Counter[str] = Counter()
faults: Counter[str] = Counter()
busy = {"now": 0, "most": 0}


def reply(status: str, body: str, *more: str) -> bytes:
    lines = (
        f"HTTP/1.1 {status}",
        "Content-Type: application/json",
        f"Content-Length: {len(body.encode())}",
        *more,
    )
    return ("\r\n".join(lines) + "\r\n\r\n" + body).encode()


class Connection(asyncio.Protocol):
    """One request after the other."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self.transport, self.buffer = transport, b""

    def data_received(self, data: bytes) -> None:
        self.buffer += data
        head, found, rest = self.buffer.partition(b"\r\n\r\n")
        if not found:
            return
        lines = head.decode().split("\r\n")
        headers = {
            name.lower(): value.strip()
            for name, _, value in (line.partition(":") for line in lines[1:])
        }
        length = int(headers.get("content-length", 0))
        if len(rest) >= length:
            self.buffer = rest[length:]
            self.respond(lines[0].split()[1], headers, rest[:length])

    def respond(self, path: str, headers: dict[str, str], body: bytes) -> None:
        if path == "/":
            item = json.loads(body)["id"]
            requests[item] += 1
            times.append(time.monotonic())
            busy["now"] += 1
            busy["most"] = max(busy.values())
            asyncio.get_running_loop().call_later(DELAY, self.answer, item, json.loads(body)["new"])
        else:
            self.transport.write(special(path, headers, body))

    def answer(self, item: str, label: str) -> None:
        busy["now"] -= 1
        # Whether and how an item fails is its own: the same in every run, and only at the first
        # try.
        chance = random.Random(item)
        if requests[item] == 1 and chance.random() < FAULTS:
            kind = chance.choice(KINDS)
            faults[kind] += 1
            if kind == "500":
                self.transport.write(reply("500 Internal Server Error", "{}"))
            elif kind == "429":
                self.transport.write(
                    reply("429 Too Many Requests", "{}", f"Retry-After: {PAUSE:g}")
                )
            elif kind == "garbage":
                self.transport.write(reply("200 OK", '{"label": '))
            elif kind == "error200":
                self.transport.write(reply("200 OK", '{"error": {"message": "overloaded"}}'))
            elif kind == "reset":
                self.transport.abort()
            return  # the last kind hangs
        paid[item] += 1
        self.transport.write(reply("200 OK", json.dumps({"label": label})))


def special(path: str, headers: dict[str, str], body: bytes) -> bytes:
    if path == "/stats":
        stats = {"requests": requests, "paid": paid, "faults": faults, "times": times}
        return reply("200 OK", json.dumps({**stats, "most": busy["most"]}))
    if path == "/denied":
        requests["denied"] += 1
        return reply("401 Unauthorized", '{"error": "bad key"}')
    if path == "/echo":
        return reply("200 OK", json.dumps({"label": headers.get("authorization", "none")}))
    words = json.loads(body)["messages"][0]["content"].split()
    return reply(
        "200 OK", json.dumps({"choices": [{"message": {"content": f"I would say: {words[-1]}."}}]})
    )


async def main() -> None:
    server = await asyncio.get_running_loop().create_server(Connection, "127.0.0.1", 0, backlog=512)
    sys.stdout.write(f"{server.sockets[0].getsockname()[1]}\n")
    sys.stdout.flush()
    with contextlib.suppress(TimeoutError):
        await asyncio.wait_for(server.serve_forever(), SECONDS)


if __name__ == "__main__":
    asyncio.run(main())
