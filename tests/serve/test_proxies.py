"""Behind nginx and Caddy, as docs/operate.md sets them up: posts, questions, pages and forms."""

from __future__ import annotations

import json
import os
import re
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest
from click.testing import CliRunner

from tallystick.cli.app import app
from tests.serve.web import running

PAGE = Path(__file__).parent.parent.parent / "docs" / "operate.md"


def block(kind: str) -> str:
    """Return what the page says of a proxy."""
    found = re.search(rf"```{kind}\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    assert found is not None
    return found[1]


def free_port() -> int:
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        return int(held.getsockname()[1])


@contextmanager
def proxy(kind: str, folder: Path, upstream: str) -> Iterator[str]:
    """Run a proxy with the page's block on a port of its own, without TLS."""
    program = shutil.which(kind)
    if program is None:
        pytest.skip(f"{kind} is not installed")
    port = free_port()
    text = block(kind).replace("127.0.0.1:8765", upstream.removeprefix("http://"))
    if kind == "nginx":
        text = re.sub(r"listen 443 ssl;|ssl_\S+ [^\n]*", "", text)
        text = text.replace("server {", f"server {{ listen 127.0.0.1:{port};", 1)
        paths = "".join(
            f"{one}_temp_path {folder}/{one};"
            for one in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
        )
        user = "user root; " if os.geteuid() == 0 else ""  # its worker must write to our folder
        own = f"{user}daemon off; pid {folder}/pid; error_log {folder}/log; events {{}}"
        (folder / "conf").write_text(f"{own} http {{ access_log off; {paths} {text} }}")
        words = [program, "-p", str(folder), "-c", str(folder / "conf")]
    else:
        text = text.replace("tally.example.com", f"http://127.0.0.1:{port}")
        (folder / "conf").write_text("{\n\tadmin off\n}\n" + text)
        words = [program, "run", "--config", str(folder / "conf"), "--adapter", "caddyfile"]
    env = {"HOME": str(folder), "XDG_DATA_HOME": str(folder), "XDG_CONFIG_HOME": str(folder)}
    process = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=env)
    try:
        address = f"http://127.0.0.1:{port}"
        for _ in range(200):
            try:
                if httpx.get(f"{address}/healthz").status_code == 200:
                    break
            except httpx.TransportError:
                pass
            time.sleep(0.05)
        yield address
    finally:
        process.terminate()
        process.wait(timeout=20)


@pytest.mark.parametrize("kind", ["nginx", "caddy"])
def test_what_the_page_says_of_a_proxy_works(kind: str, tmp_path: Path) -> None:
    folder = tmp_path / "data"
    made = CliRunner().invoke(
        app, ["serve", "key", "--role", "admin", "--name", "ops", "--folder", str(folder)]
    )
    key = made.output.strip().splitlines()[-1]
    (tmp_path / kind).mkdir()
    with running(folder) as server, proxy(kind, tmp_path / kind, server.address) as address:
        sent = {"Authorization": f"Bearer {key}"}
        url = f"{address}/v1/streams/qa"
        assert httpx.put(url, json={}).status_code == 401  # a proxy is seen: no door without a key
        assert httpx.put(url, json={}, headers=sent).status_code == 200
        # More than the 1 MB that nginx takes unless it is told otherwise.
        lines = [
            json.dumps({"item": str(k), "votes": {"a": "x", "b": "xy"[k % 2]}, "show": "t" * 300})
            for k in range(5_000)
        ]
        answer = httpx.post(f"{url}/records", content="\n".join(lines), headers=sent, timeout=60)
        assert answer.json()["new"] == 5_000
        found = httpx.get(f"{url}/results/judge", headers=sent, timeout=60).json()
        assert found["n_items"] == 5_000

        with httpx.Client(base_url=address, headers={"Origin": address}, timeout=60) as browser:
            assert browser.post("/login", data={"key": key}).status_code == 303
            assert "qa" in browser.get("/").text
            settings = browser.get("/settings").text
            token = re.search(r'name="csrf" value="([^"]+)"', settings)
            assert token is not None
            form = {"csrf": token[1], "name": "ann", "role": "label"}
            assert "is shown once" in browser.post("/settings/keys", data=form).text
            browser.headers["Origin"] = "https://elsewhere.example"
            assert browser.post("/settings/keys", data=form).status_code == 403
