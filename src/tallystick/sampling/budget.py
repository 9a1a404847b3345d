"""What may be spent: calls, money, or both."""

from __future__ import annotations

from dataclasses import dataclass

from tallystick.errors import BudgetError, InputError

__all__ = ["Budget"]


@dataclass(frozen=True)
class Budget:
    """A limit on questions, on money, or on both; whichever is reached first ends the run.

    Parameters
    ----------
    calls
        How many questions may be asked; None leaves it to *money*.
    money
        How much they may cost in all, in the unit of the prices; None leaves it to *calls*.

    Examples
    --------
    >>> Budget(calls=500).calls
    500
    >>> Budget()
    Traceback (most recent call last):
    tallystick.errors.InputError: a budget needs calls, money or both
    """

    calls: int | None = None
    money: float | None = None

    def __post_init__(self) -> None:
        if self.calls is None and self.money is None:
            raise InputError("a budget needs calls, money or both")
        if self.calls is not None and self.calls < 1:
            raise InputError(f"calls must be at least 1, got {self.calls!r}")
        if self.money is not None and not 0 < self.money < float("inf"):
            raise InputError(f"money must be positive and finite, got {self.money!r}")

    def planned(self, *, available: int | None, price: float | None) -> int:
        """Return how many questions to plan for, given how many items there are and what one costs
        on average.

        Examples
        --------
        >>> Budget(calls=500, money=1.0).planned(available=10_000, price=0.004)
        250
        """
        limits = [limit for limit in (self.calls, available) if limit is not None]
        if self.money is not None:
            if price is None:
                raise InputError("a budget in money needs the price of every item: give prices")
            if price > self.money:
                raise BudgetError(
                    f"money = {self.money:g} does not pay for one question at {price:g} on average"
                )
            limits.append(int(self.money / price))
        return min(limits)
