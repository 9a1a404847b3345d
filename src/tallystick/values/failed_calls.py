"""Cells in which a script wrote that a call failed: ``Error: 429``, ``timeout``, ``rate limit``.

Nobody answered there. Counted as a wrong answer, an hour of rate limits looks like a model that got
worse.
"""

from __future__ import annotations

import re

from tallystick.values.label import Label

__all__ = ["is_failed_call"]

_STATUS = r"(?:40[0-9]|4[12]\d|429|50\d|52\d)"
_NAMED = (
    r"rate[\s_-]*limit(?:ed|s|[\s_-]*(?:exceeded|reached|error))?|too many requests|"
    r"time[\s_-]*d?[\s_-]*out(?:[\s_-]*error)?|(?:read|connect|connection|gateway|request)[\s_-]*time[\s_-]*out|"
    r"connection[\s_-]*(?:error|reset|refused|aborted|closed|failed)|service unavailable|"
    r"internal server error|bad gateway|(?:server|model|engine)?[\s_-]*(?:is )?overloaded(?:[\s_-]*error)?|"
    r"(?:insufficient[\s_-]*)?quota(?:[\s_-]*exceeded)?|unauthorized|forbidden|"
    r"(?:api|http|server|network|request|call|client|parse|runtime)[\s_-]*(?:error|failed|failure|exception)|"
    r"no response from (?:api|server)"
).replace(" ", r"\s+")
_FAILED = re.compile(
    rf"""^[\s"'<\[(#]*(?:
        (?:(?:api|http|openai|anthropic|request|call)[\s_-]*)?(?:error|err|exception|failed|failure)
            (?:\s*code)?\s*[:=#\-(\[]?\s*{_STATUS}\b.*
      | (?:api|http|openai|anthropic)?[\s_-]*(?:error|exception)\s*[:\-]\s*(?:{_NAMED})\b.*
      | (?:http|status)(?:[\s_-]*(?:status|code|error))*[\s:=/\-]*(?:1\.[01]\s+)?{_STATUS}\b.*
      | {_STATUS}\s*[:\-]?\s+(?:{_NAMED}|client\ error|server\ error|not\ found|bad\ request)\b.*
      | (?:\w+\.)*\w*(?:RateLimit|Timeout|Connection|APIStatus|API|HTTP|HTTPStatus|ServiceUnavailable
            |InternalServer|Overloaded|JSONDecode)\w*(?:Error|Exception)\b.*
      | (?:read|connect)timeout\b.*
      | traceback\ \(most\ recent.*
      | (?:{_NAMED})(?:\s*[:(\-,].*)?
      | (?:error|err|exception|failed|call\ failed)
      )[\s"'>\])!.]*$""",
    re.IGNORECASE | re.VERBOSE | re.DOTALL,
)
_LONGEST = 2_000


def is_failed_call(cell: Label) -> bool:
    """Say whether *cell* reports that a call failed, and holds no answer.

    Examples
    --------
    >>> [is_failed_call(text) for text in ("Error: 429", "timeout", "HTTP 503", "RateLimitError: slow down")]
    [True, True, True, True]
    >>> [is_failed_call(text) for text in ("positive", "429", "The request timed out, so: B", "refused")]
    [False, False, False, False]
    """
    return isinstance(cell, str) and len(cell) <= _LONGEST and bool(_FAILED.match(cell))
