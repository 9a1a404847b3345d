"""The money of a watch: reserved before a run begins, settled when it ends, capped by month."""

from __future__ import annotations

import time
from dataclasses import dataclass

from tallystick.serve.store import Transaction

__all__ = ["Purse", "month_of", "purse_of", "reserve", "settle"]


def month_of(now: float) -> str:
    """Return the month of a time, as money counts it.

    >>> month_of(1_800_000_000.0)
    '2027-01'
    """
    return time.strftime("%Y-%m", time.gmtime(now))


@dataclass(frozen=True)
class Purse:
    """What a watch may spend, and has spent, this month."""

    cap_run: float
    cap_month: float
    spent: float
    reserved: float

    @property
    def free(self) -> float:
        """What the next run may cost."""
        return max(0.0, min(self.cap_run, self.cap_month - self.spent - self.reserved))


def purse_of(transaction: Transaction, watch: int, *, now: float) -> Purse:
    """Return the purse; a new month begins with nothing spent."""
    row = transaction.one(
        "select cap_run, cap_month, spent, reserved, month from watch where id = ?", (watch,)
    )
    if row is None:
        return Purse(0.0, 0.0, 0.0, 0.0)
    month = month_of(now)
    if row[4] != month:
        transaction.run("update watch set spent = 0, month = ? where id = ?", (month, watch))
    return Purse(row[0], row[1], 0.0 if row[4] != month else row[2], row[3])


def reserve(transaction: Transaction, watch: int, *, now: float) -> float:
    """Set aside what a run may cost, so that *spent + reserved ≤ cap* at every moment."""
    amount = purse_of(transaction, watch, now=now).free
    transaction.run("update watch set reserved = reserved + ? where id = ?", (amount, watch))
    return amount


def settle(
    transaction: Transaction, watch: int, *, reserved: float, cost: float, now: float
) -> None:
    """StreamBook what a run cost instead of what was set aside for it."""
    purse_of(transaction, watch, now=now)
    transaction.run(
        "update watch set spent = spent + ?,"
        " reserved = case when reserved > ? then reserved - ? else 0 end where id = ?",
        (cost, reserved, reserved, watch),
    )
