"""What became of a written table: right at once, right after a question, wrong, or refused.

``asked`` is a question whose printed commands are not right, or an answer that decides nothing
because it doubts the labels, and says so.
"""

from __future__ import annotations

import contextlib
import io
import json
import shlex
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from unittest import mock

from tests.first.written import Written, made

__all__ = ["ASKED", "PASTED", "REFUSED", "RIGHT", "WRONG", "outcome"]

RIGHT, PASTED, ASKED, WRONG, REFUSED = (
    "right",
    "right after a question",
    "asked",
    "wrong",
    "refused",
)


def outcome(table: Written, folder: Path) -> tuple[str, str]:
    """Ask what the person typed; return what became of it, and why."""
    typed, plain = made(table, folder)
    code, found, said = _run(typed)
    if found is not None:
        why = _misses(found, typed, plain, table)
        if why and found["verdict"].startswith("The labels decide nothing"):
            return ASKED, why
        return (WRONG, why) if why else (RIGHT, "")
    if code != 2:
        return REFUSED, said
    for line in said.splitlines():
        words = shlex.split(line) if line.strip().startswith("tallystick ") else []
        if words:
            with contextlib.chdir(folder):
                _, answer, _ = _run(words[1:])
            if answer is not None and not _misses(answer, words[1:], plain, table):
                return PASTED, said
    return ASKED, said


_ROLES = ("judges", "models", "weak", "prediction", "truth", "system", "old", "new", "round")


def _misses(
    answer: dict[str, Any], typed: Sequence[str], plain: Sequence[str], table: Written
) -> str:
    """Say in what an answer misses the right one, the plain table's.

    Where every column has the role that it means, and what the cells mean was typed, it is the
    right one, and the plain table is not asked.
    """
    meant = dict(word[2:].split("=", 1) for word in plain if word.startswith("--") and "=" in word)
    read = {role: answer["reading"].get(role) or [] for role in _ROLES}
    same = all(
        {*([one] if isinstance(one, str) else one)}
        == {*filter(None, meant.get(role, "").split(","))}
        for role, one in read.items()
    )
    given = " ".join(typed).replace("=", " ")
    if same and all(one.replace("=", " ") in given for one in table.facts.get("means", [])):
        return ""
    code, wanted, _ = _run(plain)
    if wanted is None:
        raise AssertionError(f"{table.name}: the plain table has no answer ({code}): {plain}")
    return _differs(answer, wanted)


def _run(words: Sequence[str]) -> tuple[int, dict[str, Any] | None, str]:
    from tallystick.cli import main

    out, err = io.StringIO(), io.StringIO()
    code = 0
    with (
        mock.patch.object(sys, "stdin", io.StringIO("")),
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
    ):
        try:
            main([*words, "--json"])
        except SystemExit as leaving:
            code = int(leaving.code or 0)
    return code, json.loads(out.getvalue()) if out.getvalue() else None, err.getvalue()


def _differs(found: dict[str, Any], wanted: dict[str, Any]) -> str:
    """Say what an answer has otherwise than the right one: its numbers, or what it decides."""
    ours, theirs = _numbers(found), _numbers(wanted)
    if found["decision"] != wanted["decision"]:
        return f"{found['decision']}, not {wanted['decision']}: {found['verdict']}"
    for name in sorted(ours.keys() | theirs.keys()):
        if ours.get(name) != theirs.get(name):
            return f"{name} is {ours.get(name)}, not {theirs.get(name)}"
    return ""


_ROWS = {
    "systems": ("score", "interval"),
    "judges": ("accuracy", "interval"),
    "models": ("score", "interval"),
    "pairs": ("difference", "interval"),
    "bounds": ("lower", "upper", "estimate", "interval"),
    "rounds": ("risk", "interval"),
}


def _numbers(answer: dict[str, Any]) -> dict[str, Any]:
    """Return the numbers that an answer is about, by what they belong to."""
    found: dict[str, Any] = {}
    for rows, fields in _ROWS.items():
        held = answer.get(rows) or ()
        for k, row in enumerate(held if isinstance(held, list) else [held]):
            if not isinstance(row, dict):
                continue
            names = [str(row[one]) for one in ("a", "b") if one in row] or [str(row.get("name", k))]
            # The other order of a pair is the same difference with the other sign.
            sign = -1 if names != sorted(names) else 1
            for one in fields:
                value = row.get(one)
                if isinstance(value, list):
                    value = sorted(sign * end for end in value if end is not None)
                elif value is not None:
                    value = sign * value
                found[f"{rows} {'-'.join(sorted(names))} {one}"] = _rounded(value)
    return found


def _rounded(value: Any) -> Any:
    if isinstance(value, list):
        return [_rounded(one) for one in value]
    return round(value, 6) if isinstance(value, float) else value
