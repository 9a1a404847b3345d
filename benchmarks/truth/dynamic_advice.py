"""Whether the advice earns its name: forecasts of paths and panels against the known truth.

``python -m benchmarks.truth.dynamic_advice [--write] [SECTION ...]``; sections are paths,
panels and attempts. Advice comes from the product's own answer (``dynamic.analyse.analyse``, and
from a table through ``dynamic.evaluate`` for every 24th campaign, which must say the same).
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
from functools import cache, partial
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.known import known
from benchmarks.pieces import file_of_pieces
from benchmarks.record import kept_row, record
from benchmarks.truth.dynamic_campaigns import POPULATION, SOURCES, Campaign, campaign, learners
from tallystick.verbs import dynamic
from tallystick.verbs.dynamic.analyse import analyse
from tallystick.verbs.dynamic.forecast import majority_risk
from tallystick.verbs.dynamic.log import RoundLog
from tallystick.verbs.dynamic.question import AnalyseQuestion

HERE = Path(__file__).resolve().parent
DATA = Path(os.environ.get("TALLYSTICK_DATA", HERE.parents[2] / "shared" / "data")) / "dynamic"
ANLI = DATA / "anli_dev_rounds_8models.csv.gz"
ROUNDS, EACH, MIXED, SEED = 11, 10, 40, 20_260_101
SIZES, PAYS, DECIDED_AT = (400, 1000), (0.0, 0.01, 0.02), (3, 5, 7, 9)
Row = dict[str, Any]


@cache
def campaigns() -> tuple[Campaign, ...]:
    """Return 240 campaigns of one learner each and 160 of mixed teams, the same on every machine."""
    kinds = [(s, name) for s in SOURCES for name in learners() for _ in range(EACH)]
    kinds += [(s, "mixed") for s in SOURCES for _ in range(MIXED)]
    streams = np.random.default_rng(SEED).spawn(len(kinds))
    kept = file_of_pieces()
    cache = None if kept is None else kept.with_suffix(".npz")
    if cache is not None and cache.exists():
        with np.load(cache) as held:
            errors, names = np.unpackbits(held["errors"], axis=-1).astype(bool), held["names"]
    else:
        done = [
            campaign(source, name, rounds=ROUNDS, rng=rng)
            for (source, name), rng in zip(kinds, streams, strict=True)
        ]
        errors = np.array([each.errors for each in done])
        names = np.array([each.built_as for each in done])
        if cache is not None:  # a stopped call goes on from here
            np.savez(cache, errors=np.packbits(errors, axis=-1), names=names)
    return tuple(
        Campaign(source, name, wrong, tuple(map(str, built)))
        for (source, name), wrong, built in zip(kinds, errors, names, strict=True)
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
    for teams, named in (("one learner", True), ("mixed", True), ("mixed", False)):
        chosen = [
            (k, each)
            for k, each in enumerate(campaigns())
            if (each.learner == "mixed") == (teams == "mixed")
        ]
        shown = teams if teams == "one learner" else f"mixed, {'named' if named else 'one name'}"
        for size in SIZES:
            pooled: list[tuple[int, int]] = []
            for pays in PAYS:
                key = f"paths, {shown}, {size}, {pays}"
                row = kept_row(key, partial(_path_row, chosen, named, size, pays))
                rows.append({"campaigns": f"{len(chosen)}, {shown}", "n": size} | row)
                pooled.append((row["wrong ones"], row["decided"]))
            wrong, decided = (sum(part) for part in zip(*pooled, strict=True))
            rows.append(
                {
                    "campaigns": f"{len(chosen)}, {shown}",
                    "n": size,
                    "pays": "all three",
                    "wrong ones": wrong,
                    "decided": decided,
                    "wrong among decided": round(wrong / decided, 3) if decided else "",
                }
            )
    record(
        "dynamic-advice",
        "Dynamic benchmarks: is the advice right?",
        rows,
        notes=(
            "Decisions after 3, 5, 7 and 9 rounds of simulated campaigns (four data sources, six "
            "learners, 50 to 100% of errors found, 0 or 5% of them mislabelled), from a held-out "
            "set of n items. Right: two more rounds gain more than *pays* in the population for "
            "*go on*, no more for *stop*.",
            "Mixed: every round takes another of the six learners at random. *named*: the log names "
            "the learner of each round, so that the wider range is taken. *one name*: the log calls "
            "all of them alike, and only their error rates can show it; *teams* is the share of "
            "decisions in which they did. The rule for that was fixed on five other sources and "
            "seven other learners.",
            "What stays wrong under *one name* cannot be seen: rounds whose models are equally good "
            "look like rounds of one learner, and the next two then come from other learners. The "
            "advice to go on therefore says that it rests on the same learner.",
            "Coverage: share of the 90% ranges that hold the gain in the population; worst t: the "
            "lowest of the four numbers of rounds.",
            "*always* and *never* are the shares of decisions in which going on, or stopping, was "
            "right.",
            "The decisions of one campaign are not independent. Sources and learners were not used "
            "to choose the forecast.",
        ),
    )


def _path_row(chosen: Sequence[tuple[int, Campaign]], named: bool, size: int, pays: float) -> Row:
    seen = list(_decisions(chosen, size, named, pays))
    spans = [(found.gain.interval, gain) for found, gain in seen]
    held = np.array([span.low <= gain <= span.high for span, gain in spans])
    worst = min(held[k :: len(DECIDED_AT)].mean() for k in range(len(DECIDED_AT)))
    return {
        "pays": pays,
        "teams": round(float(np.mean([found.teams is not None for found, _ in seen])), 3),
        "coverage": round(float(held.mean()), 3),
        "worst t": round(float(worst), 3),
        **_score(seen, pays),
    }


def _decisions(
    chosen: Sequence[tuple[int, Campaign]], size: int, named: bool, pays: float
) -> Iterator[tuple[Any, float]]:
    question = AnalyseQuestion(pays=pays)
    for number, each in chosen:
        errors = held_out(each, size, number)
        for rounds in DECIDED_AT:
            gain = risk_after(each, rounds) - risk_after(each, rounds + 2)
            names = each.built_as[:rounds] if named else ("m",) * rounds
            advice = analyse(_path_log(errors[:rounds], names), question).advice
            if number % 24 == 0 and rounds == 3:
                table = _path_table(errors[:rounds], names)
                told = dynamic.evaluate(table, question=question)
                if not isinstance(told, dynamic.LogResult) or told.advice != advice:
                    raise SystemExit(f"the command says {told}, the function {advice}")
            yield advice, gain


def _path_log(errors: np.ndarray, names: Sequence[str]) -> RoundLog:
    rounds, items = errors.shape
    return RoundLog(
        kind="path",
        items=tuple(map(str, range(items))),
        rounds=np.zeros(items, dtype=int),
        round_names=tuple(range(1, rounds + 1)),
        models=tuple(f"{name} (round {t + 1})" for t, name in enumerate(names)),
        errors=errors,
        answered=np.ones_like(errors),
        held_out=True,
        built_as=tuple(names),
    )


def _path_table(errors: np.ndarray, names: Sequence[str]) -> dict[str, Any]:
    """Return the long table that a person would bring, with its column of held-out items."""
    rounds, items = errors.shape
    return {
        "item": [str(k) for _ in range(rounds) for k in range(items)],
        "round": [t + 1 for t in range(rounds) for _ in range(items)],
        "model": [name for name in names for _ in range(items)],
        "correct": (~errors).astype(int).reshape(-1).tolist(),
        "held_out": [1] * (rounds * items),
    }


def _score(seen: Sequence[tuple[Any, float]], pays: float) -> Row:
    """Count what the product says at this price, and whether it was right."""
    counts = {"go on": [0, 0], "stop": [0, 0]}
    for advice, gain in seen:
        if advice.decision != "cannot tell":
            helped = gain > pays
            counts[advice.decision][int(helped == (advice.decision == "go on"))] += 1
    total = len(seen)
    decided = sum(map(sum, counts.values()))
    wrong = counts["go on"][0] + counts["stop"][0]
    always = sum(gain > pays for _, gain in seen) / total
    return {
        "right": round((decided - wrong) / total, 3),
        "cannot tell": round(1 - decided / total, 3),
        "wrong": round(wrong / total, 3),
        "wrong ones": wrong,
        "decided": decided,
        "wrong among decided": round(wrong / decided, 3) if decided else "",
        "go on": f"{counts['go on'][0]} wrong of {sum(counts['go on'])}",
        "stop": f"{counts['stop'][0]} wrong of {sum(counts['stop'])}",
        "always": round(always, 3),
        "never": round(1 - always, 3),
    }


def panels() -> None:
    rows: list[Row] = []
    rng = np.random.default_rng(SEED)
    for number in "123" if ANLI.exists() else ():
        clean, others = _anli(number)
        for kept in (3, 4):
            rows.append(_left_out(f"ANLI round {number}, {kept} of 5 models", [clean], kept))
        fives = [others[list(some)] for some in combinations(range(len(others)), 5)]
        rows.append(_left_out(f"ANLI round {number}, 4 of every 5 of 7 models", fives, 4))
        rows.append(_left_out(f"ANLI round {number}, 5 of 7 models", [others], 5))
    for name, drawn in _other_panels(np.random.default_rng(SEED)):
        rows += [_left_out(f"{name}, {kept} of 5 models", drawn, kept) for kept in (3, 4)]
    for name, draw in (
        ("probit, correlation .6, 30% errors", _probit),
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
            *(_pooled(kind, rows) for kind in ("ANLI", "HELM", "LLMBar", "probit", "two families")),
            "ANLI, 5 models: those that were in no loop (methods/dynamic.md has the same counts: 4 "
            "of 5 held in 5 of 5, 4 of 5 and 4 of 5). 7 models: all but the one in that round's "
            "loop. HELM Lite: 30 models cut at random into panels of five, by scenario of at least "
            "400 items. LLMBar: 65 judges cut into panels of five. Real data is left out where "
            "TALLYSTICK_DATA is not set.",
        ),
    )


def _pooled(kind: str, rows: Sequence[Row]) -> str:
    """Say how often the range held over all rows of one kind, leaving one or two models out."""
    said = []
    for left, word in ((1, "one"), (2, "two")):
        some = [row for row in rows if row["panel"].startswith(kind) and row["left out"] == left]
        total = sum(row["subsets"] for row in some)
        if total:
            held = sum(row["subsets"] * row["range holds the gain"] for row in some)
            said.append(f"leaving {word} out it held in {held / total:.3f} of {total:,}")
    return f"{kind}: {'; '.join(said)}." if said else f"{kind}: not measured here."


def _other_panels(rng: np.random.Generator) -> Iterator[tuple[str, list[np.ndarray]]]:
    """Yield panels of five real models each, cut at random: HELM Lite by scenario, LLMBar."""
    import pyarrow.parquet as parquet

    helm = DATA.parent / "compare" / "helm_lite_binary.parquet"
    if helm.exists():
        table = parquet.read_table(helm)
        scenario = np.array(table.column("scenario").to_pylist())
        right = np.array([table.column(name).to_numpy() for name in table.column_names[2:]])
        for name in np.unique(scenario):
            errors = right[:, scenario == name] == 0
            if errors.shape[1] >= 400:
                short = str(name).partition(",")[0].rpartition("=")[2].rstrip(":")
                yield f"HELM Lite {short}", _fives(errors, rng)
    llmbar = DATA.parent / "judge" / "llmbar_swap0.csv.gz"
    if llmbar.exists():
        with gzip.open(llmbar, "rt", encoding="utf-8") as lines:
            rows = list(csv.DictReader(lines))
        names = [name for name in rows[0] if name not in ("item", "truth")]
        errors = np.array([[row[name] != row["truth"] for row in rows] for name in names])
        yield "LLMBar", _fives(errors, rng)


def _fives(errors: np.ndarray, rng: np.random.Generator) -> list[np.ndarray]:
    order = rng.permutation(len(errors))
    return [errors[order[k : k + 5]] for k in range(0, len(order) - 4, 5)]


def _left_out(name: str, drawn: Sequence[np.ndarray], kept: int) -> Row:
    return kept_row(f"panels, {name}", partial(_left_out_row, name, drawn, kept))


def _left_out_row(name: str, drawn: Sequence[np.ndarray], kept: int) -> Row:
    held, foretold, actual, widths = [], [], [], []
    for errors in drawn:
        models = len(errors)
        everyone = majority_risk(errors.sum(axis=0), models)
        for some in combinations(range(models), kept):
            part = errors[list(some)]
            found = known(analyse(_panel_log(part)).advice).gain
            gain = majority_risk(part.sum(axis=0), kept) - everyone
            span = known(found.interval)
            held.append(span.low - 1e-12 <= gain <= span.high + 1e-12)
            foretold.append(known(found.estimate))
            actual.append(gain)
            widths.append(span.width)
    return {
        "panel": name,
        "left out": len(drawn[0]) - kept,
        "subsets": len(held),
        "range holds the gain": round(float(np.mean(held)), 3),
        "foretold": round(float(np.mean(foretold)), 4),
        "actual": round(float(np.mean(actual)), 4),
        "mean error": round(float(np.mean(np.abs(np.subtract(foretold, actual)))), 4),
        "mean width": round(float(np.mean(widths)), 3),
    }


def _panel_log(errors: np.ndarray) -> RoundLog:
    models, items = errors.shape
    return RoundLog(
        kind="panel",
        items=tuple(map(str, range(items))),
        rounds=np.zeros(items, dtype=int),
        round_names=(1,),
        models=tuple(f"m{k}" for k in range(models)),
        errors=errors,
        answered=np.ones_like(errors),
    )


def _anli(number: str) -> tuple[np.ndarray, np.ndarray]:
    """Return the errors of five models that were in no loop, and of seven not in this one."""
    with gzip.open(ANLI, "rt", encoding="utf-8") as lines:
        table = [row for row in csv.DictReader(lines) if row["round"] == number]
    models = list(table[0])[4:]  # the first three were in the loop of rounds 1, 2 and 3
    errors = np.array([[row[name] != row["gold"] for row in table] for name in models])
    return errors[3:], np.delete(errors, int(number) - 1, axis=0)


def _probit(rng: np.random.Generator, models: int, items: int) -> np.ndarray:
    shared, own = rng.standard_normal(items), rng.standard_normal((models, items))
    return np.asarray(0.6**0.5 * shared + 0.4**0.5 * own > 0.5244)


def _families(rng: np.random.Generator, models: int, items: int) -> np.ndarray:
    """Draw models of two families, each with a weakness of its own, and a hard core."""
    family = rng.integers(0, 2, models)
    weakness = rng.standard_normal((2, items))[family]
    errors = 0.5**0.5 * weakness + 0.5**0.5 * rng.standard_normal((models, items)) > 0.9
    hard = rng.random(items) < 0.1
    return np.where(hard, rng.random((models, items)) < 0.9, errors)


def attempts() -> None:
    """Draw attempt logs with a known rate, and read them as the command does."""
    rows: list[Row] = []
    for name, people, spread in (
        ("alike, 12 annotators", 12, 0.0),
        ("unequal skill, 12 annotators", 12, 0.8),
        ("unequal skill and effort, 25 annotators", 25, 0.8),
    ):
        held, plain, changed, widths = [], [], [], []
        for number in range(200):
            rng = np.random.default_rng([SEED, people, int(10 * spread), number])
            table, truth = _attempt_table(rng, people, spread)
            found = dynamic.evaluate(table)
            assert isinstance(found, dynamic.AttemptResult)
            last = found.rounds[-1].success
            rate = known(last.interval)
            held.append(rate.low <= truth <= rate.high)
            widths.append(rate.width)
            error = (truth * (1 - truth) / last.attempts) ** 0.5
            plain.append(abs(last.rate - truth) <= 1.96 * error)
            span = known(known(found.change).interval)
            changed.append(span.low <= 0 <= span.high)
        rows.append(
            {
                "logs": f"200, {name}",
                "rate held": round(float(np.mean(held)), 3),
                "plain interval": round(float(np.mean(plain)), 3),
                "no change held": round(float(np.mean(changed)), 3),
                "mean width": round(float(np.mean(widths)), 3),
            }
        )
    record(
        "dynamic-attempts",
        "Attempt logs: do the intervals hold?",
        rows,
        notes=(
            "Two rounds with the same true rate, drawn as a table with one row per attempt and read "
            "by dynamic.evaluate. *rate held*: the 95% interval of the validated rate in the last "
            "round holds the mean over all annotators there could be. *plain interval*: the same "
            "for a binomial interval that takes attempts for independent. *no change held*: the "
            "interval of the change holds 0.",
        ),
    )


def _attempt_table(
    rng: np.random.Generator, people: int, spread: float
) -> tuple[dict[str, Any], float]:
    """Return a log of two rounds, and the rate of an annotator drawn at random."""
    from scipy.special import expit

    grid = np.random.default_rng(0).standard_normal(200_000)
    truth = float(expit(-1.2 + spread * grid).mean()) * 0.8
    skill = expit(-1.2 + spread * rng.standard_normal(people))
    effort = rng.integers(10, 40, people) if people > 20 else np.full(people, 25)
    who = np.concatenate([np.repeat(np.arange(people), effort)] * 2)
    fooled = rng.random(who.size) < skill[who]
    valid = rng.random(who.size) < 0.8
    return {
        "annotator": [f"w{k}" for k in who],
        "round": np.repeat([1, 2], who.size // 2).tolist(),
        "model_wrong": fooled.astype(int).tolist(),
        "validated": [
            "" if not f else "yes" if v else "no" for f, v in zip(fooled, valid, strict=True)
        ],
    }, truth


SECTIONS = {f.__name__: f for f in (paths, panels, attempts)}

if __name__ == "__main__":
    begin = time.process_time()
    for section in [word for word in sys.argv[1:] if word in SECTIONS] or SECTIONS:
        SECTIONS[section]()
    print(f"{time.process_time() - begin:.0f} CPU seconds")
