"""Run an assessment: ask through the journal, then assess."""

from __future__ import annotations

import asyncio
import hashlib
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from tallystick.clients import Caller, Client, Journal, usage_of, usage_warnings
from tallystick.errors import FormatError, InputError
from tallystick.results import Json, Result, to_json
from tallystick.sampling import Plan
from tallystick.verbs.shift.asking import Asking
from tallystick.verbs.shift.assess import assess
from tallystick.verbs.shift.design import Items, StratumSample, sum_bounds
from tallystick.verbs.shift.noise import AnswersAre
from tallystick.verbs.shift.noisy import Moves, change_bounds
from tallystick.verbs.shift.question import Progress, Run
from tallystick.verbs.shift.result import Requests, ShiftGate, ShiftResult
from tallystick.verbs.shift.verdict import (
    forecast_assumptions,
    forecast_verdict,
    noise_notes,
    request_notes,
    spelling_warnings,
    watched_basis,
    with_unread,
)


def run(
    items: Items,
    client: Client,
    rows: Sequence[Mapping[str, Any]],
    how: Run,
    *,
    progress: Callable[[Progress], None] | None = None,
) -> ShiftResult:
    """Ask *client* about *items* as *how* says, and return how it changed.

    The result depends on the data, the settings and the answers alone: not on timing, and not on
    how often the run was killed and resumed from its journal (only ``requests`` and ``cost`` tell).

    Parameters
    ----------
    items
        What is known.
    client
        Whom to ask.
    rows
        What the client is given of each item.
    how
        Budget, strategy, limits, journal.
    progress
        Called after answers.

    Examples
    --------
    >>> from tallystick.clients import ReplayClient
    >>> rows = [{"new": "a" if n < 30 else "b"} for n in range(100)]
    >>> items = Items.of(["a"] * 50 + ["b"] * 50, old=["a"] * 50 + ["b"] * 50)
    >>> result = run(items, ReplayClient("new", columns=["new"]), rows, Run(budget=60))
    >>> result.calls, result.accuracy_change.interval.high < 0
    (60, True)
    """
    return asyncio.run(run_async(items, client, rows, how, progress=progress))


async def run_async(
    items: Items,
    client: Client,
    rows: Sequence[Mapping[str, Any]],
    how: Run,
    *,
    progress: Callable[[Progress], None] | None = None,
) -> ShiftResult:
    """Do the same as :func:`run`, inside a running event loop."""
    if len(rows) != len(items):
        raise InputError(f"rows must hold one row per item, got {len(rows)} for {len(items)}")
    if how.flip_limit is not None and items.old is None:
        raise InputError("a limit on flips needs the old answer to every item (old=…)")
    fresh = not client.recorded
    plan = how.plan(items, fresh=fresh)
    journal = Journal(
        how.journal,
        head=_head(items, client, plan, how),
        durable=how.durable,
        secrets=client.secrets,
        price=how.wire.price,
    )
    lost = journal.in_flight
    if journal.answers and not {one.item for one in journal.answers.values()} & {*items.names}:
        journal.close()
        raise FormatError(
            f"the journal {how.journal} is of other data: it has none of these items; name another"
            " journal"
        )
    try:
        async with client:

            def read(text: str | None) -> int:
                return how.reading.code(text, items.labels)

            caller = Caller(client, rows, how.wire, journal, names=items.names, read=read)
            asking = Asking(items, plan, how, caller, progress)
            asking.most_repeats = how.most_repeats(items, fresh=fresh)
            await asking.main()
            answers = asking.answers()
    finally:
        journal.close()
    kind: AnswersAre = "deterministic" if how.deterministic else "random" if fresh else "recorded"
    result = assess(
        items,
        plan.strata,
        answers,
        strategy=how.how.strategy,
        alpha=how.alpha,
        simultaneous=how.simultaneous,
        seed=how.seed,
        answers_are=kind,
    )
    texts, cut = asking.unread_texts()
    used = len(answers.asked) + len(answers.repeated)
    requests = Requests(
        sent=journal.sent.total(),
        billed=journal.billed,
        answered=sum(entry.code is not None for entry in journal.answers.values()),
        failed=sum(entry.code is None for entry in journal.answers.values()),
        resent=lost,
        from_journal=asking.reused,
        paid_twice=journal.paid_twice,
        unused=max(0, len(journal.answers) - used) + journal.in_flight,
        unread=len(texts) + cut,
    )
    usage = usage_of(journal)
    result = replace(
        result,
        cost=caller.spent,
        currency=how.wire.currency,
        requests=requests,
        usage=usage,
        warnings=(
            *result.warnings,
            *asking.money(),
            *spelling_warnings(Counter(texts), items.labels),
            *usage_warnings(usage),
        ),
        notes=(
            *journal.notes,
            *noise_notes(result.noise, alpha=how.alpha),
            *request_notes(requests, caller.spent, how.wire.currency),
        ),
    )
    result = with_unread(result, texts, answers=len(answers.asked), cut=cut)
    # Of an API that answers at random, the watch proves only that few answers changed.
    if asking.gate is not None and (how.deterministic or asking.gate.passed):
        gate = ShiftGate(
            expression=f"flip_rate <= {asking.gate.limit:g}",
            passed=asking.gate.passed,
            rests_on=watched_basis(asking.gate.asked),
        )
        result = replace(result, gate=gate)
    api, asked_hash, data_hash = identity_of(items, client)
    return replace(result, api=api, asked_hash=asked_hash, data_hash=data_hash)


