"""Jobs: one holder at a time, and a holder that slept too long can write nothing."""

from __future__ import annotations

import pytest

from tallystick.serve.jobs import Held, Job, JobLoop, LostLease, Service
from tests.serve.web import Clock


def test_a_periodic_job_comes_again(service: Service, clock: Clock) -> None:
    seen: list[float] = []
    loop = JobLoop(service, [Job("tick", lambda s, _: seen.append(s.clock()), every=60.0)])
    loop.plan()
    for _ in range(5):
        clock.now += 61
        assert loop.run_due() == 1
        assert loop.run_due() == 0
    assert len(seen) == 5


def test_a_job_that_fails_is_kept_and_tried_later(service: Service, clock: Clock) -> None:
    def fail(_: Service, held: Held) -> None:
        raise ValueError("no")

    loop = JobLoop(service, [Job("bad", fail, every=10.0)])
    loop.plan()
    clock.now += 11
    assert loop.run_due() == 1
    [(error, tries, due)] = service.read(
        lambda reader: reader.all("select last_error, tries, due from job where kind = 'bad'")
    )
    assert (error, tries) == ("ValueError: no", 1)
    assert due > clock.now
    assert loop.run_due() == 0


def test_whoever_sleeps_past_the_lease_can_write_nothing(service: Service, clock: Clock) -> None:
    job = Job("slow", lambda *_: None, every=10.0, lease=60.0)
    sleeper, other = JobLoop(service, [job]), JobLoop(service, [job])
    sleeper.plan()
    clock.now += 11
    first = sleeper.take(job)
    assert first is not None
    assert other.take(job) is None  # it is held
    first.renew()
    clock.now += 61
    second = other.take(job)
    assert second is not None
    assert second.fence == first.fence + 1
    with pytest.raises(LostLease):
        service.writer.do(first.check)
    with pytest.raises(LostLease):
        first.renew()
    service.writer.do(second.check)
