"""A day of `tallystick serve` in less than a minute: ``make demo-serve``.

Three judges vote on 24 hours of answers of two systems. At noon one judge begins to guess, at four
in the afternoon another falls silent. Then a person labels what the queue asks for, and the service
says what it saw. Everything runs on this machine and in a temporary folder.
"""

from __future__ import annotations

import contextlib
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator

import httpx
import numpy as np

from tallystick import serve

PER_HOUR, WINDOW, LABELS = 250, 250, 60
DRIFT, SILENCE = 12, 16
ACCURACY = {"gpt": 0.92, "claude": 0.88, "llama": 0.85}


@contextlib.contextmanager
def service(folder: str) -> Iterator[str]:
    """Start the service on a free port and stop it again."""
    command = [sys.executable, "-m", "tallystick", "serve", "--port", "0", "--data", folder]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    try:
        assert process.stderr is not None
        for line in process.stderr:
            found = re.search(r"http://\S+:\d+", line)
            if found:
                yield found[0]
                return
        raise SystemExit("the service did not start")
    finally:
        process.terminate()
        process.communicate(timeout=60)


def main() -> None:
    rng = np.random.default_rng(11)
    begun = time.monotonic()
    truth: dict[tuple[str, str], str] = {}
    with tempfile.TemporaryDirectory() as folder, service(folder) as url:
        web = httpx.Client(base_url=f"{url}/v1", timeout=60)
        web.put("/streams/day", json={"window": WINDOW, "settle": 0, "labels": ["good", "bad"]})
        print(f"{url}: posting a day of {24 * PER_HOUR:,} answers, {len(ACCURACY)} judges")
        with serve.Client(f"{url}/v1/streams/day") as client:
            for hour in range(24):
                for n in range(PER_HOUR):
                    post(client, rng, truth, hour, n)
        print(f"  sent after {time.monotonic() - begun:.0f} s")

        alarms = wait_for_alarms(web)
        for alarm in reversed(alarms):
            print(f"! {alarm['what']}\n    {alarm['proves']}")

        web.post("/streams/day/frames", json={"budget": LABELS, "overlap": 0.0})
        labelled = 0
        while (turn := web.get("/streams/day/next")).status_code == 200:
            asked = turn.json()
            item, _, system = asked["item"].partition("@")
            answer = {"ask": asked["ask"], "value": truth[(item, system)], "seconds": 3.0}
            if web.post("/streams/day/labels", json=answer).status_code != 200:
                break
            labelled += 1
            if labelled >= LABELS:
                break
        print(f"a person labelled {labelled} answers that the queue chose, without seeing a vote")

        found = web.get("/streams/day/results/judge").json()
        print(found["verdict"])
        print(f"the same on the command line: {found['command']}")
    print(f"done in {time.monotonic() - begun:.0f} s")


def post(
    client: serve.Client,
    rng: np.random.Generator,
    truth: dict[tuple[str, str], str],
    hour: int,
    n: int,
) -> None:
    """Send the votes on one answer, with what a labeller would see of it."""
    system = ("old", "new")[n % 2]
    item = f"h{hour:02d}-{n:03d}@{system}"
    right = "good" if rng.random() < 0.75 else "bad"
    truth[(item.partition("@")[0], system)] = right
    votes = {}
    for judge, accuracy in ACCURACY.items():
        if judge == "llama" and hour >= SILENCE:
            continue
        chance = 0.5 if judge == "claude" and hour >= DRIFT else accuracy
        agrees = rng.random() < chance
        votes[judge] = right if agrees else ("bad" if right == "good" else "good")
    show = {"answer": f"Answer {n} of hour {hour}."}
    client.post({"item": item, "votes": votes, "slice": {"bot": system}, "show": show})


def wait_for_alarms(web: httpx.Client, *, patience: float = 40.0) -> list[dict[str, str]]:
    """Wait until the drift test has seen every window, and return its alarms."""
    until = time.monotonic() + patience
    while time.monotonic() < until:
        windows = web.get("/streams/day/windows").json()["windows"]
        closed = [one for one in windows if one["closed"] is not None]
        if len(closed) * WINDOW >= 24 * PER_HOUR:
            break
        time.sleep(0.5)
    alarms: list[dict[str, str]] = web.get("/alerts").json()["alerts"]
    return alarms


if __name__ == "__main__":
    main()
