"""Real failures: the database restarts under load, the disk is full."""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from tallystick.serve.client import check_stream
from tallystick.serve.database import open_store
from tests.serve.postgres import postgres_process
from tests.serve.web import running


def test_postgres_that_restarts_under_load_loses_nothing_that_was_acknowledged(
    tmp_path: Path,
) -> None:
    with (
        postgres_process("fsync=on") as server,
        running(tmp_path, "--db", server.address) as service,
    ):
        url = f"{service.address}/v1/streams/qa"
        httpx.put(url, json={}).raise_for_status()
        stop = threading.Event()
        kept: list[str] = []
        answers: set[int] = set()

        def send(name: str) -> None:
            with httpx.Client(timeout=60) as client:
                n = 0
                while not stop.is_set():
                    key = f"{name}-{n}"
                    body = [{"item": f"{key}-{k}", "votes": {"a": "x"}} for k in range(5)]
                    answer = client.post(
                        f"{url}/records", json=body, headers={"Idempotency-Key": key}
                    )
                    answers.add(answer.status_code)
                    if answer.status_code == 200:  # what was refused is sent again, the same bytes
                        kept.append(key)
                        n += 1
                    answers.add(client.get(url).status_code)

        senders = [threading.Thread(target=send, args=(name,)) for name in "abc"]
        for sender in senders:
            sender.start()
        before = len(kept)
        server.restart()
        _until(lambda: len(kept) > before + 5)  # it goes on by itself
        stop.set()
        for sender in senders:
            sender.join()
        assert answers <= {200, 503}
        store = open_store(server.address)
        try:
            with store.read() as reader:
                found = [key for (key,) in reader.all("select key from batch")]
            assert len(found) == len(set(found))
            assert set(kept) <= set(found)
            assert check_stream(store, "qa").problems == ()
        finally:
            store.close()


def _until(done: object, seconds: float = 60.0) -> None:
    begun = time.monotonic()
    while not done():  # type: ignore[operator]
        assert time.monotonic() - begun < seconds, "it does not go on"
        time.sleep(0.05)


@contextlib.contextmanager
def small_disk(folder: Path, megabytes: int) -> Iterator[Path]:
    """A file system of its own, too small for what is to come."""
    place = folder / "disk"
    place.mkdir()
    words = ["mount", "-t", "tmpfs", "-o", f"size={megabytes}m", "tmpfs", str(place)]
    if os.geteuid() or shutil.which("mount") is None or subprocess.run(words).returncode:
        pytest.skip("a tmpfs cannot be mounted here")
    try:
        yield place
    finally:
        subprocess.run(["umount", str(place)], check=True)


def test_a_full_disk_refuses_whole_batches_and_goes_on_when_there_is_room(tmp_path: Path) -> None:
    with small_disk(tmp_path, 3) as folder:
        filler = folder / "filler"
        filler.write_bytes(b"\0" * 2_000_000)
        with running(folder) as service:
            url = f"{service.address}/v1/streams/qa"
            httpx.put(url, json={}).raise_for_status()
            taken, refused = 0, None
            for n in range(60):
                body = [{"item": f"{n}-{k}-{'x' * 150}", "votes": {"a": "x"}} for k in range(100)]
                answer = httpx.post(
                    f"{url}/records", json=body, headers={"Idempotency-Key": f"b{n}"}
                )
                if answer.status_code != 200:
                    refused = (body, f"b{n}", answer)
                    break
                taken += 1
            assert taken, "the disk was full from the start"
            assert refused is not None, "the disk never was full"
            body, key, answer = refused
            assert answer.status_code == 503, answer.text
            assert answer.headers["retry-after"]
            assert answer.headers["content-type"] == "application/problem+json"
            assert httpx.get(url).json()["rows"] == 100 * taken
            assert httpx.get(f"{service.address}/healthz").status_code == 200
            assert httpx.get(f"{service.address}/readyz").status_code == 503
            filler.unlink()
            assert httpx.get(f"{service.address}/readyz").status_code == 200
            again = httpx.post(f"{url}/records", json=body, headers={"Idempotency-Key": key})
            assert again.status_code == 200, again.text
            assert (again.json()["new"], again.json()["again"]) == (100, False)
        store = open_store(folder / "tallystick.sqlite")
        try:
            assert check_stream(store, "qa").problems == ()
        finally:
            store.close()
