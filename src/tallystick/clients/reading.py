"""How answers are read: `exact`, `words`, `last-letter`, `regex:…` or `json:…`.

A text that cannot be read is :data:`UNREAD`: it is counted apart, never as a wrong label.
"""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache

from tallystick.clients.template import find, parse_path
from tallystick.errors import InputError
from tallystick.table.cells import LARGEST, Label, spelling

UNREAD = "(unread)"
"""What stands for an answer from which no label could be read."""

READINGS = ("exact", "words", "last-letter", "regex:PATTERN", "json:PATH")
"""The ways of reading, as they are typed."""

_FENCE = re.compile(r"```[\w-]*\n?(.*?)```", re.DOTALL)


@dataclass(frozen=True)
class AnswerReading:
    r"""One way of reading answers.

    Parameters
    ----------
    how
        ``exact``: the whole answer is the label, apart from case, markup and punctuation. As in
        ``words`` and ``last-letter``, reasoning in tags (``<think>…</think>``) is no part of it.
        ``words``: the answer states one label in a sentence. ``last-letter``: the answer reasons
        first and ends with its label. ``regex:PATTERN``: the last match (its first group if it has
        one). ``json:PATH``: a field of a JSON answer, such as ``json:$.verdict``.
    coerce
        Also accept a label in another spelling, such as 1.0 for 1.

    Examples
    --------
    >>> AnswerReading("words").label("I would call this not toxic.", ["toxic", "safe"]) is None
    True
    >>> AnswerReading("json:$.grade").label('{"grade": 4}', ["1", "2", "3", "4", "5"])
    '4'
    >>> AnswerReading("exact").label("some text", None)
    'some text'
    """

    how: str = "exact"
    coerce: bool = False

    def __post_init__(self) -> None:
        _ = self._extract  # refused now, not at the first answer

    @cached_property
    def _extract(self) -> Callable[[str], str | None]:
        """Return what takes the part of an answer that holds the label."""
        kind, colon, rest = self.how.partition(":")
        if kind in ("exact", "words", "last-letter") and not colon:
            return final_part
        if kind == "regex" and rest:
            try:
                pattern = re.compile(rest)
            except re.error as error:
                raise InputError(f"answer (--answer) regex:{rest} is not a pattern: {error}") from (
                    error
                )
            return lambda text: _last_match(pattern, text)
        if kind == "json" and rest:
            steps = parse_path(rest if rest.startswith("$") else f"$.{rest}")
            return lambda text: _json_field(text, steps)
        raise InputError(
            f"answer (--answer) must be one of {', '.join(READINGS)}, got {self.how!r}"
        )

    def code(self, text: str | None, labels: Sequence[str]) -> int:
        """Return the code of the label in *text*; ``len(labels)`` where it cannot be read."""
        part = None if text is None else self._extract(text)
        if part is None:
            return len(labels)
        if self.how == "words":
            found = stated_label(part, labels)
        elif self.how == "last-letter":
            found = last_label(part, labels)
        else:
            found = exact_label(_unfenced(part), labels)
        return same_label(part, labels) if self.coerce and found == len(labels) else found

    def label(self, text: str | None, labels: Sequence[str] | None) -> str | None:
        """Return the label in *text*, or None; without *labels* any text but a refusal is one."""
        if labels:
            code = self.code(text, labels)
            return None if code == len(labels) else labels[code]
        if self.how in ("words", "last-letter"):
            raise InputError(
                f"--answer {self.how} needs the labels to look for: name them (--labels)"
            )
        part = None if text is None else self._extract(text)
        if part is None or not part.strip():
            return None
        # A grade or a label that nobody listed is short; a refusal is no answer of either kind.
        return None if self.how != "exact" and is_refusal(part) else part.strip()


def _last_match(pattern: re.Pattern[str], text: str) -> str | None:
    found = None
    for match in pattern.finditer(text):
        found = match[1] if pattern.groups else match[0]
    return found


def _unfenced(text: str) -> str:
    """Return what a code fence holds, if the text is nothing but one."""
    match = _FENCE.fullmatch(text.strip())
    return match[1] if match else text


def _json_field(text: str, steps: Sequence[str | int]) -> str | None:
    """Return a field of the last JSON object in *text*: bare, in a code fence, or after prose."""
    candidates = [text, *_FENCE.findall(text)]
    decoder = json.JSONDecoder()
    found = None
    for piece in candidates:
        at = piece.find("{")
        while at >= 0:
            try:
                value, end = decoder.raw_decode(piece, at)
            except ValueError:
                at = piece.find("{", at + 1)
                continue
            field = find(value, steps)
            if field is not None and not isinstance(field, dict | list):
                found = _as_text(field)
            at = piece.find("{", end)
        if found is not None:
            return found
    return None


