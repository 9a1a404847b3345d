"""Which tool wrote this: told by the first bytes, or by the names inside an archive."""

from __future__ import annotations

import re
from collections.abc import Sequence

from tallystick.io.logs.log import LogFormat

__all__ = ["sniff_archive", "sniff_text"]

_OPENINGS: tuple[tuple[LogFormat, re.Pattern[str]], ...] = (
    ("lm-eval", re.compile(r'\{"doc_id":\s*\d+,.*"(doc_hash|filtered_resps|resps)"', re.DOTALL)),
    ("inspect-json", re.compile(r'\{\s*"version":\s*\d+,\s*"status":\s*"\w+",\s*"eval":\s*\{')),
    ("helm", re.compile(r'\[\s*\{[^\[]*"instance_id"[^\[]*"train_trial_index"', re.DOTALL)),
    ("openai-evals", re.compile(r'\{"spec":\s*\{[^\n]*"(completion_fns|eval_name)"')),
    (
        "promptfoo",
        re.compile(
            r'\{\s*"evalId":[^{]*"results":\s*\{\s*"version":|\{"cost":[^\n]*"gradingResult":'
        ),
    ),
)


def sniff_text(head: str) -> LogFormat | None:
    """Return which tool's log opens like this, or None.

    >>> sniff_text('{"doc_id": 0, "doc": {}, "resps": [], "doc_hash": "ab"}')
    'lm-eval'
    >>> sniff_text('{"item": 1, "gpt": 0}') is None
    True
    """
    for kind, pattern in _OPENINGS:
        if pattern.match(head):
            return kind
    return None


def sniff_archive(names: Sequence[str]) -> LogFormat | None:
    """Return which tool's log a zip archive with these names is, or None.

    >>> sniff_archive(["_journal/start.json", "samples/q1_epoch_1.json", "header.json"])
    'inspect-eval'
    """
    inside = "_journal/start.json" in names or any(name.startswith("samples/") for name in names)
    return (
        "inspect-eval"
        if inside and ("header.json" in names or "_journal/start.json" in names)
        else None
    )
