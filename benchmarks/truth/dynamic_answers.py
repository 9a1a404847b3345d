"""Are the statements of ``dynamic analyse`` about a campaign right, and is a change found.

``python -m benchmarks.truth.dynamic_answers [--write]``: 60 simulated campaigns, each as a sheet of 0
and 1, as a long log with its held-out items marked, and as answers beside a truth.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
from scipy.stats import binomtest, norm

from benchmarks.record import record
from tallystick.verbs import dynamic

SEED, CAMPAIGNS, POPULATION = 20261118, 60, 200_000
ORDER = ("The latest model", "A vote of", "Certain whatever comes", "Forecast for")


def campaign(number: int) -> dict[str, Any]:
    """Draw one campaign: errors on held-out items, and what is true in a large population."""
    rng = np.random.default_rng([SEED, number])
    rounds, items = int(rng.choice([3, 5])), int(rng.choice([200, 400, 800]))
    rho, start = rng.uniform(0.2, 0.8), rng.uniform(0.15, 0.4)
    # A third of the campaigns changes nothing at all, a third a little, a third much.
    step = rng.choice([0.0, 0.01, 0.04]) * rng.choice([-1, 1], p=[0.3, 0.7])
    rates = np.clip(start - step * np.arange(rounds + 2), 0.02, 0.9)

    def drawn(size: int) -> tuple[np.ndarray, np.ndarray]:
        hard = rng.standard_normal(size)
        own = rng.standard_normal((rounds + 2, size))
        wrong = rho**0.5 * hard + (1 - rho) ** 0.5 * own > norm.isf(rates)[:, None]
        return wrong, rng.integers(1, 3, wrong.shape)

    wrong, other = drawn(items)
    everyone, others = drawn(POPULATION)
    votes = {
        "marks": _risk(everyone[:rounds]),
        "answers": _plural(everyone[:rounds], others[:rounds]),
    }
    return {
        "rounds": rounds,
        "wrong": wrong[:rounds],
        "other": other[:rounds],
        "change": rates[0] - rates[rounds - 1],
        "vote": {kind: rates[rounds - 1] - risk for kind, risk in votes.items()},
        "gain": _risk(everyone[:rounds]) - _risk(everyone),
    }


def _risk(wrong: np.ndarray) -> float:
    return float(np.mean(2 * wrong.sum(axis=0) > len(wrong)))


def _plural(wrong: np.ndarray, other: np.ndarray) -> float:
    said = np.where(wrong, other, 0)
    counts = np.stack([(said == k).sum(axis=0) for k in range(3)])
    top = counts == counts.max(axis=0)
    return float(np.mean(1 - top[0] / top.sum(axis=0)))


def forms(one: dict[str, Any]) -> dict[str, tuple[dict[str, Any], dict[str, Any]]]:
    """Return a campaign in the three forms in which people have it, with what they type."""
    wrong, items = one["wrong"], range(one["wrong"].shape[1])
    names = [f"round{t + 1}" for t in range(one["rounds"])]
    sheet = {
        "id": list(items),
        **{n: (~w).astype(int).tolist() for n, w in zip(names, wrong, strict=True)},
    }
    collected = 20
    long: dict[str, list[Any]] = {"item": [], "round": [], "correct": [], "held_out": []}
    for t, row in enumerate(wrong):
        long["item"] += [f"h{k}" for k in items] + [f"c{t}-{k}" for k in range(collected)]
        long["round"] += [t + 1] * (len(items) + collected)
        long["correct"] += [*(~row).astype(int).tolist(), *[0] * collected]
        long["held_out"] += [1] * len(items) + [0] * collected
    words = np.array(["positive", "negative", "neutral"])
    said = words[np.where(wrong, one["other"], 0)]
    answers: dict[str, list[Any]] = {"id": list(items), "gold": ["positive"] * len(items)}
    answers |= {name: row.tolist() for name, row in zip(names, said, strict=True)}
    # A truth of one class is no benchmark: every third item is turned into another class.
    for name in ("gold", *names):
        answers[name] = [_turned(word, k % 3, words) for k, word in enumerate(answers[name])]
    return {
        "sheet of 0 and 1": ({**sheet, "held_out": [1] * len(items)}, {}),
        "long log, held out": (long, {}),
        "answers beside a truth": ({**answers, "held_out": [1] * len(items)}, {}),
    }


def _turned(word: str, by: int, words: np.ndarray) -> str:
    return str(words[(words.tolist().index(word) + by) % 3])


def main() -> None:
    """Read every campaign three times and count what was said."""
    rows = []
    campaigns = [campaign(number) for number in range(CAMPAIGNS)]
    for form in forms(campaigns[0]):
        seen: Counter[str] = Counter()
        for one in campaigns:
            table, options = forms(one)[form]
            found: Any = dynamic.evaluate(table, **options)
            places = [found.verdict.find(word) for word in ORDER]
            seen["in order"] += places == sorted(places) and places[0] == 0
            seen["cannot tell first"] += "cannot tell" in found.opening.answer
            kind = "answers" if form.startswith("answers") else "marks"
            for name, change, truth in (
                ("change", found.change, one["change"]),
                ("vote", found.vote.change, one["vote"][kind]),
            ):
                seen[f"{name} stated"] += change.settled is not None
                right = truth > 0 if change.settled == "better" else truth < 0
                seen["wrong"] += change.settled is not None and not right
            advice = found.advice.decision
            seen["forecast stated"] += advice != "cannot tell"
            seen["wrong"] += advice == "go on" and one["gain"] <= 0
            seen["wrong"] += advice == "stop" and one["gain"] > 0
            first, last = one["wrong"][0], one["wrong"][-1]
            better, worse = int((first & ~last).sum()), int((~first & last).sum())
            moved = better + worse
            seen["exact test"] += int(moved and binomtest(better, moved).pvalue <= 0.05)
        stated = seen["change stated"] + seen["vote stated"] + seen["forecast stated"]
        rows.append(
            {
                "form": form,
                "campaigns": CAMPAIGNS,
                "in the owner's order": seen["in order"],
                "change stated": seen["change stated"],
                "exact paired test": seen["exact test"],
                "vote stated": seen["vote stated"],
                "forecast stated": seen["forecast stated"],
                "wrong statements": seen["wrong"],
                "of all that could be made": round(seen["wrong"] / (3 * CAMPAIGNS), 4),
                "of those made": round(seen["wrong"] / stated, 4) if stated else 0.0,
            }
        )
        print(rows[-1])
    record(
        "dynamic-answers",
        "Dynamic benchmarks: statements about simulated campaigns",
        rows,
        notes=(
            f"{CAMPAIGNS} campaigns of 3 or 5 rounds on 200 to 800 held-out items, models that share a"
            " part of their difficulty; in a third nothing changes, in a third the error rate moves by"
            f" one point per round, in a third by four. Truth from {POPULATION:,} further items. Three"
            " statements can be made of each: the latest model changed, a vote adds to it, two more"
            " rounds would help. A statement about a change that is exactly zero counts as wrong."
            " *exact paired test*: campaigns in which McNemar's exact test at .05 finds the change.",
        ),
    )


if __name__ == "__main__":
    main()
