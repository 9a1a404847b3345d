"""What two runs are called: by what differs between them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import PurePath

from tallystick.errors import InputError
from tallystick.io.logs.log import Log

__all__ = ["told_apart"]

_LONGEST = 40
"""Signs of a prompt that go into a name."""


def told_apart(logs: Sequence[Log]) -> list[Log]:
    """Return the logs with names such that no two runs share one.

    Runs of different models keep the names of the models. Where one model was run twice on a task
    (two prompts, two versions), its runs are told apart by the first of these that differs: a fact
    of the log (the prompt, the arguments of the task), the name of the file, its folder.

    Examples
    --------
    >>> scores = {"acc": {"q1": [1.0]}}
    >>> short = Log("gpt", "qa", "a.json", scores, facts={"prompt": "Answer."})
    >>> long = Log("gpt", "qa", "b.json", scores, facts={"prompt": "Think, then answer."})
    >>> [log.model for log in told_apart([short, long])]
    ['gpt (Answer.)', 'gpt (Think, then answer.)']
    """
    twice: set[str] = set()
    homes: dict[tuple[str, str], str] = {}
    for log in logs:
        if homes.setdefault((log.model, log.task), log.source) != log.source:
            twice.add(log.model)
    named = list(logs)
    for model in twice:
        own = [i for i, log in enumerate(logs) if log.model == model]
        for i, mark in zip(own, _marks([logs[i] for i in own]), strict=True):
            named[i] = replace(logs[i], model=f"{model} ({mark})")
    return named


def _marks(logs: Sequence[Log]) -> list[str]:
    """Return what tells the logs of one model apart."""
    ways = [[log.facts.get(fact, "") for log in logs] for fact in logs[0].facts]
    paths = [PurePath(log.source) for log in logs]
    ways += [[path.stem for path in paths], [path.parent.name for path in paths]]
    for marks in ways:
        short = [_short(mark) for mark in marks]
        # The mark has to separate every two logs of one task, and may join different tasks.
        keys = {(mark, log.task) for mark, log in zip(short, logs, strict=True)}
        if all(short) and len(keys) == len(logs):
            return short
    raise InputError(
        f"{logs[0].source} and {logs[1].source} both hold model {logs[0].model!r} on"
        f" {logs[0].task or 'one task'}, and nothing tells them apart: name the runs (--run"
        f" old={logs[0].source} --run new={logs[1].source})"
    )


def _short(mark: str) -> str:
    words = " ".join(mark.split())
    return words if len(words) <= _LONGEST else f"{words[: _LONGEST - 1]}…"