def _as_text(value: object) -> str:
    """Write true and false as JSON does, and whole numbers without a point."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value)


# From the text of an answer to a label.


_TRIM = " \t\r\n.,;:!\"'`*()[]{}_#~“”‘’…。，！：；（）「」【】"
"""What may stand around a label: blanks, punctuation, quotes and markup."""


def read_label(
    text: str | None, labels: Sequence[str], *, loose: bool = False, coerce: bool = False
) -> int:
    """Return the code of the label that *text* names; ``len(labels)`` if it names none or several.

    Parameters
    ----------
    text
        The answer; None if there was none.
    labels
        The labels.
    loose
        Also accept a sentence that states exactly one of the labels, as ``--answer words`` does.
        Negated labels and refusals are never read as labels.
    coerce
        Also accept a label in another spelling, such as 1.0 for 1 (:func:`same_label`).

    Examples
    --------
    >>> read_label(" Yes.", ["no", "yes"])
    1
    >>> read_label("The answer is yes, surely.", ["no", "yes"], loose=True)
    1
    >>> read_label("yes and no", ["no", "yes"], loose=True)
    2
    """
    if text is None:
        return len(labels)
    code = exact_label(text, labels)
    if code == len(labels) and loose:
        code = stated_label(text, labels)
    return same_label(text, labels) if coerce and code == len(labels) else code


def exact_label(text: str, labels: Sequence[str]) -> int:
    """Return the code of the label that *text* is, apart from case, markup and punctuation.

    >>> exact_label("**Yes**.", ["no", "yes"]), exact_label("-1", ["0", "1"])
    (1, 2)
    """
    exact, folded = _table(tuple(labels))
    if text.strip() in exact:
        return exact[text.strip()]
    return folded.get(text.strip(_TRIM).casefold(), len(labels))


def same_label(text: str, labels: Sequence[str]) -> int:
    """Return the code of the label that *text* spells in another way; ``len(labels)`` if there is
    none, or several.

    >>> same_label("1.0", ["0", "1"]), same_label("maybe", ["0", "1"])
    (1, 2)
    """
    return _meanings(tuple(labels)).get(_meaning(text), len(labels))


@lru_cache(maxsize=16)
def _meanings(labels: tuple[str, ...]) -> dict[Label, int]:
    found: dict[Label, int] = {}
    for j, label in enumerate(labels):
        meaning = _meaning(label)
        found[meaning] = len(labels) if meaning in found else j
    return found


def _meaning(text: str) -> Label:
    try:
        if not abs(float(text)) <= LARGEST:
            return text  # so large a number has one spelling only: its digits would fill the memory
    except ValueError:
        pass  # not a number
    return spelling(text)


@lru_cache(maxsize=16)
def _table(labels: tuple[str, ...]) -> tuple[dict[str, int], dict[str, int]]:
    exact = {label: j for j, label in enumerate(labels)}
    folded: dict[str, int] = {}
    for j, label in enumerate(labels):
        key = label.strip(_TRIM).casefold()
        # Two labels that differ by case only are read exactly or not at all.
        folded[key] = -1 if key in folded else j
    return exact, {key: j for key, j in folded.items() if j >= 0 and key}


# The part of a reply that is its answer: without the reasoning, and inside the answer's own tags.
#
# Models that reason write ``<think>…</think>`` first, and prompts often ask for
# ``<answer>…</answer>``. A label inside the reasoning is no answer.


_REASONING = re.compile(
    r"<(/?)(?:think|thinking|thought|thoughts|reasoning|reason|scratchpad|analysis|reflection)"
    r"(?:\s[^<>]{0,80})?>",
    re.IGNORECASE,
)
_ANSWER = re.compile(
    r"<(/?)((?:final[_-]?)?(?:answer|verdict|label|rating|score|grade|decision|choice|result"
    r"|output))(?:\s[^<>]{0,80})?>",
    re.IGNORECASE,
)


def final_part(text: str) -> str:
    """Return what a reply answers.

    Parameters
    ----------
    text
        The reply. Reasoning that never ends (the reply was cut off) leaves nothing. Some servers
        leave out the opening tag: then all before the closing one is reasoning.

    Examples
    --------
    >>> final_part("<think>A or B? B.</think> The answer is A.")
    'The answer is A.'
    >>> final_part("It fits. <answer>yes</answer>"), final_part("<think>maybe yes, or")
    ('yes', '')
    >>> final_part("a < b, so yes")
    'a < b, so yes'
    """
    if "<" not in text:
        return text
    rest = _without_reasoning(text)
    opened: dict[str, int] = {}
    found = None
    for tag in _ANSWER.finditer(rest):
        name = tag[2].casefold()
        if not tag[1]:
            opened[name] = tag.end()
        elif name in opened:
            found = rest[opened.pop(name) : tag.start()].strip()
    return rest if found is None else found


def _without_reasoning(text: str) -> str:
    """Return the text outside reasoning tags, in one pass over the tags."""
    kept: list[str] = []
    start, inside = 0, False
    for tag in _REASONING.finditer(text):
        if not tag[1] and not inside:
            kept.append(text[start : tag.start()])
            inside = True
        elif tag[1]:
            if not inside:
                kept.clear()  # the opening tag was left out
            start, inside = tag.end(), False
    return "".join(kept if inside else [*kept, text[start:]]).strip()


# Which label a sentence states: never one that it negates, and none in a refusal.
#
# A wrong label is worse than none: where a text can be read in two ways it stays unread.


_WRAP = r"[\s*_`\"'“”‘’(\[{$]*"
_REFUSAL = re.compile(
    r"\b(?:i(?:'|’)?m|i\s+am)\s+(?:very\s+|so\s+|really\s+)?(?:sorry|unable|afraid|not\s+able)\b"
    r"|\b(?:sorry|apologi[sz]e|apologies)\b[^.!?]{0,60}\b(?:can(?:no|'|’)t|cannot|unable|not\s+able)"
    r"|\bi\s+(?:can(?:'|’)?t|can\s*not|could\s*n(?:'|’)?t|won(?:'|’)?t|will\s+not|must\s+decline"
    r"|decline|refuse|do\s+not\s+feel\s+comfortable|don(?:'|’)t\s+feel\s+comfortable)\b"
    r"(?!\s+(?:see|find|detect|spot|think\s+of|agree|imagine|help\s+but)\b)"
    r"|\bas\s+an?\s+(?:ai|artificial|language\s+model|assistant)\b"
    r"|\b(?:unable|not\s+able|not\s+possible|impossible)\s+to\s+(?:answer|assist|help|classify"
    r"|determine|evaluate|judge|provide|rate|say|tell|comply|complete)\b"
    r"|\b(?:cannot|can(?:'|’)t|can\s+not)\s+be\s+(?:determined|classified|judged|answered)\b"
    r"|\b(?:not\s+enough|insufficient)\s+(?:information|context|detail)",
    re.IGNORECASE,
)
_NEGATION = re.compile(
    r"(?:\b(?:not|no|never|neither|nor|without|hardly|barely|cannot|nothing|isn|aren|wasn|don"
    r"|doesn|didn|won|wouldn|couldn|can)(?:['’]?t)?\b|\b(?:rather|other)\s+than\b"
    r"|\binstead\s+of\b|\b(?:wrong|mistake|unfair)\s+to\b|\b(?:rul(?:e|es|ed|ing)|eliminat(?:e|es|ed|ing)|exclud(?:e|es|ed|ing)"
    r"|reject(?:s|ed|ing)?|unlike|against|fails?\s+to\s+be|far\s+from|anything\s+but)\b)"
    r"(?:[\s*_`\"'“”‘’(]+[\w'’-]+){0,7}?[\s*_`\"'“”‘’(\[]*$",
    re.IGNORECASE,
)
_AFTER_NEGATION = re.compile(
    r"^[\s*_`\"'“”‘’)\].]*(?:(?:is|are|was|seems?|looks?|would\s+be|can\s+be)\s+"
    r"(?:also\s+|clearly\s+|definitely\s+|therefore\s+)?"
    r"(?:(?:not|never)\b|n['’]t|incorrect|wrong|false|implausible|irrelevant|out\b|ruled\s+out"
    r"|eliminated|excluded)|(?:isn|doesn|wasn|can)['’]?t\b|cannot\b|does\s+not\b|fails\b)",
    re.IGNORECASE,
)
_NOUN = (
    r"(?:answer|verdict|label|rating|score|classification|category|class|sentiment|grade|decision"
    r"|output|result|choice|response|judge?ment|winner|option|prediction|preference)"
)
_LEAD = re.compile(
    rf"(?:\b{_NOUN}{_WRAP}(?:\s+(?:here|for\s+this\s+\w+|to\s+this\s+\w+))?{_WRAP}"
    r"(?:\s*(?:is|would\s+be|should\s+be|must\s+be|remains|becomes)\b\s*:?|\s*[:=→]|\s*->|\s+[-–—]\s)"
    r"|\bi(?:['’]d|\s+would|\s+will|['’]ll)?\s+(?:therefore\s+|thus\s+|still\s+)?"
    r"(?:choose|pick|prefer|select|go\s+with|say|rate\s+(?:it|this)|grade\s+(?:it|this)|answer"
    r"|classify\s+(?:it|this)(?:\s+\w+)?\s+as|label\s+(?:it|this)(?:\s+\w+)?\s+as)\b\s*:?"
    r"|\b(?:so|thus|hence|therefore)\s*,?\s*(?:it(?:['’]s|\s+is|\s+must\s+be)|this\s+is)"
    r"|(?<!\bif )(?<!\bwhether )(?<!\bthat )\b(?:it(?:['’]s|\s+is)|(?:that|which|this)\s+leaves)"
    r"|\\boxed\s*|\\text\s*|####"
    rf"){_WRAP}(?:(?:the|a|an|option|choice|class|label|number)\b{_WRAP}){{0,2}}$",
    re.IGNORECASE,
)
_CORRECT = re.compile(
    r"^[\s*_`\"'“”‘’)\].]*(?:is|must\s+be|seems)\s+(?:therefore\s+|clearly\s+|indeed\s+)?"
    r"(?:the\s+)?(?:only\s+)?(?:correct|right|best|better|true|answer|winner|proper)\b",
    re.IGNORECASE,
)
_OUT_OF = re.compile(r"^[\s*_`]*(?:/|out\s+of)[\s*_`]*\d")
_LETTER_BEFORE = re.compile(
    r"(?:[(\[*`\"'“‘]|\b(?:option|choice|answer|letter|is|be|with|select|pick|choose|or|and)\s+"
    r"|[:=]\s*)$",
    re.IGNORECASE,
)
_LETTER_AFTER = re.compile(r"^(?:[)\]*`\"'”’.:]|\s*$)")
# "partially correct" says neither "correct" nor "incorrect".
_HEDGE = re.compile(
    r"\b(?:partial(?:ly)?|partly|half|somewhat|nearly|almost)[\s*_-]+$", re.IGNORECASE
)
_ALTERNATIVE = re.compile(
    r"[\s*_`\"'“”‘’()\[\],]*(?:/|\bor\b|\band/or\b)[\s*_`\"'“”‘’()\[\],]*"
    r"(?:(?:maybe|perhaps|possibly|even|the|option|choice|label)\b[\s*_`\"'“”‘’()\[\],]*)*",
    re.IGNORECASE,
)
_SENTENCE = re.compile(r"(?<=[.!?;])\s+|\n+|(?<=[。！？；])")
# The "no" of "there is no way to know" belongs to a noun; that of "no, because …" is an answer.
_OF_A_NOUN = re.compile(
    r"[ \t]+(?!(?:because|since|as|given|due|for|if|when|while|and|or|but|the|it|this|that|there"
    r"|they|he|she|we|i|you|in|on|with|here|at|to|by|again|too|either|overall|still)\b)[a-z]"
)
_CONDITION = re.compile(
    r"\bif\b.*\b(?:otherwise|else)\b|\bdepend(?:s|ing)\s+on\b", re.I | re.DOTALL
)
_CLOSING = re.compile(r"[\s*_`\"'“”‘’)\]}.!。！]*$")
_DENIES = re.compile(
    r"\b(?:not|never|no|neither|nor|cannot|without|wrong|false|incorrect)\b|n['’]t\b|[不非没沒無无]",
    re.IGNORECASE,
)
_DENIED = re.compile(r"\bnot\s*:[\s*_`\"'“‘(\[]*$|[不非没沒無无]\w?\s*$", re.IGNORECASE)
"""What it is not: B. In Chinese the word for not stands right before."""
_WIDE = "\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff"
"""Chinese, Japanese and Korean signs: they stand beside a letter without a space."""


@dataclass(frozen=True)
class _Mention:
    """One place where a label stands: its code, and how the words around it use it."""

    code: int
    at: int
    end: int
    stated: bool
    negated: bool


def is_refusal(text: str) -> bool:
    """Say whether a text declines to answer.

    >>> is_refusal("I'm sorry, but I can't help with that."), is_refusal("I cannot see any bias.")
    (True, False)
    """
    return _REFUSAL.search(text) is not None


def stated_label(text: str, labels: Sequence[str]) -> int:
    """Return the code of the one label that *text* states; ``len(labels)`` if there is not one.

    An explicit statement counts most ("The answer is B"), and of several the last. Otherwise the
    text must mention one label only, not negated.

    Examples
    --------
    >>> labels = ["toxic", "safe"]
    >>> [stated_label(text, labels) for text in ("It is safe.", "not toxic", "toxic or safe?")]
    [1, 2, 2]
    """
    none = len(labels)
    code = exact_label(text, labels)
    if code < none:
        return code
    mentions = list(_mentions(text, tuple(labels)))
    if (explicit := _explicit(text, labels, mentions)) is not None:
        return explicit
    if is_refusal(text):
        return none
    stated = {one.code for one in mentions if not one.negated}
    denied = {one.code for one in mentions if one.negated}
    return stated.pop() if len(stated) == 1 and not stated & denied else none


def last_label(text: str, labels: Sequence[str]) -> int:
    """Return the code of the label with which *text* ends, for answers that reason first.

    An explicit statement counts most. Otherwise the last line, or the last sentence that mentions
    labels, must name exactly one.

    Examples
    --------
    >>> last_label("A fails. B fails as well. So it must be (C).", ["A", "B", "C"])
    2
    >>> last_label("I'm sorry, I can't choose between A and B.", ["A", "B", "C"])
    3
    """
    none = len(labels)
    lines = [line for line in text.splitlines() if line.strip()]
    if lines and (code := exact_label(lines[-1], labels)) < none:
        return code
    mentions = list(_mentions(text, tuple(labels)))
    if (explicit := _explicit(text, labels, mentions)) is not None:
        return explicit
    if is_refusal(text):
        return none

    ends = [match.start() for match in _SENTENCE.finditer(text)] + [len(text)]
    last: set[int] = set()
    start = 0
    for end in ends:
        here = {one.code for one in mentions if start <= one.at < end and not one.negated}
        last, start = here or last, end
    # "B. It makes energy, whereas option A …": the answer may be the one that opens the text.
    opening = {one.code for one in mentions[:1] if not one.negated and _opens(text, one.at)}
    return last.pop() if len(last) == 1 and opening <= last else none


def _explicit(text: str, labels: Sequence[str], mentions: Sequence[_Mention]) -> int | None:
    """Return the label that a text states in so many words, of several the last; None if none.

    ``len(labels)`` says that it states a condition or two answers: "A if the gas is ideal,
    otherwise B", "A or B".
    """
    none = len(labels)
    stated = [one for one in mentions if one.stated and not one.negated]
    if stated:
        if _is_alternative(text, mentions, stated[-1]):
            return none
        at = stated[-1].at
        start = max((m.end() for m in _SENTENCE.finditer(text) if m.end() <= at), default=0)
        end = min((m.start() for m in _SENTENCE.finditer(text) if m.start() > at), default=None)
        return none if _CONDITION.search(text[start:end]) else stated[-1].code

    # "Negative. Although …": a first sentence that is a label, and not the head of a list of them.
    heads = [exact_label(part, labels) for part in _SENTENCE.split(text) if part.strip()]
    named = [code for code in heads if code < none]
    return heads[0] if len(heads) > 1 and heads[0] < none and len(named) == 1 else None


def _is_alternative(text: str, mentions: Sequence[_Mention], one: _Mention) -> bool:
    """Say whether "or" joins a label to another one.

    >>> last_label("The answer is A or B.", ["A", "B"])
    2
    """
    place = list(mentions).index(one)
    neighbours = [*mentions[max(place - 1, 0) : place], one, *mentions[place + 1 : place + 2]]
    return any(
        left.code != right.code and _ALTERNATIVE.fullmatch(text[left.end : right.at]) is not None
        for left, right in itertools.pairwise(neighbours)
    )


def _opens(text: str, at: int) -> bool:
    """Say whether nothing but markup stands before this place."""
    return not text[:at].strip(" \t\r\n*_`\"'“‘([{#>")


def _mentions(text: str, labels: tuple[str, ...]) -> Iterator[_Mention]:
    """Yield every place where a label stands as a word of its own, in order."""
    words, codes = _pattern(labels)
    for match in words.finditer(text):
        before, after = text[max(0, match.start() - 90) : match.start()], text[match.end() :][:60]
        word = match[0]
        code = codes.get(word, codes.get(word.casefold(), -1))
        if code < 0:
            continue
        lead = _LEAD.search(before) is not None or _closes(text[: match.start()], after)
        if word.casefold() == "no" and not lead and _OF_A_NOUN.match(after):
            continue
        letter = len(word) == 1 and word.isalpha()
        # "a" and "I" are words: a letter is a label only where it is written as one.
        if letter and not (
            word == labels[code] and (lead or _is_option(before, after) or _CORRECT.match(after))
        ):
            continue
        if word.isdigit() and (_SCALE.search(before) or _SCALE_FROM.match(after)):
            continue  # the 5 of "4 out of 5", and both ends of "from 1 to 5"
        clause = re.split(r"[.!?;:\n]|,\s*(?:but|so|hence|and|it|this)\b|\bbut\b", before)[-1]
        negated = bool(_NEGATION.search(clause)) or bool(_AFTER_NEGATION.match(after))
        negated = negated or bool(_DENIED.search(before)) or bool(_HEDGE.search(before))
        stated = lead or bool(_CORRECT.match(after)) or bool(_OUT_OF.match(after))
        yield _Mention(code, match.start(), match.end(), stated, negated)


_SCALE_FROM = re.compile(r"\s*(?:-|–|to)\s*\d")
_SCALE = re.compile(r"(?:\d\s*/|\d\s*[*_`]*\s+out\s+of|\b\d\s*(?:-|–|to)|scale\s+of)\s*$", re.I)


def _closes(before: str, after: str) -> bool:
    """Say whether a label is all that follows the last colon of a text that denies nothing there.

    >>> _closes("Choosing between yes and no: ", "."), _closes("What it is not: ", "")
    (True, False)
    """
    if not _CLOSING.fullmatch(after) or not re.search(r":[\s*_`\"'“‘(\[]*$", before):
        return False
    sentence = re.split(r"[.!?;\n]", before.rpartition(":")[0])[-1]
    named = re.sub(r"\b(?:yes|no)(?:\s*(?:,|/|and|or)\s*(?:yes|no))+\b", "", sentence, flags=re.I)
    return not _DENIES.search(named)


def _is_option(before: str, after: str) -> bool:
    """Say whether a single letter is written as an option: (C), C., option C."""
    if before == "" or before.endswith("\n"):
        return bool(re.match(r"[).:*\]]|\s*$|\s*(?:and|or)\s+[A-Z]\b", after))
    if re.search(rf"[{_WIDE}：]\s*$", before):
        return True  # a letter in Chinese or Japanese is no article
    if re.search(r"\b(?:option|choice|letter)s?\s+$|[(\[*`\"“‘]$", before, re.IGNORECASE):
        return True
    if re.search(r"\b[A-Z]\s+(?:and|or)\s+$", before):
        return True  # the B of "A and B"
    if _LETTER_BEFORE.search(before):
        return bool(
            _LETTER_AFTER.match(after) or re.match(r"\s*(?:,|;|and|or|because|since)", after)
        )
    return bool(re.match(r"\)|\s*(?:and|or)\s+[A-Z]\b", after))


@lru_cache(maxsize=16)
def _pattern(labels: tuple[str, ...]) -> tuple[re.Pattern[str], dict[str, int]]:
    """Return what finds labels, the longest first, and the code of each spelling."""
    codes: dict[str, int] = {}
    for j, label in enumerate(labels):
        folded = label.casefold()
        # Two labels that differ by case only have no folded spelling.
        codes[folded] = -1 if folded in codes else j
    codes |= {label: j for j, label in enumerate(labels)}
    longest = "|".join(map(re.escape, sorted(labels, key=len, reverse=True)))
    # Not inside a word, a hyphenated word ("non-toxic"), or a number ("-1", "1.5", "10 %").
    # Chinese and Japanese have no spaces, so their signs may touch a label of Latin letters.
    wide = f"{_WIDE}" if all(label.isascii() for label in labels) else ""
    word = rf"[^\W{wide}]|-"
    pattern = rf"(?<!{word})(?<!\d\.)(?:{longest})(?!{word})(?!\.\d)(?!\s*%)"
    return re.compile(pattern, re.IGNORECASE), codes
