from __future__ import annotations

import pytest

from tallystick.errors import BudgetError, InputError
from tallystick.sampling import Budget


def test_the_tightest_limit_counts() -> None:
    assert Budget(calls=100).planned(available=None, price=None) == 100
    assert Budget(calls=100).planned(available=40, price=2.0) == 40
    assert Budget(calls=100, money=30.0).planned(available=400, price=2.0) == 15
    assert Budget(money=30.0).planned(available=10, price=2.0) == 10


@pytest.mark.parametrize(
    "bad", [{"calls": 0}, {"money": 0.0}, {"money": float("inf")}, {"money": float("nan")}, {}]
)
def test_no_budget_is_no_budget(bad: dict[str, float]) -> None:
    with pytest.raises(InputError):
        Budget(**bad)


def test_money_needs_prices_and_must_pay_for_one_question() -> None:
    with pytest.raises(InputError, match="give prices"):
        Budget(money=1.0).planned(available=10, price=None)
    with pytest.raises(BudgetError, match="does not pay for one question"):
        Budget(money=1.0).planned(available=10, price=2.0)
