"""Which label a reply in free text states: better none than a wrong one.

A label counts where it stands as an answer: as the whole reply, its last line or its first
sentence, after "answer:", in bold or in a box, or in a closed set of sentences ("the verdict is A",
"I choose B", "the comment is safe"). Anywhere else it is a word like any other: an adjective ("the
correct answer is 12"), a quotation, one of two that are weighed, or the object of a denial, which
ten languages write in a hundred ways. What is no statement here is left unread, so a denial needs
no list of negations in every language.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

TRIM = " \t\r\n.,;:!\"'`*()[]{}_#~$“”‘’«»…。،۔।，！：；（）「」【】"
"""What may stand around a label: blanks, punctuation, quotes and markup."""

_PICTURES = re.compile(r"[\u2600-\u27bf\ufe0f\U0001f300-\U0001faff]+")
_JOINED = re.compile(r"(?<=[^\W\d])[-_](?=[^\W\d])")
_SPACES = re.compile(r"\s+")
_AROUND_SIGN = re.compile(r"\s*([<>=])\s*")
_WHOLE = re.compile(r"(-?)0*(\d+)(?:\.0+)?")


def label_key(text: str) -> str:
    """Return what two spellings of one label have in common.

    Case, markup around it, ``_`` and ``-`` between words, blanks around ``>``, leading zeros and a
    decimal ``.0`` make no difference.

    >>> label_key("**Technical_Issue**."), label_key("A>B"), label_key("04.0")
    ('technical issue', 'a > b', '4')
    >>> label_key("-1"), label_key("0.5")
    ('-1', '0.5')
    """
    plain = _PICTURES.sub(" ", unicodedata.normalize("NFKC", text)).strip(TRIM)
    plain = plain.removeprefix(">").strip(TRIM)  # a quotation in Markdown
    words = _SPACES.sub(" ", _JOINED.sub(" ", plain)).casefold()
    words = _AROUND_SIGN.sub(r" \1 ", words).strip()
    number = _WHOLE.fullmatch(words)
    return f"{number[1]}{number[2]}" if number else words


def whole_label(text: str, labels: Sequence[str]) -> int:
    """Return the code of the label that *text* is; ``len(labels)`` if it is none of them.

    >>> whole_label("**Yes**.", ["no", "yes"]), whole_label("-1", ["0", "1"])
    (1, 2)
    >>> whole_label("4/5", ["1", "2", "3", "4", "5"]), whole_label("Option b", ["a", "b"])
    (3, 1)
    """
    words = _words(tuple(labels))
    if text.strip() in words.exact:
        return words.exact[text.strip()]
    key = label_key(text)
    if key in words.keys:
        return words.keys[key]
    bare = _KIND_OF.sub("", key, count=1).strip(TRIM)
    if words.top is not None:
        bare = re.sub(
            rf"\s*(?:(?:/|out of)\s*{re.escape(words.top)})?$",
            "",
            re.sub(r"^(\d+)\s+stars?$", r"\1", bare),
        )
    return words.keys.get(label_key(bare), len(labels)) if bare != key else len(labels)


def stated_label(text: str, labels: Sequence[str]) -> int:
    r"""Return the code of the one label that *text* states; ``len(labels)`` if there is not one.

    Examples
    --------
    >>> labels = ["toxic", "safe"]
    >>> [stated_label(text, labels) for text in ("It is safe.", "not toxic", "toxic or safe?")]
    [1, 2, 2]
    >>> stated_label("A has a bug in line 3.\n\nVerdict: B", ["A", "B"])
    1
    """
    none = len(labels)
    code = whole_label(text, labels)
    if code < none:
        return code
    plain = _PICTURES.sub(" ", first_answer(text, labels))
    lines = [line.strip() for line in plain.splitlines() if line.strip()]
    if not lines:
        return none
    opening = _opening(lines, labels)
    code = whole_label(_SENTENCE.split(lines[-1])[-1], labels)
    if code == none:
        code = _declared(lines, labels)
    if code == none:
        # "unsafe" on a line of its own, and a category below; two such lines are a list.
        alone = {whole_label(line, labels) for line in lines} - {none}
        code = alone.pop() if len(alone) == 1 else none
    if code == none:
        # "Relevance: irrelevant", whatever the title, where the label is a word of its own.
        titled = {
            _code(one["label"], _words(tuple(labels))) for one in map(_TITLE_OF.match, lines) if one
        }
        code = titled.pop() if len(titled - {-1}) == len(titled) == 1 else none
    if code == none:
        return opening
    # "Yes. … Answer: no" says two things.
    return none if opening not in (none, code) else code


def first_answer(text: str, labels: Sequence[str]) -> str:
    r"""Return the first answer of a base model that runs on into a question of its own.

    >>> first_answer("yes\n\nQuestion: Is water dry?\nAnswer: no", ["yes", "no"])
    'yes'
    """
    first, _, rest = text.lstrip().partition("\n")
    if _NEXT_QUESTION.search(rest) is None:
        return text
    answered = min(whole_label(first, labels), _declared([first.strip()], labels))
    return first if answered < len(labels) else text


@dataclass(frozen=True)
class _Words:
    """The spellings of a set of labels, and what finds them in statements."""

    exact: dict[str, int]
    keys: dict[str, int]
    top: str | None
    marks: tuple[re.Pattern[str], ...]
    sentences: tuple[re.Pattern[str], ...]
    beaten: re.Pattern[str]
    any: re.Pattern[str]


def _opening(lines: Sequence[str], labels: Sequence[str]) -> int:
    """Return the label with which a reply begins: "No, it does not.", "B. Mitochondria"."""
    none, words = len(labels), _words(tuple(labels))
    first = _FIRST_SENTENCE.match(lines[0])
    code = none
    if first is not None and "?" not in first[0] and not _CHOICE.match(lines[0][first.end() :]):
        code = whole_label(first[0], labels)
    head = _HEADING.match(lines[0]) if code == none else None
    if head is not None and (head["mark"] != "," or head["label"].casefold() in ("yes", "no")):
        # "Correct: the derivation holds", unless what follows weighs another label.
        others = {_code(one[0], words) for one in words.any.finditer(" ".join(lines)[head.end() :])}
        head_code = whole_label(head["label"], labels)
        code = none if others - {head_code, -1} else head_code
    # "A. Mars / B. Jupiter" lists the options; "B. Mitochondria" alone is an answer.
    heads = {
        whole_label(one[0], labels)
        for line in lines[1:]
        if (one := _FIRST_SENTENCE.match(line)) is not None and one.end() < len(line)
    }
    return none if heads - {code, none} else code


def _declared(lines: Sequence[str], labels: Sequence[str]) -> int:
    """Return the label of the statements in so many words; of several the one on the last line."""
    none = len(labels)
    words = _words(tuple(labels))
    found: list[tuple[int, int]] = []  # (line, code)
    for number, line in enumerate(lines):
        for sentence in _SENTENCE.split(unicodedata.normalize("NFKC", line)):
            # What is supposed or depends on something is not said.
            patterns = words.marks
            if not _CONDITION.search(sentence):
                patterns = (*patterns, *words.sentences)
            for pattern in patterns:
                for match in pattern.finditer(sentence):
                    if pattern in words.sentences and _is_denied(sentence, match, words):
                        continue
                    if not _followed_by_another(sentence[match.end() :], match, words):
                        found.append((number, _code(match["label"], words)))
    codes = {code for _, code in found}
    if len(codes) > 1:
        # "Criterion 1: fail … Final verdict: pass": the last line decides, unless it says two.
        codes = {code for number, code in found if number == found[-1][0]}
        if found[-1][0] != len(lines) - 1:
            return none
    return codes.pop() if len(codes) == 1 else none


def _is_denied(sentence: str, match: re.Match[str], words: _Words) -> bool:
    """Say whether the clause up to the label denies or doubts it."""
    clause = _CLAUSE.split(sentence[: match.start("label")])[-1]
    said = sentence[match.start() : match.start("label")]
    return _DOUBT.search(words.any.sub("", max(clause, said, key=len))) is not None


def _followed_by_another(rest: str, match: re.Match[str], words: _Words) -> bool:
    """Say whether another label, a choice or a question follows: "A or B", "A, B", "A?"."""
    if words.beaten.match(rest):  # "A, not B", "A over B"
        return False
    if _CHOICE.match(rest) or "?" in rest[:60].partition(".")[0]:
        return True
    return any(
        _code(one[0], words) != _code(match["label"], words)
        for one in words.any.finditer(rest)
        if len(one[0]) > 1 or one[0].isdigit() or one[0] != one[0].lower()
    ) and not _EXPLAINED.match(rest)


def _code(text: str, words: _Words) -> int:
    """Return the code of a label that a pattern found."""
    return words.exact.get(text, words.keys.get(label_key(text), -1))


@lru_cache(maxsize=16)
def _words(labels: tuple[str, ...]) -> _Words:
    exact = {label: j for j, label in enumerate(labels)}
    keys: dict[str, int] = {}
    for j, label in enumerate(labels):
        # Two labels that differ by case only are read exactly or not at all.
        keys[label_key(label)] = -1 if label_key(label) in keys else j
    keys = {key: j for key, j in keys.items() if j >= 0 and key}
    # "It passes" says what "pass" does.
    forms = {form: keys[verb] for verb, *more in _FORMS if verb in keys for form in more}
    keys = forms | keys

    numbers = [label for label in labels if label.isdigit()]
    top = max(numbers, key=int) if len(numbers) == len(labels) else None
    longest = sorted({*labels, *forms}, key=len, reverse=True)
    one = "|".join(_spelled(label) for label in longest) or r"(?!)"
    decimal = r"(?:\.0+)?(?!\.?\d)" if top is not None else r"(?![\w-]|\.\d|\s*%)"
    label = rf"(?P<label>(?:(?<![\w.-])|(?<=[是为為は]))(?:{one}){decimal})"
    of_top = rf"(?:\s*(?:/|out\s+of)\s*{top}\b)?" if top is not None else ""
    wrapped = rf"{_WRAP}{label}"
    kind = r"(?:option|response|answer|assistant|choice|an?|la|le)"
    value = rf"{_WRAP}(?:{kind}\s+)?{wrapped}{of_top}"
    others = rf"(?:an?\s+)?{_WRAP}(?:{one})(?:\s+one)?{_STOP}"
    beaten = rf"[\s*_`\"'”’)\]]*(?:,?\s+not|\s+over|\s+rather\s+than|\s*>)\s+(?:{kind}\s+)?{others}"
    end, alone = (rf"(?:(?={beaten})|{mark})" for mark in (_END, _ALONE))
    lead = rf"(?:{_LEAD}[\s,:]+)*"
    will = r"(?:['’]d|['’]ll|['’]m\s+going(?=\s+with)|\s+would|\s+will|\s+must|\s+have\s+to)?"

    def patterns(*texts: str) -> tuple[re.Pattern[str], ...]:
        return tuple(re.compile(text, re.IGNORECASE) for text in texts)

    return _Words(
        exact=exact,
        keys=keys,
        top=top,
        marks=patterns(
            rf"{_TITLED}\s*(?:=>|->|[:=→]|—|–|\s-\s)\s*{value}"
            rf"(?:{_END}|\s+(?:wins|is\s+(?:the\s+)?{_BEST})\b)",
            rf"\*\*\s*{value}\s*[.!]?\s*\*\*(?=\s*[.!]?\s*$|\s+(?:is|as)\s+(?:the\s+)?{_BEST}\b)",
            rf"\*\*\s*{label}\s*[.):]\s+[^*]+\*\*\s*$",
            rf"\\boxed\s*\{{\s*(?:\\text\s*\{{)?\s*{label}\s*\}}",
            rf"\[\[\s*{label}\s*\]\]",
            rf"\[RESULT\]\s*{label}\s*$",
            rf"[\"'](?:{ANSWER_WORDS})[\"']\s*:\s*[\"']?{label}[\"']?\s*[,}}]",
        ),
        sentences=patterns(
            rf"{_HEAD}\s*{_IS}\s*:?\s*(?:{_SURELY}\s+)?{value}(?:で|$|{end})",
            rf"\bi{will}\s+(?:{_SO}\s+)?{_CHOOSE}\s*:?\s*{value}{end}",
            rf"^{value}(?={beaten})",
            rf"\b(?:my\s+vote\s+goes\s+to|that\s+leaves(?:\s+only)?)\s+{value}{_STOP}",
            rf"^{lead}(?:it|this|that|the|response|answer)(?:\s+[\w'’]+){{0,5}}?"
            rf"(?:['’]s|\s+(?:is|was|belongs\s+(?:to|in|under)|deserves|gets|earns|receives"
            rf"|reads\s+as|should\s+be\s+(?:routed|filed|classified|labell?ed|marked|rated)"
            rf"(?:\s+(?:to|under|as))?:?))\s+"
            rf"(?:(?:{_SURELY}|very|an?|clear)\s+)*{wrapped}"
            rf"(?:\s+(?:{_ITEM}|overall|from\s+me))?{alone}",
            rf"^{lead}(?:it|this|the\s+\w+)\s+{wrapped}"
            rf"(?:\s+the\s+(?:check|test|rubric|criteria|requirements?))?{_ALONE}",
            rf"^{lead}(?:this|the)\s+{_ITEM}\s+(?:expresses|conveys|shows|has)\s+an?\s+{wrapped}"
            rf"\s+(?:sentiment|tone|attitude|stance|opinion){_END}",
            rf"^{_LEAD}\s*:\s*{wrapped}{_STOP}",
            rf"{_HENCE}(?:it|this|(?:the|its)\s+\w+)(?:\s+is|['’]s)\s+(?:an?\s+)?{wrapped}{alone}",
            # "…, hence: fail", and "Clearly a negative one", which say nothing else.
            rf"{_HENCE}(?:in\s+short[\s,:]+)?{wrapped}{_STOP}",
            rf"^(?:{_SURELY}\s+(?:an?\s+)?|a\s+solid\s+){wrapped}"
            rf"(?:\s+(?:one|from\s+me))?{_STOP}",
            rf"(?:^|,\s*but\s+){lead}(?:(?:response|answer|assistant|option)\s+)?{wrapped}"
            rf"[)\]*]*\s+(?:(?:wins|gets\s+my\s+vote){_STOP}|(?:is|(?:provides|gives|offers)(?=\s+the))\s+"
            rf"(?:the\s+)?(?:clear(?:ly)?\s+|slightly\s+)?{_BEST}\b"
            rf"(?!\s+(?:on|in|at|for|only|when|with)\b))",
        ),
        beaten=re.compile(beaten, re.IGNORECASE),
        any=re.compile(rf"(?<![\w.-])(?:{one})(?![\w-]|\.\d)", re.IGNORECASE),
    )


def _spelled(label: str) -> str:
    """Return a pattern of a label: blanks, ``_`` and ``-`` between its words are one."""
    parts = re.split(r"(\s*[<>=]\s*)|(?<=\w)[\s_-]+(?=\w)", label)
    written = [re.escape(part.strip()) for part in parts if part and part.strip()]
    signs = any(sign in label for sign in "<>=")
    return (r"\s*" if signs else r"[\s_-]+").join(written)


_FORMS = (("pass", "passes", "passed"), ("fail", "fails", "failed"))
_WRAP = r"[\s*_`\"'“”‘’«(\[{$]*"
ANSWER_WORDS = (
    r"answer|verdict|label|rating|score|classification|category|class|sentiment|grade|decision"
    r"|result|choice|judge?ment|winner|option|prediction|preference|vote|intent"
    r"|gewinner|ganadora?|gagnant|vencedora?"
    # Chinese, Hindi, Spanish, French, Arabic, Bengali, Portuguese, Russian, Urdu, Indonesian,
    # German, Japanese
    r"|答案|结论|標籤|标签|判断|答え|正解|回答|उत्तर|जवाब|respuesta|veredicto|etiqueta|réponse|étiquette"
    r"|الإجابة|الجواب|উত্তর|resposta|rótulo|ответ|вердикт|метка|جواب|jawaban|antwort|urteil"
)
"""Words for the answer itself."""

# Words that are it only before a colon: "the conclusion is positive" may speak of a text.
_TITLE = (
    rf"{ANSWER_WORDS}|preferred|priority|severity|relation|topic|stance|level|outcome"
    r"|overall|evaluation|assessment|conclusion|response|final"
)
_BEFORE_NOUN = (
    r"the|my|our|so|and|thus|hence|therefore|then|final|overall"
    r"|correct|right|best|better|short|total|preferred"
    r"|judge['’]?s?|is|this|here|a|la|le|el|die|der|das"
    r"|correcta|correcte|bonne|richtige|sua|minha|mi"
    r"|ma|правильный|верный|सही|正确|最终|最後の|最終|রায়|sichere"
)
"""The only words that may stand before it: a "wrong answer: B" or a "reference answer: C" is
none.
"""

_AFTER_NOUN = r"(?:\s+(?:correcta|correcte|correta|الصحيحة|الصحيح|here|is|final|of\s+th\w+\s+\w+)|\s*\([^()]{1,12}\))?"
_AS_HEAD = (
    rf"(?:^(?:i\s+(?:think|believe)\s+)?|(?<=[.;,:!(]\s)(?:but\s+)?(?:on\s+reflection\s+)?|(?<=[*#>-]\s)"
    rf"|(?<=\*\*))[\s*_#>`\"'(\[-]*"
    rf"(?:(?:{_BEFORE_NOUN})[\s,:]*)*(?:overall\s+)?(?:NOUN)(?:\s+(?:verdict|rating|score|grade"
    rf"|sentiment|label|result|answer)s?\b)?[*_`\"']*{_AFTER_NOUN}[*_`\"')\]]*"
)
_HEAD, _TITLED = (_AS_HEAD.replace("NOUN", nouns) for nouns in (ANSWER_WORDS, _TITLE))
_IS = r"(?:is|would\s+be|must\s+be|should\s+be|es|est|ist|é|是|为|為|は|adalah|है)"
_CHOOSE = (
    r"(?:choose|pick|select|say|prefer|(?:go\s+)?with|vote\s+for|rate\s+(?:it|this|the)(?:\s+\w+)?(?:\s+as)?"
    r"|score\s+(?:it|this)|(?:classify|label|grade|mark|judge|consider|deem)\s+(?:it|this|the)(?:\s+\w+)?(?:\s+as)?"
    r"|call\s+(?:it|this)(?:\s+one)?(?:\s+an?)?|file\s+(?:it|this)\s+under"
    r"|give\s+(?:it|this)(?:\s+\w+)??(?:\s+an?)?(?:\s+(?:score|rating|grade)\s+of)?)"
)
_HENCE = r"(?:^|,\s*)(?:so|therefore|thus|hence)[\s,:]+"
_SO = r"(?:therefore|thus|still|hence|rather|hereby|slightly|strongly)"
_LEAD = (
    r"(?:(?:since|after)\s[^,]{1,60}(?=,)|on\s+a\s+scale\s+(?:of|from)\s+\d+\s+to\s+\d+(?:,\s+where[^,]*(?=,))?|overall|therefore|thus|hence|so|in\s+(?:short|sum|summary|conclusion)|on\s+balance|in\s+my\s+view"
    r"|on\s+reflection|checking\s+again|considering\s+everything|all\s+in\s+all|looking\s+at\s+(?:the|all)\s+(?:choices|options)"
    r"|i(?:\s+would|['’]d)\s+say(?:\s+that)?|i\s+(?:conclude|judge|think|believe)(?:\s+that)?)"
)
_SURELY = r"(?:(?:clearly|definitely|certainly|surely|obviously|absolutely),?)"
_ITEM = r"(?:review|comment|text|statement|message|tweet|post|sentence|reply|one)"
"""What is labelled: "a negative review" says of it what "negative" does."""
_STOP = r"[\s*_`\"'”’)\]]*[.!]?[\s*_]*$"
_EXPLAINED = re.compile(
    r"[\s*_`\"'”’)\]}]*(?:/|out of|[.:;—–(]|,?\s*(?:because|since|因为|因為)|as|while|with)"
)
_BEST = r"(?:better|best|winner|preferred|superior|stronger|strongest|correct|right)"
_END = (
    r"(?=[\s*_`\"'”’»)\]}$]*(?:\s+(?:here|overall))?(?:$|[.!。।،,;:—–(\n|]|(?<=\))\s|\s-\s|です|because\b|since\b|due\s+to\b|as\s+\w+\s+\w|/\d"
    r"|\s+out\s+of\b))"
)
_ALONE = r"(?=[\s*_`\"'”’)\]]*(?:$|[.!。]\s*$|[:;—–(]|,?\s*(?:because|since)\b))"
"""After a label that a sentence only says of its subject, nothing may follow but a reason."""

_KIND_OF = re.compile(
    r"^(?:the\s+)?(?:final\s+)?(?:option|choice|response|answer|assistant)\s+(?=\S+$)"
)
_FIRST_SENTENCE = re.compile(r"[^.!?。।\n]{1,60}?(?:[.!)](?=\s|$|\*)|。|।|$|(?=\s[—–-]\s))")
_SENTENCE = re.compile(r"(?<=[.!?])\s+|(?<=;)\s+|(?<=[。！？；।])(?=\S)")
_CLAUSE = re.compile(r"[,;:]\s+(?:but|so|hence|thus|therefore|and|my)?\b")
_CONDITION = re.compile(
    r"\b(?:if|unless|whether|depend\w*|otherwise|provided|assuming|suppos\w*|had)\b|如果|若",
    re.IGNORECASE,
)
_HEADING = re.compile(
    r"[\s*_`\"'“(\[]*(?P<label>[^:,;()]{1,60}?)[*_`\"'”)\]]*(?:\s*(?P<mark>[:,;])|\s+(?P<dash>[—–-])\s|\s*\(.*\)[.!]?$)"
)
_DOUBTED = r"wrong|reference|student\w*|expected|gold"
"""Whose label is not that of the reply."""

_TITLE_OF = re.compile(
    rf"(?!.*(?:{_DOUBTED}|confidence|length))[\s*_#>-]*[A-Za-z][\w -]{{1,24}}[*_]*:\s*[*_]*"
    r"(?P<label>[^\W\d][\w -]{4,})[\s*_.!]*$",
    re.IGNORECASE,
)
_CHOICE = re.compile(
    r"[\s*_`\"'”’)\]]*(?:,?\s*(?:or|and|and/or|nor|oder|und|ou|et|o|y|或|和|или|и|या|और|أو)\b"
    r"|,?\s*(?:but|however|although|though|while|unless|if|when|only|were|had)\b|[/&|]\s*[^\d\s])",
    re.IGNORECASE,
)
_DOUBT = re.compile(
    r"\b(?:not|no|never|neither|nor|none|cannot|can['’]?t|without|hardly|barely|rather\s+than|instead"
    r"|may|might|could|maybe|perhaps|possibly|either|almost|nearly"
    r"|somewhat|partly|partially|would\s+have|was\s+going|initially|at\s+first|first\s+thought|unsure"
    rf"|undecided|hard\s+to|tempted|suppose|says|said|{_DOUBTED})\b|n['’]t\b|[不没非未]",
    re.IGNORECASE,
)
_NEXT_QUESTION = re.compile(
    r"^[\s#>*-]*(?:question|q|review|text|input|comment|passage|claim|prompt|example|user|human"
    r"|sentence|tweet|document|statement|ticket|email|message|item|problem|instruction)\s*\d*\s*[:.)]",
    re.IGNORECASE | re.MULTILINE,
)
