"""Whether the advice earns its name: forecasts of paths and panels against the known truth.

``python benchmarks/truth/dynamic_advice.py [--write] [SECTION ...]``; sections are paths, plans and
panels.
The real data (ANLI) is looked for in TALLYSTICK_DATA and left out, with a note, where it is absent.
Campaigns: benchmarks/truth/dynamic_campaigns.py.
"""

from __future__ import annotations

import csv
import gzip
import os
import sys
import time
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent))
sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from dynamic_campaigns import POPULATION, SOURCES, Campaign, campaign, learners
from record import record

from tallystick.dynamic.panel import forecast_panel, majority_risk
from tallystick.dynamic.path_forecast import forecast_path
from tallystick.dynamic.step_change import step_change

HERE = Path(__file__).resolve().parent
DATA = Path(os.environ.get("TALLYSTICK_DATA", HERE.parents[2] / "shared" / "data")) / "dynamic"
ANLI = DATA / "anli_dev_rounds_8models.csv.gz"
ROUNDS, EACH, MIXED, SEED = 11, 10, 15, 20_260_101
SIZES, PAYS, DECIDED_AT = (400, 1000), (0.0, 0.01, 0.02), (3, 5, 7, 9)
Row = dict[str, Any]


@cache
def campaigns() -> tuple[Campaign, ...]:
    """Return 240 campaigns of one learner each and 60 of mixed teams, the same on every machine."""
    kinds = [(s, name, EACH) for s in SOURCES for name in learners()]
    kinds += [(s, "mixed", MIXED) for s in SOURCES]
    streams = iter(np.random.default_rng(SEED).spawn(sum(each for _, _, each in kinds)))
    return tuple(
        campaign(source, name, rounds=ROUNDS, rng=next(streams))
        for source, name, each in kinds
        for _ in range(each)
    )


def risk_after(each: Campaign, rounds: int) -> float:
    """Return the majority risk in the population after so many rounds."""
    return majority_risk(each.errors[:rounds].sum(axis=0), rounds)


def held_out(each: Campaign, size: int, number: int) -> np.ndarray:
    """Return the errors on a random held-out set of the population."""
    rng = np.random.default_rng([SEED, size, number])
    return each.errors[:, rng.choice(POPULATION, size, replace=False)]


def paths() -> None:
    rows: list[Row] = []
    for teams, one_learner in (("one learner", True), ("mixed", False), ("mixed", True)):
        chosen = [
            (k, each)
            for k, each in enumerate(campaigns())
            if (each.learner == "mixed") == (teams == "mixed")
        ]
        for size in SIZES:
            seen = list(_decisions(chosen, size, one_learner))
            held = np.array(
                [found.interval.low <= gain <= found.interval.high for found, gain in seen]
            )
            worst = min(held[k :: len(DECIDED_AT)].mean() for k in range(len(DECIDED_AT)))
            for pays in PAYS:
                rows.append(
                    {
                        "campaigns": f"{len(chosen)}, {teams}",
                        "range": "one learner" if one_learner else "wider",
                        "n": size,
                        "pays": pays,
                        "coverage": round(float(held.mean()), 3),
                        "worst t": round(float(worst), 3),
                        **_score(seen, pays),
                    }
                )
    record(
        "dynamic-advice",
        "Dynamic benchmarks: is the advice right?",
        rows,
        notes=(
            "Decisions after 3, 5, 7 and 9 rounds of simulated campaigns (four data sources, six "
            "learners, 50 to 100 % of errors found, 0 or 5 % of them mislabelled), from a held-out "
            "set of n items. Right: two more rounds gain more than *pays* in the population for "
            "*go on*, no more for *stop*.",
            "Coverage: share of the 90 % ranges that hold the gain in the population; worst t: the "
            "lowest of the four numbers of rounds.",
            "*always* and *never* are the shares of decisions in which going on, or stopping, was "
            "right.",
            "The decisions of one campaign are not independent. Sources and learners were not used "
            "to choose the forecast.",
        ),
    )


def _decisions(
    chosen: Sequence[tuple[int, Campaign]], size: int, one_learner: bool
) -> Iterator[tuple[Any, float]]:
    for number, each in chosen:
        errors = held_out(each, size, number)
        for rounds in DECIDED_AT:
            gain = risk_after(each, rounds) - risk_after(each, rounds + 2)
            yield forecast_path(errors[:rounds], one_learner=one_learner), gain


def _score(seen: Sequence[tuple[Any, float]], pays: float) -> Row:
    """Count what the rule of forecast_path says at this price, and whether it was right."""
    counts = {"go on": [0, 0], "stop": [0, 0]}
    for found, gain in seen:
        helped = gain > pays
        if found.interval.high < pays:
            counts["stop"][int(not helped)] += 1
        elif pays == 0 and found.interval.low > 0:
            counts["go on"][int(helped)] += 1
    total = len(seen)
    decided = sum(map(sum, counts.values()))
    wrong = counts["go on"][0] + counts["stop"][0]
    always = sum(gain > pays for _, gain in seen) / total
    return {
        "right": round((decided - wrong) / total, 3),
        "cannot tell": round(1 - decided / total, 3),
        "wrong": round(wrong / total, 3),
        "wrong among decided": f"{wrong} of {decided}"
        + (f" ({wrong / decided:.3f})" if decided else ""),
        "go on": sum(counts["go on"]),
        "stop": sum(counts["stop"]),
        "always": round(always, 3),
        "never": round(1 - always, 3),
    }


