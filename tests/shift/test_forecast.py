import numpy as np
import pytest

from tallystick.clients import ReplayClient
from tallystick.errors import BudgetError
from tallystick.verbs.shift import AskDesign, Items, Run, Wire, forecast, run


def test_calls_money_and_time_are_foretold(items):
    told = forecast(items, Run(budget=200, repeats=20, wire=Wire(concurrency=10, price=0.01)))
    assert told.calls == 200
    assert told.cost == pytest.approx(2.0)
    assert told.seconds == pytest.approx(200 / 10)
    widths = list(told.half_widths.values())
    assert widths == sorted(widths)


def test_the_rate_limit_and_the_money_count(items):
    slow = forecast(items, Run(budget=200, wire=Wire(concurrency=10, rate=1.0)))
    assert slow.seconds == pytest.approx(200)
    assert forecast(items, Run(budget=200, wire=Wire(price=1.0, max_cost=50))).calls == 50


def test_a_budget_that_is_too_small_is_refused_before_anything_is_paid(items):
    with pytest.raises(BudgetError):
        forecast(items, Run(budget=5, how=AskDesign(strategy="masa")))


def test_the_width_that_is_forecast_is_the_width_that_is_seen():
    """With few flips it was two thirds of it before."""
    rng = np.random.default_rng(4)
    truth = rng.integers(0, 3, 2000)
    old = np.where(rng.random(2000) < 0.8, truth, (truth + 1) % 3)
    flip = rng.random(2000) < 0.01
    new = np.where(flip, (old + 1) % 3, old)
    names = np.array(["a", "b", "c"])
    items = Items.of(names[truth].tolist(), old=names[old].tolist())
    rows = [{"new": names[code]} for code in new]
    how = Run(budget=200, deterministic=True)
    told = forecast(items, how).half_widths["1 %"]
    client = ReplayClient("new", columns=["new"])
    seen = [
        run(
            items, client, rows, Run(budget=200, deterministic=True, seed=seed)
        ).accuracy_change.interval.width
        / 2
        for seed in range(8)
    ]
    assert told == pytest.approx(np.mean(seen), rel=0.25)
    assert forecast(items, Run(budget=200)).half_widths["1 %"] > told
