"""What a batch records: units, strata, probabilities, and who reads what twice."""

from __future__ import annotations

from tallystick.verbs.label.work import drawn_event


def test_a_batch_records_the_probability_of_every_draw(start):
    with start("prevalence") as work:
        event = drawn_event(work.session, work.task, work.standing(), work.cells, 7)
    strata = work.task.strata
    assert len(event["draws"]) == len(event["asks"]) == 7
    assert len({unit for unit, _, _ in event["draws"]}) == 7
    for unit, stratum, probability in event["draws"]:
        assert strata.of[unit] == stratum
        assert 0 < probability <= 1


def test_at_least_twenty_asks_are_read_twice(start):
    with start("prevalence", readers=2) as work:
        work.next(15)
        assert all(ask.twice for ask in work.session.asks)
        work.next(300)
        asks = work.session.asks
        assert sum(ask.twice for ask in asks) == max(20, -(-len(asks) // 10))