def plans() -> None:
    """Compare planning a number of rounds with reacting to single steps."""
    chosen = [(k, each) for k, each in enumerate(campaigns()) if each.learner != "mixed"]
    rules = {f"fixed {rounds}": rounds for rounds in (3, 5, 7, 9, 11)}
    rows: list[Row] = []
    for price in (0.025, 0.05):
        net: dict[str, list[float]] = {}
        for number, each in chosen:
            first = risk_after(each, 3)
            errors = held_out(each, 400, number)
            lengths = {
                **rules,
                "while the last step gained": _react(errors, proved=False),
                "while proved": _react(errors, proved=True),
            }
            for name, rounds in lengths.items():
                gain = (first - risk_after(each, rounds)) / first if first else 0.0
                net.setdefault(name, []).append(gain - price * (rounds - 3))
        for name, values in net.items():
            rows.append(
                {
                    "price per round": price,
                    "rule": name,
                    "net gain": round(float(np.mean(values)), 3),
                    "s.e.": round(float(np.std(values, ddof=1) / len(values) ** 0.5), 3),
                }
            )
    record(
        "dynamic-plans",
        "Dynamic benchmarks: plan a number of rounds, or react to single steps?",
        rows,
        notes=(
            f"Mean over {len(chosen)} campaigns of one learner, in shares of the risk after three "
            "rounds. A held-out set of 400 items decides for the rules that react. The best fixed "
            "length is known only in hindsight.",
        ),
    )


def _react(errors: np.ndarray, *, proved: bool) -> int:
    """Return the number of rounds of a campaign that goes on as long as two rounds pay."""
    rounds = 3
    while rounds + 2 <= ROUNDS:
        rounds += 2
        step = step_change(errors[:rounds])
        if not (step.proved == "lower" if proved else step.repaired > step.broken):
            break
    return rounds


def panels() -> None:
    rows: list[Row] = []
    rng = np.random.default_rng(SEED)
    if ANLI.exists():
        for number, errors in _anli().items():
            for kept in (3, 4):
                rows.append(_left_out(f"ANLI round {number}, {kept} of 5 models", [errors], kept))
    for name, draw in (
        ("probit, correlation .6, 30 % errors", _probit),
        ("two families and a hard core", _families),
    ):
        drawn = [draw(rng, 7, 500) for _ in range(40)]
        for kept in (5, 6):
            rows.append(_left_out(f"{name}, {kept} of 7 models, 40 panels", drawn, kept))
    record(
        "dynamic-panels",
        "Dynamic benchmarks: what leaving models out of a panel shows",
        rows,
        notes=(
            "Every subset of the models forecasts the gain of all of them, which is then known. "
            "Subsets of one panel overlap, so the coverage of a single panel is indicative.",
            "Without ANLI: set TALLYSTICK_DATA."
            if not ANLI.exists()
            else "ANLI: five models that were in no loop.",
        ),
    )


def _left_out(name: str, drawn: Sequence[np.ndarray], kept: int) -> Row:
    held, foretold, actual, widths = [], [], [], []
    for errors in drawn:
        models = len(errors)
        everyone = majority_risk(errors.sum(axis=0), models)
        for some in combinations(range(models), kept):
            part = errors[list(some)]
            found = forecast_panel(part)
            gain = majority_risk(part.sum(axis=0), kept) - everyone
            held.append(found.interval.low - 1e-12 <= gain <= found.interval.high + 1e-12)
            foretold.append(found.gain)
            actual.append(gain)
            widths.append(found.interval.width)
    return {
        "panel": name,
        "subsets": len(held),
        "range holds the gain": round(float(np.mean(held)), 3),
        "foretold": round(float(np.mean(foretold)), 4),
        "actual": round(float(np.mean(actual)), 4),
        "mean error": round(float(np.mean(np.abs(np.subtract(foretold, actual)))), 4),
        "mean width": round(float(np.mean(widths)), 3),
    }


def _anli() -> dict[str, np.ndarray]:
    with gzip.open(ANLI, "rt", encoding="utf-8") as lines:
        table = list(csv.DictReader(lines))
    models = list(table[0])[7:]
    return {
        number: np.array(
            [[row[m] != row["gold"] for row in table if row["round"] == number] for m in models]
        )
        for number in "123"
    }


def _probit(rng: np.random.Generator, models: int, items: int) -> np.ndarray:
    shared, own = rng.standard_normal(items), rng.standard_normal((models, items))
    return 0.6**0.5 * shared + 0.4**0.5 * own > 0.5244


def _families(rng: np.random.Generator, models: int, items: int) -> np.ndarray:
    """Draw models of two families, each with a weakness of its own, and a hard core."""
    family = rng.integers(0, 2, models)
    weakness = rng.standard_normal((2, items))[family]
    errors = 0.5**0.5 * weakness + 0.5**0.5 * rng.standard_normal((models, items)) > 0.9
    hard = rng.random(items) < 0.1
    return np.where(hard, rng.random((models, items)) < 0.9, errors)


SECTIONS = {f.__name__: f for f in (paths, plans, panels)}

if __name__ == "__main__":
    begin = time.process_time()
    for section in [word for word in sys.argv[1:] if word in SECTIONS] or SECTIONS:
        SECTIONS[section]()
    print(f"{time.process_time() - begin:.0f} CPU seconds")
