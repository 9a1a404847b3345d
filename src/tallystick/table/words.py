"""Words with a meaning: for no answer, for right and wrong, and for votes that can never be true.

Two ideas are kept apart everywhere. *No answer* (``NO_ANSWER``) means that there is no vote: the
cell is missing. *Never true* (``NEVER_TRUE``) is a vote, such as ``tie`` or ``refused``, that
cannot be the true label of an item unless the truth itself uses it.

These are the only lists of such words. Case, blanks, hyphens and underscores between words do not
matter: ``No_Answer`` is ``no answer``.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache, partial
from types import MappingProxyType

from tallystick.table.cells import NUMBER, Label, spelling

NO_ANSWER = frozenset(
    {
        *("", "#n/a", "-", "--", "<na>", "?", "n/a", "na", "nan", "nil", "none", "null", "missing"),
        *("abstain", "abstained", "abstention", "skip", "skipped", "unanswered", "not answered"),
        *("no answer", "no label", "no response", "no vote", "not available"),
        *("not labeled", "not labelled", "unlabeled", "unlabelled"),
    }
)
"""Words that are written where there is no answer."""

GAPS = frozenset({"", "#n/a", "<na>", "nan", "null"})
"""The words among them that programs write into an empty cell: no label is called so."""

TIES = frozenset({"a=b", "both", "draw", "equal", "neither", "same", "tie"})
"""Words for "neither side is better": true labels in pairwise data, never true elsewhere."""

NEVER_TRUE = TIES | {
    *("(unread)", "error", "invalid", "refusal", "refused", "timeout", "unknown", "unparsed"),
    "unsure",
}
"""Votes that cannot be the true label of an item, unless the truth uses them."""

_PAIRS = (
    "pass fail|passed failed|correct incorrect|correct wrong|right wrong|yes no|true false",
    "good bad|win loss|win lose|c i|y n|t f|accept reject|accepted rejected|ok not_ok|up down",
    "✅ ❌|✓ ✗|✔ ✘|✔ ✖|☑ ☒|👍 👎",
    "ja nein|richtig falsch|wahr falsch|korrekt inkorrekt|gut schlecht",  # German
    "oui non|vrai faux|correct faux|bon mauvais|réussi échoué",  # French
    "sí no|si no|verdadero falso|correcto incorrecto|bien mal",  # Spanish
    "sì no|vero falso|corretto sbagliato|giusto sbagliato",  # Italian
    "sim não|sim nao|verdadeiro falso|certo errado|correto incorreto",  # Portuguese
    "ja nee|waar onwaar|goed fout|juist onjuist",  # Dutch
    "ja nej|rätt fel|sant falskt|riktig feil|rigtig forkert",  # Nordic
    "tak nie|prawda fałsz|evet hayır|doğru yanlış",  # Polish, Turkish
    "да нет|верно неверно|правильно неправильно|истина ложь",  # Russian
    "是 否|对 错|正确 错误|正確 錯誤",  # Chinese
    "はい いいえ|正解 不正解|예 아니오|맞음 틀림",  # Japanese, Korean
)
_HALF = {"tie": 0.5, "draw": 0.5}
"""What a win and a loss stand beside."""

PASS_FAIL: tuple[Mapping[str, float], ...] = tuple(
    MappingProxyType({yes: 1.0, **(_HALF if yes == "win" else {}), no.replace("_", " "): 0.0})
    for yes, _, no in (pair.partition(" ") for pairs in _PAIRS for pair in pairs.split("|"))
)
"""Families of words for right and wrong, with the number that each word stands for."""

# How an emoji looks, in colour or in which skin, does not change what it says.
_LOOKS = re.compile("[\ufe0e\ufe0f\U0001f3fb-\U0001f3ff]")

# Between two letters or digits a hyphen or an underscore is a blank; a lone "-" is a word itself.
_JOINED = re.compile(r"(?<=[^\W_])[\s_-]+(?=[^\W_])")


def as_word(label: Label) -> str | None:
    """Return a text label as its plain word; None for numbers, which are no words.

    >>> as_word(" No_Answer "), as_word("N/A"), as_word("--"), as_word(True), as_word(0)
    ('no answer', 'n/a', '--', 'true', None)
    """
    if isinstance(label, bool):
        return str(label).lower()
    if not isinstance(label, str):
        return None
    word = _JOINED.sub(" ", label.strip().casefold())
    return word if word.isascii() else _LOOKS.sub("", unicodedata.normalize("NFC", word))


def is_no_answer(label: Label) -> bool:
    """Say whether *label* is written like no answer at all; a missing one is not written.

    >>> [is_no_answer(label) for label in ("NA", "Not-Labeled", "no", "unknown", -1)]
    [True, True, False, False, False]
    """
    return as_word(label) in NO_ANSWER


def is_gap(label: Label) -> bool:
    """Say whether *label* is what a program writes into an empty cell.

    >>> [is_gap(label) for label in ("NaN", "null", "None", "skip")]
    [True, True, False, False]
    """
    return as_word(label) in GAPS


def is_tie(label: Label) -> bool:
    """Say whether *label* is a word for a tie.

    >>> is_tie("Tie"), is_tie("a")
    (True, False)
    """
    return as_word(label) in TIES


def is_never_true(label: Label) -> bool:
    """Say whether *label* is, by its name, a vote that cannot be the truth.

    >>> is_never_true("Refused"), is_never_true("tie"), is_never_true("spam")
    (True, True, False)
    """
    return as_word(label) in NEVER_TRUE


def number_of(label: Label) -> float | None:
    """Return a cell as a number, None if it is not one."""
    if isinstance(label, bool):
        return float(label)
    if isinstance(label, int | float):
        return float(label) if abs(label) < float("inf") else None
    text = str(label).strip()
    return float(text) if NUMBER.fullmatch(text) else None


def as_pass_fail(labels: Iterable[Label]) -> Mapping[Label, float] | None:
    """Return the number of each label if one family of words for right and wrong explains them all.

    Missing labels are left out. One word of a family is enough (every answer may be right), except
    for the single letters C and I, which are also the names of choices. Numbers are not words: 0
    and 1 need no explanation.

    Examples
    --------
    >>> as_pass_fail(["Pass", "fail", None])
    {'Pass': 1.0, 'fail': 0.0}
    >>> as_pass_fail(["win", "tie", "loss"])
    {'win': 1.0, 'tie': 0.5, 'loss': 0.0}
    >>> as_pass_fail(["richtig", "falsch"]), as_pass_fail(["✅", "❌"])
    ({'richtig': 1.0, 'falsch': 0.0}, {'✅': 1.0, '❌': 0.0})
    >>> as_pass_fail([True, False])
    {True: 1.0, False: 0.0}
    >>> as_pass_fail(["pass", "maybe"]), as_pass_fail(["a", "b", "tie"]), as_pass_fail(["C"])
    (None, None, None)
    """
    known = {label: as_word(label) for label in labels if label is not None}
    said = set(known.values())
    for family in PASS_FAIL:
        # A tie alone says nothing about who wins, and a letter alone may be the name of a choice.
        decisive = {word for word, number in family.items() if number != 0.5}
        letters = all(len(word) == 1 and word.isascii() for word in family)
        enough = len(said) > 1 if letters else bool(said & decisive)
        if enough and said <= family.keys():
            return {label: family[word] for label, word in known.items() if word is not None}
    return None


# Cells in which a script wrote that a call failed: ``Error: 429``, ``timeout``, ``rate limit``.
#
# Nobody answered there. Counted as a wrong answer, an hour of rate limits looks like a model that
# got worse.


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


# Right and wrong written in two ways, such as 0, 1, no and yes: mostly two files put together.


def two_vocabularies(labels: Iterable[Label]) -> tuple[str, str] | None:
    """Return two pairs of words for right and wrong that are both among *labels*, None for one.

    >>> two_vocabularies([0, 1, "no", "yes"])
    ('0 and 1', 'no and yes')
    >>> two_vocabularies(["no", "yes", "maybe"]) is None
    True
    """
    spoken = [label for label in labels if label is not None]
    words = {as_word(label) for label in spoken}
    # Single letters are names of choices too.
    pairs = [
        set(family)
        for family in PASS_FAIL
        if len(family) == 2 and words >= family.keys() and all(len(word) > 1 for word in family)
    ]
    if not {"true", "false"} & words and {0, 1} <= {spelling(label) for label in spoken}:
        pairs.insert(0, {"0", "1"})
    for pair in pairs[1:]:
        if not pair & pairs[0]:
            return " and ".join(sorted(pairs[0])), " and ".join(sorted(pair))
    return None


# When something happened, as people write it: numbers, ISO dates, 20/11/2023, Nov 20, 2023.
#
# Dates sorted as text are in the wrong order (02/12 comes before 30/11), and nothing shows it. So a
# column is read as times in one format, or not at all.


_CLOCKS = ("", " %H:%M", " %H:%M:%S", " %H:%M:%S.%f", " %I:%M %p", " %I:%M:%S %p")
_CLEAR = (
    *("%Y/%m/%d", "%Y.%m.%d", "%Y-%m-%d", "%Y/%m", "%Y.%m", "%Y-%m"),
    *("%d %b %Y", "%d %B %Y", "%d-%b-%Y", "%b %d %Y", "%B %d %Y"),
)
"""Dates whose day and month cannot be confused, without commas and names of days."""
_BY_DAY = tuple(f"%d{sign}%m{sign}{year}" for sign in "/.-" for year in ("%Y", "%y"))
# 20.11.2023 is never written with the month first.
_BY_MONTH = tuple(f"%m{sign}%d{sign}{year}" for sign in "/-" for year in ("%Y", "%y"))
_NAME_OF_DAY = re.compile(r"^[A-Za-z]+,\s*(?=\d)")
_ZONE = re.compile(r"\s*(?:UTC|GMT|Z)$")
_LETTERS = re.compile(r"[^\W\d_]{2,}")


@dataclass(frozen=True, kw_only=True)
class Times:
    """A column of times.

    Parameters
    ----------
    seconds
        One number per cell, in order of time; None where the column was not read.
    dated
        Whether each number is a date (seconds since 1970) and not a bare number or a clock.
    note
        Why the cells were not read; empty if they were.
    """

    seconds: tuple[float, ...] | None
    dated: bool = False
    note: str = ""


def read_times(words: Sequence[str]) -> Times:
    """Read a column of times; one format for all cells.

    Parameters
    ----------
    words
        The cells as they are written, in the order of the rows.

    Examples
    --------
    >>> a, b = read_times(["30/11/2023", "02/12/2023"]).seconds
    >>> a < b
    True
    >>> read_times(["03/04/2024", "04/04/2024"]).note
    "'03/04/2024' can be day/month or month/day: write dates as 2024-03-31"
    """
    cells = [str(word).strip() for word in words]
    # ISO first, because it knows time zones.
    for way in (_number, lambda cell: _iso(cell) or _date(cell, _CLEAR), _clock):
        if (found := _read_all(way, cells)) is not None:
            return Times(seconds=found, dated=way not in (_number, _clock))
    by_day, by_month = (
        _read_all(partial(_date, formats=formats), cells) for formats in (_BY_DAY, _BY_MONTH)
    )
    if by_day is None and by_month is None:
        note = "not all cells are times in one writing: write dates as 2024-03-31"
        return Times(seconds=None, note=note)
    if by_day is None or by_month is None or by_day == by_month:
        return Times(seconds=by_day or by_month, dated=True)
    note = f"{cells[0]!r} can be day/month or month/day: write dates as 2024-03-31"
    return Times(seconds=None, note=note)


def _read_all(way: Callable[[str], float | None], cells: Sequence[str]) -> tuple[float, ...] | None:
    """Return every cell as a number, None if one of them cannot be read in this way."""
    found = []
    for cell in cells:
        value = way(cell)
        if value is None:
            return None
        found.append(value)
    return tuple(found)


def _number(cell: str) -> float | None:
    try:
        return float(cell)
    except ValueError:
        return None


def _iso(cell: str) -> float | None:
    try:
        value = datetime.fromisoformat(cell)
    except ValueError:
        return None
    return (value if value.tzinfo else value.replace(tzinfo=UTC)).timestamp()


def _date(cell: str, formats: Sequence[str]) -> float | None:
    """Return the seconds of a date with or without a clock, None if no format fits."""
    plain = _ZONE.sub("", _NAME_OF_DAY.sub("", cell)).replace(".m.", "m").replace(",", " ")
    words = re.sub(r"(?<=\d)T(?=\d)|\s+", " ", plain).replace("Sept ", "Sep ").strip()
    words = re.sub(r"(?<=[a-z])\. ", " ", words)  # Nov. 20
    # Each format compiles a pattern, so what has words that no date has is told at once.
    if not {word.lower() for word in _LETTERS.findall(words)} <= _words_of_dates():
        return None
    for form in (date + clock for date in formats for clock in _CLOCKS):
        try:
            return datetime.strptime(words, form).replace(tzinfo=UTC).timestamp()
        except ValueError:
            continue
    return None


@lru_cache(maxsize=1)
def _words_of_dates() -> frozenset[str]:
    import calendar

    return frozenset(map(str.lower, (*calendar.month_name, *calendar.month_abbr, "am", "pm")))


def _clock(cell: str) -> float | None:
    """Return the seconds of a clock without a date; its hours may go beyond a day."""
    found = re.fullmatch(r"(\d{1,2}):(\d{2})(?::(\d{2}(?:\.\d+)?))?", cell)
    if found is None:
        return None
    return 3600.0 * int(found[1]) + 60 * int(found[2]) + float(found[3] or 0)
