"""The command of the next step: get the labels that would settle the answer."""

from __future__ import annotations

import shlex
from collections.abc import Sequence

from tallystick.results import Result

__all__ = ["next_command"]

_ASKED = ("score", "compare", "judge", "bound")
"""Verbs that ``label`` can label for."""

_OUTPUTS = frozenset({"--html", "--items-out", "--summary", "--junit", "--gate", "--by"})
_FLAGS = frozenset({"--json", "--no-text"})


def next_command(result: Result, arguments: Sequence[str]) -> str:
    """Return the command that collects what is *needed*; empty if no label would help.

    Parameters
    ----------
    result
        The answer.
    arguments
        The words of the command that gave it, from the verb on.

    Examples
    --------
    >>> from tallystick.results import Needed
    >>> class Judged(Result):
    ...     verb = "judge"
    >>> open_ = Judged(verdict="v", n_items=9, decision="undecided", needed=Needed(40, "labels"))
    >>> next_command(open_, ["judge", "v.csv", "--truth", "gold", "--html", "r.html", "--json"])
    'tallystick label v.csv --truth gold --question judge --budget 40 --open'
    """
    needed = result.needed
    verb = result.verb
    if needed is None or needed.count is None or verb not in _ASKED or arguments[:1] != [verb]:
        return ""
    if not any(word in needed.of for word in ("label", "grade")):
        return ""
    kept: list[str] = []
    words = iter(arguments[1:])
    for word in words:
        name, sign, _ = word.partition("=")
        if name in _FLAGS:
            continue
        if name in _OUTPUTS:
            if not sign:
                next(words, None)
            continue
        kept.append(word)
    more = ["--question", verb, "--budget", str(needed.count), "--open"]
    return shlex.join(["tallystick", "label", *kept, *more])
