"""``tallystick demo``: from judges who name the wrong winner to a settled question."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tallystick.cli.deliver import Delivery, deliver, tell
from tallystick.cli.working import working
from tallystick.data import answered

__all__ = ["tell_story"]

SEED = 1
"""A draw on which 60 grades settle one pair and leave the other open, as they often do."""

BATCH = 40
MOST = 400
"""Grades that the person of this story would give at most."""


def tell_story(folder: Path, *, seed: int = SEED, as_json: bool = False) -> Path:
    """Score three bots, label what is open, say who was right; return the page of the answer."""
    from tallystick.io import write_csv
    from tallystick.registry import capability
    from tallystick.score.demo import judged_outputs

    made, truth = judged_outputs(seed)
    table, page = folder / "outputs.csv", folder / "report.html"
    write_csv(table, made.table)

    tell([made.story, f"table: {table}", ""])
    command = shlex.join(["tallystick", "score", table.name, *made.command()])
    tell([f"$ {command}", ""])
    with working("answering"):
        result = answered(capability("score"), table, {**made.options, "seed": seed})
    deliver(result, Delivery(as_json=as_json, html=page))

    pair = _open_pair(result)
    if pair is None:
        tell(["", "Nothing is left to label: every pair with the best system is settled."])
    else:
        with working("labelling"):
            lines = _labelled(folder, made.table, made.options, truth, pair)
        tell(["", *lines])
    tell(["", *_truth(made.table["system"], truth)])
    return page


def _open_pair(result: Any) -> tuple[str, str] | None:
    """Return the best system and the strongest one that it was not told apart from."""
    best = result.systems[0].name
    rivals = [row.name for row in result.systems[1:] if row.name in result.contenders]
    return (best, rivals[0]) if rivals else None


def _labelled(
    folder: Path,
    columns: Mapping[str, Sequence[Any]],
    options: Mapping[str, Any],
    truth: Sequence[str],
    pair: tuple[str, str],
) -> list[str]:
    """Let `label` choose what to grade, answer as a person would, and say when it stopped."""
    from tallystick import label
    from tallystick.io import write_csv

    # Only the two systems whose order is open need more grades.
    rows = [n for n, name in enumerate(columns["system"]) if name in pair]
    table = {
        name: [held[n] for n in rows] for name, held in columns.items() if name != options["truth"]
    }
    path, session = folder / "open.csv", folder / "open.label"
    write_csv(path, table)
    reading = {name: value for name, value in options.items() if name != "truth"}
    words = ["label", path.name, "--question", "score", "--goal", "difference"]
    words += ["--session", session.name, "--next", str(BATCH), "--out", "batch.csv"]
    lines = [f"$ {shlex.join(['tallystick', *words])}", ""]

    session.unlink(missing_ok=True)
    settings = label.SessionSettings(budget=MOST)
    with label.begin(
        session,
        path,
        question="score",
        settings=settings,
        reading=reading,
        options={"goal": "difference"},
    ) as work:
        asks = work.next(BATCH)
        first = dict.fromkeys(table["question"][ask.row] for ask in asks)
        lines.append(
            f"It asks for the outputs of both systems on {len(first)} questions first:"
            f" {', '.join(list(first)[:6])}, …"
        )
        given = 0
        while asks:
            for ask in asks:
                work.answer(ask.number, truth[rows[ask.row]], reader="1")
                given += 1
            asks = () if work.standing().stop is not None else work.next(BATCH)
        lines.append(f"A person grades {given}; here the demonstration knows what they would say.")
        lines += ["", work.result(final=False).verdict]
    return lines


def _truth(systems: Sequence[Any], truth: Sequence[str]) -> list[str]:
    """Return what all outputs would have shown: nobody knows it outside a demonstration."""
    shares = {
        name: sum(t == "pass" for s, t in zip(systems, truth, strict=True) if s == name)
        / sum(s == name for s in systems)
        for name in dict.fromkeys(systems)
    }
    ranked = sorted(shares, key=lambda name: -shares[name])
    told = ", ".join(f"{name} {100 * shares[name]:.1f} %" for name in ranked)
    return [f"The truth, which only a demonstration knows: {told}."]
