"""Schemathesis on ``openapi.json``: whatever it sends, no error of ours comes back."""

from __future__ import annotations

import importlib.util
import re
import subprocess
import sys
from pathlib import Path

import httpx

from tests.serve.web import running

INSTALLED = importlib.util.find_spec("schemathesis") is not None


def fuzzed(folder: Path, cases: int, *, seed: int = 1) -> tuple[int, str]:
    """Send about *cases* cases per operation; return how many there were, and what failed."""
    with running(folder) as server:
        # Short names are what a fuzzer tries first: some of its requests find a stream.
        for name in ("0", "00", "A", "a"):
            httpx.put(f"{server.address}/v1/streams/{name}", json={}).raise_for_status()
            votes = [{"item": n, "votes": {"a": n % 2, "b": n % 3 == 0}} for n in range(20)]
            httpx.post(f"{server.address}/v1/streams/{name}/records", json=votes)
        order = {"role": "admin", "name": "fuzz"}
        key = httpx.post(f"{server.address}/v1/keys", json=order).json()["key"]
        words = ["run", f"{server.address}/openapi.json", "-n", str(cases), "--seed", str(seed)]
        words += ["-c", "not_a_server_error", "--phases", "fuzzing", "--request-timeout", "60"]
        words += ["-H", f"Authorization: Bearer {key}", "--generation-database", "none"]
        code = "import sys; from schemathesis.cli import schemathesis; sys.exit(schemathesis())"
        ran = subprocess.run(
            [sys.executable, "-c", code, *words],
            capture_output=True,
            text=True,
            cwd=folder,
            timeout=1800,
        )
        alive = httpx.get(f"{server.address}/readyz").status_code == 200
    found = re.search(r"(\d+) generated", ran.stdout)
    failed = ran.stdout[-4000:] + ran.stderr[-1000:] if ran.returncode or not alive else ""
    return int(found[1]) if found else 0, failed
