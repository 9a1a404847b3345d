"""A small API on loopback that answers late, and badly now and then. Run as a process; prints its port.

    python server.py DELAY FAULTS SECONDS

POST / answers {"label": …} with the field "new" of the request; POST /v1/chat/completions like a chat model; POST /echo
with the Authorization header it got; POST /denied with 401. GET /stats says what was asked and answered. It ends by
itself after SECONDS.
"""

import asyncio
import contextlib
import json
import random
import sys
from collections import Counter

DELAY, FAULTS, SECONDS = (float(word) for word in sys.argv[1:4]) if __name__ == "__main__" else (0.0, 0.0, 0.0)
KINDS = ("500", "429", "reset", "hang", "garbage")
requests: Counter[str] = Counter()
paid: Counter[str] = Counter()
faults: Counter[str] = Counter()
busy = {"now": 0, "most": 0}


def reply(status: str, body: str, *more: str) -> bytes:
    lines = (f"HTTP/1.1 {status}", "Content-Type: application/json", f"Content-Length: {len(body.encode())}", *more)
    return ("\r\n".join(lines) + "\r\n\r\n" + body).encode()


async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    try:
        while head := await reader.readuntil(b"\r\n\r\n"):
            lines = head.decode().split("\r\n")
            headers = {k.lower(): v.strip() for k, _, v in (line.partition(":") for line in lines[1:])}
            body = await reader.readexactly(int(headers.get("content-length", 0)))
            answer = await respond(lines[0].split()[1], headers, body)
            if answer is None:
                writer.transport.abort()
                return
            writer.write(answer)
            await writer.drain()
    except (asyncio.IncompleteReadError, ConnectionError):
        pass
    finally:
        writer.close()


async def respond(path: str, headers: dict[str, str], body: bytes) -> bytes | None:
    if path == "/stats":
        return reply("200 OK", json.dumps({"requests": requests, "paid": paid, "faults": faults, "most": busy["most"]}))
    asked = json.loads(body)
    if path == "/denied":
        requests["denied"] += 1
        return reply("401 Unauthorized", '{"error": "bad key"}')
    if path == "/echo":
        return reply("200 OK", json.dumps({"label": headers.get("authorization", "none")}))
    if path.endswith("/chat/completions"):
        words = asked["messages"][0]["content"].split()
        text = f"I would say: {words[-1]}."
        return reply("200 OK", json.dumps({"choices": [{"message": {"content": text}}]}))
    item = asked["id"]
    requests[item] += 1
    busy["now"] += 1
    busy["most"] = max(busy.values())
    try:
        await asyncio.sleep(DELAY)
        # Whether and how an item fails is its own: the same in every run, and only at the first try.
        chance = random.Random(item)
        if requests[item] == 1 and chance.random() < FAULTS:
            kind = chance.choice(KINDS)
            faults[kind] += 1
            if kind == "500":
                return reply("500 Internal Server Error", "{}")
            if kind == "429":
                return reply("429 Too Many Requests", "{}", "Retry-After: 1")
            if kind == "hang":
                await asyncio.sleep(60)
            return None if kind != "garbage" else reply("200 OK", '{"label": ')
    finally:
        busy["now"] -= 1
    paid[item] += 1
    return reply("200 OK", json.dumps({"label": asked["new"]}))


async def main() -> None:
    server = await asyncio.start_server(handle, "127.0.0.1", 0, backlog=512)
    sys.stdout.write(f"{server.sockets[0].getsockname()[1]}\n")
    sys.stdout.flush()
    with contextlib.suppress(TimeoutError):
        await asyncio.wait_for(server.serve_forever(), SECONDS)


if __name__ == "__main__":
    asyncio.run(main())
