"""Kills and stops at chosen moments, in processes that are forked from one that is ready.

``python -m tests.serve.faults WHAT ADDRESS ROUNDS SEED`` prints what was found as JSON. The service
has no hook for this: the child wraps its own functions before it begins. A fork starts in
milliseconds, so that hundreds of rounds cost less than twenty starts of a server. Requests go
through the whole application, but not through a socket.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import random
import select
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx

from tallystick.serve import database
from tallystick.serve import ingest_write as write_module
from tallystick.serve import writer as writer_module
from tallystick.serve.app import make_app, make_service
from tallystick.serve.client import check_stream
from tallystick.serve.database import open_store
from tallystick.serve.ingest import Interned
from tallystick.serve.jobs import Config, Service
from tests.serve.random_streams import NOW, RandomStream, random_stream

ROOT = Path(__file__).resolve().parents[2]

STEPS = (
    *("begin", "find", "numbers", "learn", "add", "change_rows"),
    *("add_counts", "write_labels", "run", "commit", "answer"),
)
POINTS = tuple(f"{side} {step}" for step in STEPS for side in ("before", "after"))
"""Where a batch may be cut off: before and after each write, the commit and the answer."""


def found(what: str, address: str, rounds: int, *, seed: int = 1) -> dict[str, Any]:
    """Run it in a process of its own and return what it prints."""
    words = [sys.executable, "-m", "tests.serve.faults", what, address, str(rounds), str(seed)]
    ran = subprocess.run(words, cwd=ROOT, check=False, capture_output=True, text=True, timeout=1200)
    if ran.returncode:
        raise RuntimeError(ran.stderr[-3000:])
    answer: dict[str, Any] = json.loads(ran.stdout)
    return answer


def forked(work: Callable[[int], None]) -> tuple[int, int]:
    """Run *work* in a child; return its process id and the pipe that it writes to."""
    inward, outward = os.pipe()
    pid = os.fork()
    if pid:
        os.close(outward)
        return pid, inward
    os.close(inward)
    status = 1
    try:
        work(outward)
        status = 0
    except BaseException as error:  # noqa: BLE001  # a child must never return into the parent
        sys.stderr.write(f"{type(error).__name__}: {error}\n")
        sys.stderr.flush()
    finally:
        os._exit(status)


def lines(pipe: int, *, until: float) -> Iterator[str]:
    """Yield what comes through a pipe, line by line, until it ends or the time is over."""
    rest = b""
    while (left := until - time.monotonic()) > 0:
        if not select.select([pipe], [], [], left)[0]:
            return
        piece = os.read(pipe, 65536)
        if not piece:
            return
        *whole, rest = (rest + piece).split(b"\n")
        yield from (line.decode() for line in whole)


# -- where to end


def die() -> None:
    """End this process as a power cut would, as far as a process can."""
    os.kill(os.getpid(), signal.SIGKILL)


def arm(point: str, hit: int) -> None:
    """End this process when it comes to *point* for the time number *hit*."""
    side, _, step = point.partition(" ")
    left = [hit]

    def here(now: str) -> None:
        if now == side:
            left[0] -= 1
            if not left[0]:
                die()

    def wrap(owner: Any, name: str) -> None:
        real = getattr(owner, name)

        def wrapped(*given: Any, **named: Any) -> Any:
            here("before")
            answer = real(*given, **named)
            here("after")
            return answer

        setattr(owner, name, wrapped)

    if step in ("begin", "commit"):
        for store in (database.SqliteStore, database.PostgresStore):
            _wrap_write(store, step, here)
    elif step == "answer":
        wrap(writer_module, "_resolve")
    elif step == "learn":
        wrap(Interned, "learn")
    elif step == "write_labels":
        wrap(write_module.Merge, "write_labels")
    else:
        for transaction in (database.Transaction, database.PostgresTransaction):
            if step in vars(transaction):  # what it inherits is wrapped once
                wrap(transaction, step)


def _wrap_write(store: Any, step: str, here: Callable[[str], None]) -> None:
    real = store.write

    @contextlib.contextmanager
    def write(self: Any) -> Iterator[Any]:
        if step == "begin":
            here("before")
        with real(self) as transaction:
            if step == "begin":
                here("after")
            yield transaction
            if step == "commit":
                here("before")
        if step == "commit":
            here("after")

    store.write = write


# -- batches under kills


def batch(rng: random.Random) -> list[dict[str, Any]]:
    """Return records whose order cannot matter: the value is a function of the item."""
    records: list[dict[str, Any]] = []
    for _ in range(rng.choice([1, 5, 20])):
        number, judge = rng.randrange(400), rng.choice(["a", "b", "c"])
        vote = "pass" if (number * 7 + ord(judge)) % 3 else "fail"
        record: dict[str, Any] = {"item": f"i{number}", "votes": {judge: vote}}
        if rng.random() < 0.2:
            record["label"] = {"value": "pass" if number % 2 else "fail", "by": rng.choice("xy")}
        records.append(record)
    return records


def opened(address: str, folder: Path | None = None) -> Service:
    config = Config(job_pause=0.0, folder=folder, allow_hosts=("127.0.0.1",))
    return make_service(open_store(address), config=config)


def posting(address: str, sent: list[tuple[str, list[Any]]], point: tuple[str, int] | None) -> Any:
    """Return what a child does: post from four tasks; say what was sent and what was answered."""

    def work(pipe: int) -> None:
        service = opened(address)
        app = make_app(service)
        if point is not None:
            arm(*point)

        def say(what: str, key: str) -> None:
            os.write(pipe, f"{what} {key}\n".encode())

        async def send(client: httpx.AsyncClient, mine: list[tuple[str, list[Any]]]) -> None:
            for key, body in mine:
                say("sent", key)
                answer = await client.post(
                    "/v1/streams/qa/records", json=body, headers={"Idempotency-Key": key}
                )
                answer.raise_for_status()
                say("again" if answer.json()["again"] else "kept", key)

        async def run() -> None:
            transport = httpx.ASGITransport(app=app, client=("127.0.0.1", 50000))
            async with httpx.AsyncClient(
                transport=transport, base_url="http://127.0.0.1:8765"
            ) as client:
                await client.put("/v1/streams/qa", json={})
                await asyncio.gather(*(send(client, sent[k::4]) for k in range(4)))

        asyncio.run(run())
        service.close()

    return work


def kills(address: str, rounds: int, seed: int, *, named: bool) -> dict[str, Any]:
    """Kill again and again, at named points or at random moments; return the books at the end."""
    rng = random.Random(seed)
    order = rng.sample(POINTS, len(POINTS))
    acknowledged: set[str] = set()
    waiting: list[tuple[str, list[Any]]] = []
    again = ended = 0
    reached: list[str] = []
    for number in range(rounds):
        point = (order[number % len(order)], rng.randint(1, 3)) if named else None
        # What was in flight comes again first, the same bytes under the same key.
        fresh = [(f"{seed}-{number}-{k}", batch(rng)) for k in range(40)]
        sent = [*waiting, *fresh]
        pid, pipe = forked(posting(address, sent, point))
        begun: set[str] = set()
        answered: set[str] = set()
        moment = time.monotonic() + 60.0
        killer = None
        for line in lines(pipe, until=moment):
            what, _, key = line.partition(" ")
            (begun if what == "sent" else answered).add(key)
            again += what == "again"
            if not named and killer is None:
                killer = threading.Timer(rng.uniform(0.005, 0.25), os.kill, (pid, signal.SIGKILL))
                killer.start()
        if killer is not None:
            killer.cancel()
            killer.join()
        os.close(pipe)
        status = os.waitpid(pid, 0)[1]
        if os.WIFSIGNALED(status):
            ended += 1
            reached += [point[0]] if point is not None else []
        elif os.WEXITSTATUS(status):
            raise RuntimeError(f"the child failed at {point}")
        acknowledged |= answered
        waiting = [one for one in sent if one[0] in begun - answered]
    return {
        "rounds": rounds,
        "killed": ended,
        "points": len(set(reached)),
        "acknowledged": len(acknowledged),
        "again": again,
        **books(address, acknowledged),
    }


def books(address: str, acknowledged: set[str]) -> dict[str, Any]:
    """Return what was lost, doubled or miscounted of the batches that were acknowledged."""
    store = open_store(address)
    try:
        with store.read() as reader:
            kept = [key for (key,) in reader.all("select key from batch")]
            integrity = "its own"
            if not address.startswith("postgresql://"):
                [(integrity,)] = reader.all("pragma integrity_check")
        return {
            "lost": len(acknowledged - set(kept)),
            "twice": len(kept) - len(set(kept)),
            "integrity": integrity,
            "problems": list(check_stream(store, "qa").problems),
            "batches": len(kept),
        }
    finally:
        store.close()


# -- random streams under kills


def streams(address: str, count: int, first: int) -> dict[str, Any]:
    """Post the random streams of *count* seeds, each process being killed after a few batches.

    What was not acknowledged is sent again, the same bytes under the same key.
    """
    killed = 0
    for seed in range(first, first + count):
        rng = random.Random(seed)
        made = random_stream(seed, odd=bool(seed % 2))
        left = list(enumerate(made.batches))
        while left:
            point = (rng.choice(POINTS), rng.randint(1, 9)) if killed < 3 * count else None
            pid, pipe = forked(_in_order(address, f"s{seed}", made, left, point))
            kept = [int(line) for line in lines(pipe, until=time.monotonic() + 60.0)]
            os.close(pipe)
            status = os.waitpid(pid, 0)[1]
            if os.WIFEXITED(status) and os.WEXITSTATUS(status):
                raise RuntimeError(f"the child failed on stream {seed}")
            killed += os.WIFSIGNALED(status)
            left = [one for one in left if one[0] not in kept]
    return {"streams": count, "killed": killed}


def _in_order(
    address: str,
    name: str,
    made: RandomStream,
    batches: list[tuple[int, list[dict[str, Any]]]],
    point: tuple[str, int] | None,
) -> Any:
    """Return what a child does: post one batch after the other and say what was acknowledged."""

    def work(pipe: int) -> None:
        service = make_service(
            open_store(address), config=Config(job_pause=0.0), clock=lambda: float(NOW)
        )
        transport = httpx.ASGITransport(app=make_app(service), client=("127.0.0.1", 50000))

        async def run() -> None:
            async with httpx.AsyncClient(
                transport=transport, base_url="http://127.0.0.1:8765"
            ) as client:
                (await client.put(f"/v1/streams/{name}", json=made.settings)).raise_for_status()
                if point is not None:
                    arm(*point)
                for number, batch in batches:
                    answer = await client.post(
                        f"/v1/streams/{name}/records",
                        json=batch,
                        headers={"Idempotency-Key": f"b{number}"},
                    )
                    answer.raise_for_status()
                    os.write(pipe, f"{number}\n".encode())

        asyncio.run(run())
        service.close()

    return work


# -- a lease holder that is stopped


def stopped_holder(address: str, rounds: int, seed: int) -> dict[str, Any]:
    """Stop a process past its lease, let another do its job, and let the first go on."""
    from tallystick.serve.jobs import Held, Job

    late = done = 0
    for number in range(rounds):
        name = f"hold-{seed}-{number}"

        def one(service: Service, held: Held, pipe: int, mine: str) -> None:
            os.write(pipe, b"holds\n")
            if mine == "first":  # until it is stopped, and a little after it goes on
                time.sleep(0.3)

            def work(transaction: Any) -> None:
                held.check(transaction)
                transaction.run(
                    "insert into fact (name, value) values (?, ?)", (f"{held.job.kind}-{mine}", "")
                )

            service.writer.do(work)
            os.write(pipe, b"wrote\n")

        def holder(mine: str, name: str = name, one: Any = one) -> Callable[[int], None]:
            def work(pipe: int) -> None:
                job = Job(
                    name,
                    lambda service, held: one(service, held, pipe, mine),
                    every=600.0 if mine == "second" else 0.01,
                    lease=0.5,
                )
                service = Service(open_store(address), config=Config(job_pause=0.0), jobs=(job,))
                service.jobs.plan()
                deadline = time.monotonic() + 30
                while not service.jobs.run_due() and time.monotonic() < deadline:
                    time.sleep(0.05)
                service.close()

            return work

        first, first_pipe = forked(holder("first"))
        next(lines(first_pipe, until=time.monotonic() + 30))
        os.kill(first, signal.SIGSTOP)
        time.sleep(0.6)
        second, second_pipe = forked(holder("second"))
        done += "wrote" in list(lines(second_pipe, until=time.monotonic() + 30))
        os.waitpid(second, 0)
        os.kill(first, signal.SIGCONT)
        late += "wrote" in list(lines(first_pipe, until=time.monotonic() + 30))
        os.waitpid(first, 0)
        os.close(first_pipe)
        os.close(second_pipe)
    store = open_store(address)
    with store.read() as reader:
        facts = [fact for (fact,) in reader.all("select name from fact")]
    store.close()
    return {
        "rounds": rounds,
        "done by the second": done,
        "written by the first": late + sum(fact.endswith("first") for fact in facts),
    }


def main() -> None:
    what, address, rounds, seed = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
    if what in ("named", "random"):
        answer = kills(address, rounds, seed, named=what == "named")
    elif what == "streams":
        answer = streams(address, rounds, seed)
    else:
        answer = stopped_holder(address, rounds, seed)
    sys.stdout.write(json.dumps(answer))


if __name__ == "__main__":
    main()
