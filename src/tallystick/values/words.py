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
from collections.abc import Iterable, Mapping
from types import MappingProxyType

from tallystick.values.label import Label

__all__ = [
    "GAPS",
    "NEVER_TRUE",
    "NO_ANSWER",
    "PASS_FAIL",
    "TIES",
    "as_pass_fail",
    "as_word",
    "is_gap",
    "is_never_true",
    "is_no_answer",
    "is_tie",
]

NO_ANSWER = frozenset(
    {
        "",
        "#n/a",
        "-",
        "--",
        "<na>",
        "?",
        "abstain",
        "abstained",
        "abstention",
        "missing",
        "n/a",
        "na",
        "nan",
        "nil",
        "no answer",
        "no label",
        "no response",
        "no vote",
        "none",
        "not answered",
        "not available",
        "not labeled",
        "not labelled",
        "null",
        "skip",
        "skipped",
        "unanswered",
        "unlabeled",
        "unlabelled",
    }
)
"""Words that are written where there is no answer."""

GAPS = frozenset({"", "#n/a", "<na>", "nan", "null"})
"""The words among them that programs write into an empty cell: no label is called so."""

TIES = frozenset({"a=b", "both", "draw", "equal", "neither", "same", "tie"})
"""Words for "neither side is better": true labels in pairwise data, never true elsewhere."""

NEVER_TRUE = TIES | {
    "(unread)",
    "error",
    "invalid",
    "refusal",
    "refused",
    "timeout",
    "unknown",
    "unparsed",
    "unsure",
}
"""Votes that cannot be the true label of an item, unless the truth uses them."""

_FAMILIES: tuple[Mapping[str, float], ...] = (
    {"pass": 1.0, "fail": 0.0},
    {"passed": 1.0, "failed": 0.0},
    {"correct": 1.0, "incorrect": 0.0},
    {"correct": 1.0, "wrong": 0.0},
    {"right": 1.0, "wrong": 0.0},
    {"yes": 1.0, "no": 0.0},
    {"true": 1.0, "false": 0.0},
    {"good": 1.0, "bad": 0.0},
    {"win": 1.0, "tie": 0.5, "draw": 0.5, "loss": 0.0},
    {"win": 1.0, "tie": 0.5, "draw": 0.5, "lose": 0.0},
    {"c": 1.0, "i": 0.0},
    {"y": 1.0, "n": 0.0},
    {"t": 1.0, "f": 0.0},
    {"accept": 1.0, "reject": 0.0},
    {"accepted": 1.0, "rejected": 0.0},
    {"ok": 1.0, "not ok": 0.0},
    *(
        {yes: 1.0, no: 0.0}
        for pairs in (
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
        for yes, _, no in (pair.partition(" ") for pair in pairs.split("|"))
    ),
)

PASS_FAIL: tuple[Mapping[str, float], ...] = tuple(map(MappingProxyType, _FAMILIES))
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
