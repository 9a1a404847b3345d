"""Is a first verdict right? Every claim that an answer makes is held against the simulation.

``right``: the command answered, and nothing that it claims is false. ``asked``: it stopped and named
the option to add. ``wrong``: anything else.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

__all__ = ["Judged", "judged"]

Told = Mapping[str, Any]


@dataclass(frozen=True, kw_only=True)
class Judged:
    """What became of a first try."""

    outcome: str
    reason: str = ""


def judged(name: str, code: int, answer: Told | None, stderr: str, truth: Told) -> Judged:
    """Judge one run: its exit code, its JSON, what it said, and the truth of the simulation."""
    if answer is None:
        last = stderr.strip().splitlines()[-1] if stderr.strip() else ""
        asked = code == 1 and " --" in last.replace("(--", " --")
        return Judged(outcome="asked" if asked else "wrong", reason=last)
    false = [claim for claim in CLAIMS[name](answer, truth) if claim]
    return Judged(outcome="wrong" if false else "right", reason=", ".join(false))


def _ranked(answer: Told, truth: Told, rows: str, score: str = "score") -> list[str]:
    """Hold scores, pairs and contenders against the truth."""
    # A pair of systems, and a best one, are decided: an interval of 95 % may miss one time in 20,
    # so the winner and the signs are held for all, and the interval for the winner.
    best = max(truth, key=lambda one: truth[one])
    said = {row["name"]: row for row in answer[rows]}
    false = [f"{name} is not in the answer" for name in truth if name not in said]
    if best not in answer["contenders"]:
        false.append(f"{best} is the best, and is not among {answer['contenders']}")
    for pair in answer["pairs"]:
        gap = truth[pair["a"]] - truth[pair["b"]]
        if pair["verdict"].endswith("is better") and pair["verdict"].split()[0] in truth:
            winner = pair["verdict"].removesuffix(" is better")
            if (winner == pair["a"]) != (gap > 0):
                false.append(f"{pair['verdict']}: the true difference is {gap:+.3f}")
    first = answer[rows][0]["name"]
    return false + _outside(said[first]["interval"], truth[first], first)


def _outside(interval: Any, true: float, what: str) -> list[str]:
    if interval is None or interval[0] <= true <= interval[1]:
        return []
    return [f"{what} is truly {true:.3f}, outside [{interval[0]:.3f}, {interval[1]:.3f}]"]


def _systems(answer: Told, truth: Told) -> list[str]:
    return _ranked(answer, truth, "systems")


def _models(answer: Told, truth: Told) -> list[str]:
    return _ranked(answer, truth, "models")


def _judges(answer: Told, truth: Told) -> list[str]:
    """Hold a panel with few labels to its best judge, and to the judge that guesses."""
    best = max(truth, key=lambda one: truth[one])
    leader, rivals = answer["leader"], answer["rivals"]
    false = []
    if best not in (leader, *rivals):
        false.append(f"{best} is the best, not {leader}")
    if rivals and "most accurate" in answer["verdict"]:
        false.append(f"{leader} is called the best beside rivals")
    by_name = {row["name"]: row for row in answer["judges"]}
    worst = min(truth, key=lambda one: truth[one])
    if by_name[worst]["accuracy"] != min(row["accuracy"] for row in answer["judges"]):
        false.append(f"{worst} is the worst: {answer['verdict']}")
    return false + _outside(by_name[leader]["interval"], truth[leader], leader)


def _unlabelled(answer: Told, truth: Told) -> list[str]:
    """Without labels nothing may be decided, and every range has to hold the truth."""
    false = ["decided without labels"] if answer["decision"] == "decided" else []
    for row in answer["judges"]:
        false += _outside(row["range"], truth[row["name"]], row["name"])
    return false


def _bounds(answer: Told, truth: Told) -> list[str]:
    false = ["decided without labels"] if answer["decision"] == "decided" else []
    return false + _outside(answer["bounds"][0]["interval"], truth["accuracy"], "accuracy")


def _change(answer: Told, truth: Told) -> list[str]:
    worse = "worse" in answer["verdict"]
    false = [] if worse == (truth["accuracy_change"] < 0) else ["the sign of the change is wrong"]
    for what, true in truth.items():
        false += _outside(answer[what]["interval"], true, what)
    return false


CLAIMS: Mapping[str, Callable[[Told, Told], list[str]]] = {
    "support_bot": _systems,
    "rag_wide": _systems,
    "two_runs": _models,
    "crowd": _judges,
    "judges_alone": _unlabelled,
    "weak_spam": _bounds,
    "vendor": _change,
    "leaderboard": _models,
    "ratings": _systems,
    "agents": _models,
}
"""By table, what returns the false claims of an answer."""
