import pytest

from tallystick.errors import BudgetError
from tallystick.shift import AskDesign, Run, Wire, forecast


def test_calls_money_and_time_are_foretold(items):
    told = forecast(
        items, Run(budget=200, repeats=20, wire=Wire(concurrency=10, price=0.01)), latency=2.0
    )
    assert told.calls == 200
    assert told.cost == pytest.approx(2.0)
    assert told.seconds == pytest.approx(200 * 2 / 10)
    widths = list(told.half_widths.values())
    assert widths == sorted(widths)


def test_the_rate_limit_and_the_money_count(items):
    slow = forecast(items, Run(budget=200, wire=Wire(concurrency=10, rate=1.0)))
    assert slow.seconds == pytest.approx(200)
    assert forecast(items, Run(budget=200, wire=Wire(price=1.0, max_cost=50))).calls == 50


def test_a_budget_that_is_too_small_is_refused_before_anything_is_paid(items):
    with pytest.raises(BudgetError):
        forecast(items, Run(budget=5, how=AskDesign(strategy="masa")))
