"""No watch spends more than its caps, whatever happens in between."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from tallystick.serve.jobs import Service
from tallystick.serve.watch_runs import keep_watch
from tallystick.serve.watches import purse_of, reserve, settle
from tests.serve.watches.test_order import order

NOW = 1_800_000_000.0


def made(service: Service) -> int:
    kept = order(cap_run=2.0, cap_month=5.0)
    service.writer.do(lambda tx: keep_watch(tx, "w", kept, now=NOW))
    [(ident,)] = service.read(lambda reader: reader.all("select id from watch"))
    return int(ident)


def test_what_is_set_aside_cannot_be_spent_twice(service: Service) -> None:
    watch = made(service)
    amounts = [service.writer.do(lambda tx: reserve(tx, watch, now=NOW)) for _ in range(4)]
    assert amounts == [2.0, 2.0, 1.0, 0.0]
    service.writer.do(lambda tx: settle(tx, watch, reserved=2.0, cost=0.5, now=NOW))
    assert service.writer.do(lambda tx: purse_of(tx, watch, now=NOW)).free == 1.5


def test_a_new_month_begins_with_nothing_spent(service: Service) -> None:
    watch = made(service)
    service.writer.do(lambda tx: settle(tx, watch, reserved=0.0, cost=5.0, now=NOW))
    assert service.writer.do(lambda tx: purse_of(tx, watch, now=NOW)).free == 0.0
    later = NOW + 40 * 86_400
    assert service.writer.do(lambda tx: purse_of(tx, watch, now=later)).free == 2.0


@settings(max_examples=25, deadline=None)
@given(shares=st.lists(st.floats(0, 1), min_size=1, max_size=12))
def test_spent_and_reserved_never_exceed_the_cap(shares: list[float]) -> None:
    spent = reserved = 0.0
    from tallystick.serve.watches import Purse

    for share in shares:
        amount = Purse(2.0, 5.0, spent, reserved).free
        reserved += amount
        assert spent + reserved <= 5.0 + 1e-9
        spent, reserved = spent + share * amount, reserved - amount
