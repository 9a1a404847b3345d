"""An answer that nobody reads is given up: it would hold a state of the database for ever."""

from __future__ import annotations

import asyncio
import json
import socket
import time
from pathlib import Path

from tallystick.serve.app import make_app, make_service
from tallystick.serve.auth import connection_of
from tallystick.serve.database import open_store
from tallystick.serve.jobs import Config
from tests.serve.web import Clock, Loop, Web


def test_a_reader_that_stalls_is_cut_off_and_one_that_reads_is_not(tmp_path: Path) -> None:
    import uvicorn

    config = Config(job_pause=0.0, folder=tmp_path, request_seconds=0.5)
    service = make_service(open_store(tmp_path / "x.sqlite"), config=config, clock=Clock())
    app = make_app(service)
    with Loop() as loop:
        web = Web(app, loop)
        web.put("/v1/streams/s", json={})
        for start in range(0, 30_000, 10_000):
            lines = [
                json.dumps({"item": f"{start + k}-{'x' * 200}", "votes": {"a": "x"}})
                for k in range(10_000)
            ]
            assert web.post("/v1/streams/s/records", content="\n".join(lines)).status_code == 200
    listening = socket.socket()
    listening.bind(("127.0.0.1", 0))
    listening.listen()
    server = uvicorn.Server(
        uvicorn.Config(app, http=connection_of(service), log_level="error", access_log=False)
    )

    async def ask(pause: float) -> int:
        reader, writer = await asyncio.open_connection(*listening.getsockname(), limit=1024)
        writer.write(b"GET /v1/streams/s/rows HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
        size = 0
        try:
            await asyncio.sleep(pause)
            while piece := await reader.read(1 << 20):
                size += len(piece)
                if piece.endswith(b"0\r\n\r\n"):
                    break
        except ConnectionError:
            return -1
        finally:
            writer.close()
        return size

    async def both() -> tuple[int, int]:
        running = asyncio.create_task(server.serve([listening]))
        while not server.started:
            await asyncio.sleep(0.01)
        quick, stalled = await ask(0.0), await ask(3.0)
        server.should_exit = True
        await running
        return quick, stalled

    begun = time.monotonic()
    quick, stalled = asyncio.run(both())
    listening.close()
    assert quick > 6_000_000
    assert stalled < quick
    assert time.monotonic() - begun < 60
