r"""Which label a reply in free text states: better none than a wrong one.

Every label becomes one sign, whatever surrounds it (`**B**`, "Option B", `4/5`), and a grammar says
where a sign stands as the answer:

| place | such as |
|---|---|
| alone | the whole reply, its last sentence, a line, a box, bold at the end of a line |
| titled | ``Final verdict: B`` |
| opening | ``No. The code leaks.``, ``B) Mitochondria`` |
| noun + is | ``the correct option is B`` |
| I + verb | ``I would classify this as B``, ``I'd go with B`` |
| this + is | ``the review is B``, ``it belongs in B`` |
| is + best | ``B is the better answer`` |

Anywhere else a label is a word like any other. A frame holds nothing between its words that is not
listed, so a denial needs no list of negations in every language.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

# How labels are spelled.

TRIM = " \t\r\n.,;:!\"'`*()[]{}_#~$“”‘’«»…。،۔।，！：；（）「」【】"
"""What may stand around a label: blanks, punctuation, quotes and markup."""

_PICTURES = re.compile(r"[\u2600-\u27bf\ue000-\uf8ff\ufe0f\U0001f300-\U0001faff]+")
_JOINED = re.compile(r"(?<=[^\W\d])[-_](?=[^\W\d])")
_AROUND_SIGN = re.compile(r"\s*([<>=])\s*")
_WHOLE = re.compile(r"(-?)0*(\d+)(?:\.0+)?")
_LETTER = r"[^\W\u3040-\u30ff\u4e00-\u9fff]"
"""A letter of a script that writes blanks between words."""
_FORMS = {"passes": "pass", "passed": "pass", "fails": "fail", "failed": "fail"}


def label_key(text: str) -> str:
    """Return what two spellings of one label have in common.

    >>> label_key("**Technical_Issue**."), label_key("A>B"), label_key("04.0")
    ('technical issue', 'a > b', '4')
    >>> label_key("-1"), label_key("0.5")
    ('-1', '0.5')
    """
    plain = _PICTURES.sub(" ", unicodedata.normalize("NFKC", text)).strip(TRIM)
    plain = plain.removeprefix(">").strip(TRIM)  # a quotation in Markdown
    words = " ".join(_JOINED.sub(" ", plain).split()).casefold()
    words = _AROUND_SIGN.sub(r" \1 ", words).strip()
    number = _WHOLE.fullmatch(words)
    return f"{number[1]}{number[2]}" if number else words


@dataclass(frozen=True)
class _Labels:
    """The spellings of a set of labels: as they are, by key, and what finds them in a text."""

    exact: dict[str, int]
    keys: dict[str, int]
    markup: re.Pattern[str]
    found: re.Pattern[str]
    scale: re.Pattern[str]
    kind: re.Pattern[str]

    def code(self, text: str) -> int:
        """Return the code of one spelling, -1 if it is none."""
        return self.exact.get(text.strip(), self.keys.get(label_key(text), -1))


@lru_cache(maxsize=16)
def _labels(labels: tuple[str, ...]) -> _Labels:
    exact = {label: j for j, label in enumerate(labels)}
    keys: dict[str, int] = {}
    for j, label in enumerate(labels):
        # Two labels that differ by case only are read exactly or not at all.
        keys[label_key(label)] = -1 if label_key(label) in keys else j
    forms = {form: keys[verb] for form, verb in _FORMS.items() if verb in keys}
    keys = forms | {key: j for key, j in keys.items() if j >= 0 and key}

    # Of a scale of numbers, "4/5", "4 out of 5" and "4 stars" are 4; 4.5, -4 and 4 % are not.
    top = max(labels, key=int) if all(label.isdigit() for label in labels) else None
    rest = rf"(?!{_LETTER}|-|\.\d|\s*%)" if top is None else r"(?:\.0+)?(?!\.?\d|\s*%)"
    spelled = "|".join(map(_spelled, sorted({*labels, *forms}, key=len, reverse=True)))
    word = rf"(?<!{_LETTER})(?<![.-])(?:{spelled or '(?!)'}){rest}"
    scale = (
        rf"(?<=\d)(?:(?:\.0+)?(?:\s+points?)?\s*(?:/|out\s+of)\s*{top}\b)?(?:(?<!\.\d)\s+stars?\b)?"
    )
    # "Option B" is B; "the answer correct" is no label.
    short = "".join(chr(_FIRST + j) for j, label in enumerate(labels) if len(label) < 3)
    markup = re.escape("".join(mark for mark in _MARKS if mark not in "".join(labels)))
    return _Labels(
        exact=exact,
        keys=keys,
        markup=re.compile(rf"(?<!\w)_+|_+(?!\w)|\\(?:boxed|text)|[{markup}]"),
        found=re.compile(word, re.IGNORECASE),
        scale=re.compile("(?!)" if top is None else scale, re.IGNORECASE),
        kind=_compiled(rf"\b{_W['kind']}_([{short or chr(_FIRST - 1)}])"),
    )


def _spelled(label: str) -> str:
    """Return a pattern of a label: blanks, ``_`` and ``-`` between its words are one."""
    parts = re.split(r"(\s*[<>=]\s*)|(?<=\w)[\s_-]+(?=\w)", label)
    written = [re.escape(part.strip()) for part in parts if part and part.strip()]
    if any(sign in label for sign in "<>="):
        return r"\s*".join(written) + r"(?!\s*[<>=])"  # "A > B > C" is no "A > B"
    return r"[\s_-]+".join(written)


def whole_label(text: str, labels: Sequence[str]) -> int:
    """Return the code of the label that *text* is; ``len(labels)`` if it is none of them.

    >>> whole_label("**Yes**.", ["no", "yes"]), whole_label("-1", ["0", "1"])
    (1, 2)
    >>> whole_label("4/5", ["1", "2", "3", "4", "5"]), whole_label("Option b", ["a", "b"])
    (3, 1)
    """
    spelled = _labels(tuple(labels))
    code = spelled.code(text)
    if code < 0:
        alone = _ALONE.fullmatch(_signed(text, spelled))
        code = _code(alone) if alone else -1
        code = code if label_key(labels[code]) in spelled.keys else -1
    return len(labels) if code < 0 else code


# Labels as signs: one private character each, so that the grammar does not know what they are.

_FIRST = 0xE000
_SIGN = "([\ue000-\uf8ff])"
_MARKS = '*`"“”«»„「」[]{}$#'
_BRACKETED = re.compile(rf"[('‘]+\s*{_SIGN}\s*[)'’]+")
_ARTICLE = re.compile(
    r"(?:[ai](?=\s+\w)|I(?=\s+\w|'))(?!\s+(?:because|since)\b)"
    r"|A(?=\s+[^\W\d_A-Z])(?!\s+(?:is|was|wins|gets|has|over|because|since|and|or|nor|gives|rather"
    r"|provides|offers|as|for|but|here|overall|on|edges|beats|outperforms|é|es)\b)"
)
"""An article or a pronoun, where it is not a label of one letter."""


def _signed(text: str, labels: _Labels) -> str:
    """Return a text without markup, with a sign for every label.

    >>> _signed("I'd pick **Option B**.", _labels(("A", "B")))
    "I'd pick \ue001."
    """
    text = unicodedata.normalize("NFKC", _PICTURES.sub(" ", text)).replace("’", "'")
    plain = " ".join(labels.scale.sub("", labels.markup.sub("", text)).split())

    def sign(match: re.Match[str]) -> str:
        code = labels.code(match[0])
        article = len(match[0]) == 1 and _ARTICLE.match(plain, match.start())
        return match[0] if article or code < 0 else chr(_FIRST + code)

    signs = _BRACKETED.sub(r"\1)", labels.found.sub(sign, plain))
    return labels.kind.sub(r"\1", signs).removeprefix(">").strip()


# The words of the grammar: one entry per paragraph, blanks part words, `_` is a blank inside one.


def _lexicon(text: str) -> dict[str, str]:
    entries = (entry.partition(": ") for entry in text.strip().split("\n\n"))
    return {name: f"(?:{'|'.join(words.split())})".replace("_", " ") for name, _, words in entries}


# Only a modifier may stand before the answer: a "wrong answer: B" is none.
# Titles are it only before a colon: "the priority is high" may speak of a text.
# Items are labelled: "a negative review" says of it what "negative" does.
_W = _lexicon(r"""
answer: answer verdict label rating score classification category class sentiment grade decision
    result choice judge?ment winner option prediction preference vote intent pick 答案 结论 標籤 标签 判断
    情感 评分 答え 正解 回答 उत्तर जवाब respuesta veredicto etiqueta nota réponse étiquette note الإجابة
    الجواب উত্তর resposta rótulo veredito alternativa ответ вердикт метка جواب jawaban antwort
    urteil bewertung gewinner ganadora? gagnant vencedora? risposta