def identity_of(items: Items, client: Client) -> tuple[str, str, str]:
    """Return what a history keeps of a run, so that different ones are not mixed."""
    described = client.description
    name = described.get("url") or described.get("target") or described.get("column") or ""
    request = described.get("request")
    model = request.get("model", "") if isinstance(request, dict) else ""
    shown = " ".join(str(part) for part in (described.get("kind", ""), model, name) if part)
    data = "\x1f".join((*items.labels, "\x1e", *items.names))
    return shown, _digest(to_json(described)), _digest(data)


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _head(items: Items, client: Client, plan: Plan, how: Run) -> dict[str, Json]:
    described = client.description
    return {
        "client": _digest(to_json(described)),
        "data": items.digest,  # compared with journals of format 1 only
        "api": described,
        "labels": list(items.labels),  # an answer's code is its place among these
        "reading": how.reading.how,
        "seed": how.seed,
        "calls": plan.calls,
    }


# What a run would cost, before a call is paid for.


FLIPS = (0.001, 0.01, 0.05, 0.2)
"""Shares of changed answers for which the width is forecast."""
LATENCY = 1.0
"""Seconds that a call is taken to last."""


@dataclass(frozen=True, kw_only=True)
class Forecast(Result):
    """Calls, money, time, and how wide the answer will be.

    Parameters
    ----------
    calls, cost, seconds
        At most; seconds at `LATENCY` per call, or at the rate limit if that is slower.
    strata
        How many strata there will be.
    half_widths
        About how wide the 95 % interval of the accuracy change will be (±), by the share of answers
        that changed.
    """

    verb: ClassVar[str] = "shift"

    calls: int
    cost: float
    seconds: float
    strata: int
    half_widths: dict[str, float]

    def rows(self) -> list[dict[str, Any]]:
        """Return one row per share of changed answers."""
        return [
            {"if answers change by": share, "accuracy is known to ±": w}
            for share, w in self.half_widths.items()
        ]


def forecast(items: Items, how: Run) -> Forecast:
    """Forecast a run; nothing is asked.

    Parameters
    ----------
    items
        What is known.
    how
        The run as planned; a budget that is too small is refused here, too.

    Examples
    --------
    >>> items = Items.of(["a"] * 500 + ["b"] * 500, old=["a"] * 500 + ["b"] * 500)
    >>> forecast(items, Run(budget=200)).calls
    200
    """
    plan = how.plan(items)
    calls = min(how.affordable(), plan.calls + how.most_repeats(items))
    slots = min(how.wire.concurrency, plan.in_flight)
    seconds = calls * max(LATENCY / slots, 0.0 if how.wire.rate is None else 1 / how.wire.rate)
    widths = {f"{100 * f:g} %": _half_width(items, plan, how, f) for f in FLIPS}
    cost = calls * how.wire.price
    return Forecast(
        verdict=forecast_verdict(calls=calls, cost=cost, seconds=seconds, latency=LATENCY),
        n_items=len(items),
        assumptions=forecast_assumptions(LATENCY),
        seed=how.seed,
        calls=calls,
        cost=cost,
        seconds=float(seconds),
        strata=len(plan.strata),
        half_widths=widths,
    )


def _half_width(items: Items, plan: Plan, how: Run, flips: float) -> float:
    """Return the half width of the interval itself, at the counts that are expected.

    The plain formula 1.96 √(f/N) forgets what one more flip, not yet seen, would add; with few
    flips that is most of the width (2.4 % forecast, 3.6 % seen). Half of the flips gain and half
    lose, each where that is possible; noise is counted in full unless the API is deterministic.
    """
    share = 0.0 if how.deterministic else 1.0
    strata = plan.strata
    asked = np.minimum(np.maximum(plan.calls * strata.shares, 1.0), strata.sizes)
    sample = StratumSample(strata.shares, asked, asked / strata.sizes)
    if items.old is None:
        spread = sum_bounds(flips * asked, sample, alpha=how.alpha)
        return float((spread.high - spread.low) / 2)
    wrong = np.bincount(strata.of, weights=items.old != items.truth) / strata.sizes
    mass = float((strata.shares * wrong).sum())

    def rate(part: NDArray[np.float64], of: float, other: float) -> NDArray[np.float64]:
        # All flips go one way if the other is impossible.
        total = flips if other == 0 else flips / 2
        return part * min(1.0, total / of) * asked if of > 0 else np.zeros_like(asked)

    moves = Moves(
        gain=rate(wrong, mass, 1 - mass),
        loss=rate(1 - wrong, 1 - mass, mass),
        can_gain=wrong > 0,
        can_lose=wrong < 1,
    )
    found = change_bounds(moves, sample, share=share, items=len(items), alpha=how.alpha)
    return float((found.high - found.low) / 2)
