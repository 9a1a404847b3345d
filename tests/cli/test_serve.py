"""The verb: it starts with nothing said, is open to nobody else, makes keys, checks itself."""

from __future__ import annotations

import json
import re
import signal
import sqlite3
import subprocess
import sys
from pathlib import Path

import httpx
import pytest

pytest.importorskip("starlette", reason="the extra serve is not installed")
pytest.importorskip("uvicorn", reason="the extra serve is not installed")

from tests.serve.web import running


def tallystick(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "tallystick", *words], capture_output=True, text=True, timeout=120
    )


def test_three_requests_give_a_verdict_and_the_check_agrees(tmp_path: Path) -> None:
    with running(tmp_path) as server:
        url = f"{server.address}/v1/streams/qa"
        assert httpx.put(url, json={}).status_code == 200
        lines = "\n".join(
            json.dumps({"item": n, "votes": {"a": "x", "b": "y" if n % 4 else "x", "c": "x"}})
            for n in range(40)
        )
        assert httpx.post(f"{url}/records", content=lines).json()["new"] == 40
        answer = httpx.get(f"{url}/results/judge", timeout=60)
        assert answer.json()["n_items"] == 40
        assert answer.json()["verdict"]
    assert server.process.returncode in (0, -signal.SIGTERM, 128 + signal.SIGTERM)
    good = tallystick("serve", "check", "--data", str(tmp_path), "--json")
    assert good.returncode == 0, good.stderr
    assert json.loads(good.stdout)["streams"][0] == {
        "stream": "qa",
        "rows": 40,
        "batches": 1,
        "replayed": 1,
        "problems": [],
    }
    with sqlite3.connect(tmp_path / "tallystick.sqlite") as database:
        database.execute("update tally set n = n + 1")
        database.execute("delete from rows where item = '7'")
    bad = tallystick("serve", "check", "--data", str(tmp_path))
    assert bad.returncode == 1
    assert "row ('7', '') is lost" in bad.stdout
    assert "counts of bucket" in bad.stdout


def test_off_loopback_the_first_admin_key_is_made_and_shown_once(tmp_path: Path) -> None:
    words = ("serve", "--data", str(tmp_path), "--host", "0.0.0.0", "--port", "0")
    said = []
    for _ in range(2):
        process = subprocess.Popen(
            [sys.executable, "-m", "tallystick", *words], stderr=subprocess.PIPE, text=True
        )
        lines: list[str] = []
        try:
            while "/start?" not in "".join(lines):
                lines.append(process.stderr.readline() if process.stderr else "")
                assert lines[-1], lines
            port = "".join(lines).partition("0.0.0.0:")[2].split()[0]
            link = f"http://127.0.0.1:{port}{lines[-1].strip()}"
            assert [httpx.get(link, timeout=60).status_code for _ in range(2)] == [303, 403]
        finally:
            process.terminate()
            process.communicate(timeout=30)
        said.append("".join(lines))
    shown = re.search(r"Admin key, shown once: (ts_\S+)", said[0])
    assert shown is not None, said[0]
    assert "serves http://0.0.0.0:" in said[0]
    assert "ts_" not in said[1]
    key = shown[1]
    secret = key.split("_", 2)[2].encode()  # which may hold a dash or an underscore itself
    kept = b"".join(path.read_bytes() for path in tmp_path.iterdir())
    assert secret not in kept  # only its digest is kept


def test_a_port_that_is_taken_is_named(tmp_path: Path) -> None:
    with running(tmp_path) as server:
        port = server.address.rpartition(":")[2]
        taken = tallystick("serve", "--data", str(tmp_path / "b"), "--port", port)
        assert taken.returncode == 1
        assert f"127.0.0.1:{port} cannot be used" in taken.stderr