title: preferred priority severity relation topic stance level outcome overall evaluation
    assessment conclusion response final 选择 選擇 wahl ergebnis résultat resultado

modifier: the my our your a its is this so and thus then here final overall correct right best
    better short total preferred only most more single main dominant general expressed predicted
    appropriate suitable fitting likely accurate stronger strongest proper valid closest
    judge'?s? la le el il der die das o correcta correcte bonne richtige sua minha mi ma meine?
    mon sichere правильный верный мой

after: correcta correcte correta corretta الصحيحة الصحيح here label verdict score

kind: option response answer assistant choice model candidate output reply system grade score
    rating level label category class number opción opção réponse respuesta resposta antwort

item: review comment text statement message tweet post sentence reply response answer output
    claim e-?mail ticket passage translation summary code essay submission article headline
    document request query solution feedback one case issue tone mood language priority severity

is: is was would_be must_be should_be has_to_be will_be remains es sería est serait ist wäre
    lautet é seria è adalah هي هو है

how: therefore thus hence clearly definitely certainly surely obviously absolutely still simply
    best most very an? the : clear solid la le el die der das a_la é_a claramente eindeutig klar

lead: on_balance on_reflection in_short in_sum in_summary in_conclusion in_my_view all_in_all
    overall therefore thus hence so then still ultimately finally clearly again also but and now
    altogether i_(?:think|believe|conclude|judge|would_say)(?:_that)? i'd_say(?:_that)?
    i(?:'m|_am)_(?:confident|sure|certain)(?:_that)? donc por_(?:lo_)?tanto daher portanto
    поэтому 因此 所以

as: as under in into to at with of being for towards?

verb: choose pick select say prefer rate score classify label grade mark(?:ing)? judge consider
    deem call(?:ing)? give assign file tag put place categori[sz]e assess evaluate describe see
    rank vote go(?:ing)? opt settle route award favou?r lean find set

may: would will must have_to going_to am 'm 'd 'll therefore thus still hence rather hereby
    slightly strongly personally ultimately

classed: classified labell?ed rated marked filed routed scored graded judged considered
    described categori[sz]ed deemed

belongs: belongs_(?:to|in|under) falls_(?:under|into|in) qualifies_as counts_as reads_as
    comes_across_as deserves gets earns receives merits warrants is was would_be must_be
    should_be

best: better best winner preferred superior stronger strongest correct right melhor mejor
    meilleure? besser

beats: is_(?:slightly_)?(?:better_than|superior_to) edges_out beats outperforms

why: because since as_\w due_to given based_on for_(?:the|its|being|this) here\b overall\b
    after_ considering thanks_to (?:on|in)_this under_ 因为 因為 weil parce porque потому car

choose: elijo escojo elegiría me_quedo_con voto_por je_choisis je_choisirais je_préfère
    j'opte_pour ich_wähle ich_nehme scelgo escolho fico_com выбираю 我选 我選 我选择 我選擇 saya_memilih
    أختار

or: or and and/or nor oder und ou et o y или и या और أو 或 和

if: if unless whether depend[a-z]* otherwise provided assuming suppos[a-z]* had

doubt: not no never neither nor none nobody cannot can'?t without hardly barely rather_than
    instead may might could maybe perhaps possibly either almost nearly somewhat partly
    partially would_have_(?!to) was_going initial[a-z]* at_first first second word phrase term
    part half parts earlier unsure undecided hard_to tempted tempting suppose says said wrote
    claims argues answered thinks calls wrong reference student[a-z]* expected gold kein[a-z]*
    niemand personne nadie aucun[a-z]* никто nicht pas jamais nunca não нет?
""")
ANSWER_WORDS = _W["answer"]
"""Words for the answer itself."""

_MODIFIERS = rf"(?:{_W['modifier']}[_,:]+|(?:सही|正确|最终|最後の|最終|রায়)_?){{0,6}}"
_OF = r"(?:_(?:of|for|in|to|by|from|given|between)(?:_[\w'-]+){1,5}?)?"
_IS = rf"(?:_?(?:'s|は|是|为|為|—|–)|_{_W['is']})"
_HOW = rf"(?:_?{_W['how']},?_?){{0,4}}_?"
_LEAD = rf"(?:{_W['lead']}[_,:]+){{0,4}}"
_START = rf"(?:^|[,;:(。，；]_?|[—–-]_|\b(?:so|that|hence|thus|therefore)_){_LEAD}"
_IT = (
    r"(?:_(?:it|this|that|them|(?:the|this|that)(?:_[\w'-]+){1,4}?)(?:_one)?)?"
    r"(?:_(?:an?|the)(?:_(?:overall|final))?_(?:score|rating|grade|label|category)(?:_of)?)?"
)
_BELONGS = (
    rf"(?:(?:is|was|gets?|(?:should|would|can|must)_be)(?:_best)?_{_W['classed']}"
    rf"(?:_(?:as|under|to|in|into))?|{_W['belongs']}|'s)"
)
_NOUN = (
    rf"(?:_(?:{_W['item']}|category|class|label|rating|score|sentiment|overall|(?:from|to)_me))?"
)
_NOT = r"(?:,?_?(?:not|over|rather_than|instead_of|>)_)"
_END = rf"{_NOUN}(?=_?(?:$|[.!。।،,;:—–(|)]|-_|です|है|{_W['why']}|{_NOT}))"
_STOP = rf"{_NOUN}(?=[_)]*(?:[.!。।]*_?$|[;:—–(]|-_|,?_?{_W['why']}|{_NOT}))"
"""After a label that a sentence only says of its subject, nothing may follow but a reason."""
_CLOSE = rf"(?=_?(?:$|[.!,;:(—–]|{_W['why']}))"


def _frames() -> tuple[re.Pattern[str], ...]:
    """Return the sentences that state a label."""
    head = rf"{_MODIFIERS}(?:{_W['answer']}|topic|relation|emotion)"
    this = rf"(?:it|this|that|(?:this|the|that|your)(?:_\w+)?_{_W['item']}{_OF})"
    any_one = r"(?:it|this|that|(?:this|the|that|your)(?:_[\w'-]+){1,5}?)"
    hence = rf"(?:^|\b(?:so|that|hence|thus|therefore)_){_LEAD}"
    article, best = "(?:(?:the|la|die)_)?", rf"{_W['best']}\b"
    is_best = (
        rf"(?:is|was|é|es|est|ist|(?:provides|gives|offers)(?=_the))_{article}(?:clear_|\w+ly_)?{best}"
        rf"(?:_(?:one|overall|of_the_two|{_W['kind']}))*{_CLOSE}"
    )
    texts = (
        rf"{_START}{head}(?:_{_W['after']})?{_OF}{_IS}{_HOW}{_SIGN}{_END}",
        rf"{head}_?(?:_|は)_?{_SIGN}_?(?:है|です)",
        rf"\b(?:i|we)(?:'d|'ll|'m)?(?:_{_W['may']}){{0,4}}_{_W['verb']}{_IT}(?:_{_W['as']})?{_HOW}"
        rf"{_SIGN}{_END}",
        rf"{hence}{any_one}_?{_BELONGS}{_HOW}{_SIGN}{_STOP}",
        rf"{_START}{this}_?{_BELONGS}{_HOW}{_SIGN}{_NOUN}_?[.!]*$",
        rf"{_START}(?:it|this|the_\w+)_{_SIGN}(?:_the_(?:check|test|rubric|criteria))?{_STOP}",
        rf"^{_LEAD}(?:this|the)_{_W['item']}{_OF}"
        r"_(?:expresses|conveys|shows|has|carries|reflects)_an?_"
        rf"(?:clearly_|overall_)?{_SIGN}"
        r"_(?:sentiment|tone|attitude|stance|opinion)(?=_?[.!,;:(]|$)",
        rf"{_START}{article}{_SIGN}\)?_(?:wins|gets_my_vote)(?:_(?:this|the)_\w+)?{_CLOSE}",
        rf"{_START}{article}{_SIGN}\)?_{_W['beats']}_(?:the_)?{_SIGN}{_STOP}",
        rf"{_START}{article}{_SIGN}\)?_{is_best}",
        rf"{_START}{article}{best}(?:_(?:of_the_two|one|{_W['kind']}))?_is_{_SIGN}{_STOP}",
        rf"^{_SIGN}\)?(?={_NOT}(?:the_)?{_SIGN}\)?[_.!]*$)",
        r"(?:^|,_?)(?:so|therefore|thus|hence|in_short"
        r"|clearly|definitely|certainly|absolutely|surely"
        rf"|obviously|a_solid|daher|donc|por_tanto)[_,:]+{_HOW}{_SIGN}(?:_it_is)?{_STOP}",
        rf"\b(?:my_vote_goes_to|that_leaves(?:_only)?)_{_SIGN}_?[.!]*$",
        # The same sentences in other languages: I choose B, I would call it B, it is B.
        rf"\b{_W['choose']}(?:_(?:la|le|die|a|o|el|вариант))?_?{_SIGN}{_END}",
        rf"\b(?:ich|je|eu|я|io|saya|yo)(?:_[\w'-]+){{1,5}}?_(?:als|como|comme|как|come|sebagai)_{_SIGN}"
        r"(?=_?(?:[.!,;:(]|$|ein\b|\w+en\b))",
        rf"^(?:[\w'-]+_){{1,6}}(?:ist|est|es|é|è|adalah){_HOW}{_SIGN}_?[.!]*$",
        rf"^(?:[а-яё]+_){{1,4}}[—–]_?{_SIGN}_?[.!]*$",
        rf"^\w{{1,8}}(?:是|は|为){_SIGN}(?:です|的)?_?[。.!]*$",
        rf"^(?:[\w'-]+_){{1,4}}{_SIGN}_(?:है|আছে)_?[।.!]*$",
    )
    return tuple(map(_compiled, texts))


def _compiled(text: str) -> re.Pattern[str]:
    return re.compile(text.replace("_", " "), re.IGNORECASE | re.MULTILINE)


_FRAMES = _frames()
_TITLED = _compiled(
    rf"(?:^|[.;,:!(|]_|[>-]_)[_>|-]*{_MODIFIERS}(?:{_W['answer']}|{_W['title']})"
    r"(?:_(?:verdict|rating|score|grade|sentiment|label|result|answer|assessment|decision|choice)s?\b)?"
    rf"(?:_?\([^()]{{1,12}}\)|_of_\w+_\w+|_final|_{_W['after']})?_?(?:=>|->|[:=→|]|—|–|_-_)_?"
    rf"(?:(?:an?|the|la|le)_)?{_SIGN}(?:{_END}|(?=_(?:wins|is_(?:the_)?{_W['best']})\b))"
)
_BOXED = re.compile(r"\\boxed\s*\{(?:\\text\s*\{)?([^{}]+)|\[\[([^\[\]]+)\]\]|\[RESULT\]\s*(.+)$")
_BOLD = re.compile(rf"\*\*([^*]+)\*\*(?=[\s.!]*$|\s+(?:is|as)\s+(?:the\s+)?{_W['best']}\b)")
_ALONE = _compiled(rf"[_(]*{_SIGN}[_.,;:!)。।]*")
_OPENING = _compiled(
    rf"[_(]*(?:(?:the|a|an)_)?{_SIGN}"
    rf"(?P<mark>[.!)。।](?=_|$)|_?(?:[:;,(]|[—–]|-_|(?={_W['why']})))_?"
)
_LISTED = _compiled(rf"[_>(-]*{_SIGN}[.)](?=_?\S)")
_OTHER_TITLE = _compiled(
    r"(?!.*(?:wrong|reference|student|expected|gold|confidence|length))[_>-]*[a-z][\w_-]{1,24}:_?"
    rf"{_SIGN}[_.!]*$"
)

_SENTENCE = re.compile(r"(?<=[.!?])\s+|(?<=;)\s+|(?<=[。！？；।])(?=\S)")
_CLAUSE = _compiled(r"[,;:]_(?:but|so|hence|thus|therefore|and|my)?\b|[，；]")
_CONDITION = _compiled(rf"\b{_W['if']}\b|如果|若")
_DOUBT = _compiled(rf"\b{_W['doubt']}\b|n't\b|[不没非未]")
_CHOICE = _compiled(
    rf"[_)]*(?:,?_?{_W['or']}_?(?=.*{_SIGN})"
    r"|,?_?(?:but|however|while|unless|if|when|only|were|had|or|and)\b|[/&|]_?[^\d_])"
)
_BEATEN = _compiled(
    rf"[_,)]*(?:not|over|rather_than|instead_of|>|{_W['beats']})_(?:(?:the|an?)_)?{_SIGN}"
)
_EXPLAINED = _compiled(rf"_?(?:[.:;—–(|]|-_|,?_?(?:{_W['why']}|while\b|with\b))")
_ANOTHER_THING = re.compile(r"(?:is|was|are|has|would|could|can|may|might)\b")
_NEXT_QUESTION = _compiled(
    r"^[\s#>*-]*(?:question|q|review|text|input|comment|passage|claim|prompt|example|user|human"
    r"|sentence|tweet|document|statement|ticket|email|message|item|problem|instruction)\s*\d*\s*[:.)]"
)


# Reading.


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
    whole = whole_label(text, labels)
    if whole < none:
        return whole
    spelled = _labels(tuple(labels))
    raw = [line for line in first_answer(text, labels).splitlines() if line.strip(TRIM + "|-")]
    lines = [_signed(line, spelled) for line in raw]
    if not lines:
        return none
    opening = _opening(lines)
    last = _ALONE.fullmatch(_SENTENCE.split(lines[-1])[-1])
    code: int | None = _code(last) if last else _declared(raw, lines, spelled)
    if code is None:
        # "unsafe" on a line of its own, or "Relevance: irrelevant"; two such lines are a list.
        alone = {_code(one) for one in map(_ALONE.fullmatch, lines) if one}
        titled = {_code(one) for one in map(_OTHER_TITLE.match, lines) if one}
        wordy = all(len(labels[one]) > 3 for one in titled)
        code = _only(alone or (titled if wordy else set()))
    if code is None:
        return none if opening is None else opening
    # "Yes. … Answer: no" says two things.
    return none if opening not in (None, code) else code


def first_answer(text: str, labels: Sequence[str]) -> str:
    r"""Return the first answer of a base model that runs on into a question of its own.

    >>> first_answer("yes\n\nQuestion: Is water dry?\nAnswer: no", ["yes", "no"])
    'yes'
    """
    first, _, rest = text.lstrip().partition("\n")
    if _NEXT_QUESTION.search(rest) is None:
        return text
    spelled = _labels(tuple(labels))
    signed = _signed(first, spelled)
    answered = _ALONE.fullmatch(signed) or _declared([first], [signed], spelled) is not None
    return first if answered else text


def _code(match: re.Match[str]) -> int:
    return next(ord(sign) - _FIRST for sign in match.groups() if sign and ord(sign) >= _FIRST)


def _only(codes: set[int]) -> int | None:
    return codes.pop() if len(codes) == 1 else None


def _opening(lines: Sequence[str]) -> int | None:
    """Return the label with which a reply begins: "No, it does not.", "B. Mitochondria"."""
    first = _OPENING.match(lines[0])
    if first is None:
        return None
    code, rest = _code(first), lines[0][first.end() :]
    # "A. Mars / B. Jupiter" lists the options; "B. Mitochondria" alone is an answer.
    if {_code(one) for one in map(_LISTED.match, lines[1:]) if one} - {code}:
        return None
    mark = first["mark"].strip()[:1]
    if mark == ")" and _ANOTHER_THING.match(rest):  # "A) is too small"
        return None
    if (_CHOICE.match(rest) and mark != ",") or "?" in rest[:60].partition(".")[0]:
        return None
    if mark and mark in ".!)。।—–-":
        return code
    # "Correct: the derivation holds", unless what follows weighs another label.
    weighed = {ord(sign) - _FIRST for sign in re.findall(_SIGN, " ".join([rest, *lines[1:]]))}
    return None if weighed - {code} else code


def _declared(raw: Sequence[str], lines: Sequence[str], labels: _Labels) -> int | None:
    """Return the label of the statements in so many words; of several the one on the last line."""
    found = [
        (number, code)
        for number, (text, line) in enumerate(zip(raw, lines, strict=True))
        for code in (*_marked(text, labels), *_said(line))
    ]
    codes = {code for _, code in found}
    if len(codes) > 1:
        # "Criterion 1: fail … Final verdict: pass": the last line decides, unless it says two.
        codes = {code for number, code in found if number == found[-1][0]}
        if found[-1][0] != len(lines) - 1:
            return None
    return _only(codes)


def _marked(line: str, labels: _Labels) -> Iterator[int]:
    """Yield the labels in boxes, and those in bold at the end of a line."""
    for match in (*_BOXED.finditer(line), *_BOLD.finditer(line)):
        text = _signed(next(part for part in match.groups() if part), labels)
        alone = _ALONE.fullmatch(text) or _LISTED.match(text)
        if alone:
            yield _code(alone)


def _said(line: str) -> Iterator[int]:
    """Yield the labels that the sentences of a line state."""
    for sentence in _SENTENCE.split(line):
        # What is supposed or depends on something is not said.
        frames = () if _CONDITION.search(sentence) else _FRAMES
        for frame in (_TITLED, *frames):
            for match in frame.finditer(sentence):
                code = _code(match)
                at = sentence.index(chr(_FIRST + code), match.start())
                clause = _CLAUSE.split(sentence[:at])[-1]
                spoken = sentence[match.start() : at]
                denied = frame is not _TITLED and _DOUBT.search(max(clause, spoken, key=len))
                if not denied and not _followed_by_another(sentence[at + 1 :], code):
                    yield code


def _followed_by_another(rest: str, code: int) -> bool:
    """Say whether another label, a choice or a question follows: "A or B", "A, B", "A?"."""
    if _BEATEN.match(rest):  # "A, not B", "A over B"
        return False
    if _CHOICE.match(rest) or "?" in rest[:60].partition(".")[0]:
        return True
    others = {ord(sign) - _FIRST for sign in re.findall(_SIGN, rest)} - {code}
    return bool(others) and not _EXPLAINED.match(rest)
