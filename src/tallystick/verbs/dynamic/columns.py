"""Which column of a log is what: by name together with what it holds, else it is asked.

A log comes in one of three shapes. *attempts*: somebody tried to fool a model, one row per try.
*long*: one row per item and model (or round), with a column that says right or wrong. *wide*: one
row per item and one column per model. What the caller names comes first.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from shlex import quote
from typing import Any, Literal, TypeAlias

import numpy as np

from tallystick.errors import AskError, InputError
from tallystick.results import names_of
from tallystick.table import Data, Roles, identifier, is_missing, spelling
from tallystick.table.reading_facts import LISTED, agreement, draw
from tallystick.table.reading_names import are_alike, unlike_name
from tallystick.table.reading_rules import flag
from tallystick.table.words import as_pass_fail, as_word, is_no_answer

Shape: TypeAlias = Literal["attempts", "long", "wide"]

# Names, the surest first. A name decides only if the column can play the role.

_LISTED = """
annotator: annotator anon_uid worker crowdworker turker participant contributor author writer
    red_teamer redteamer red_team_member attacker tester player username user operator probe
    probe_classname;
held_out: held_out heldout holdout;
round: round rounds rid r_realid wave phase iteration;
model: model system target_model target model_in_loop model_in_the_loop model_endpoint endpoint
    llm victim generator;
item: item question example task doc attempt eid conversation prompt uuid id uid;
wrong: model_wrong fooled model_fooled fooling fooled_model attack_success attack_succeeded
    attack_successful jailbroken jailbreak jailbreak_success model_failed model_error
    broke_model bypassed breached policy_violation violation unsafe harmful hit wrong incorrect
    error errors err failed fail failure mistake mistakes;
success: success successful;
correct: correct model_correct model_is_correct model_right right passed pass;
score: score acc accuracy f1 exact_match;
truth: truth gold human gold_label true_label ground_truth intended_label target_label
    annotator_label target_pred expected label reference correct_answer y_true y;
prediction: prediction model_prediction predicted pred model_pred model_label model_answer
    response_label predicted_label answer response output;
validated: validated valid verified validation confirmed label_valid valid_label label_confirmed
    accepted approved review_result validation_result validator_verdict validators validations
    validator_labels verifier_labels validator_votes;
yes: votes_yes yes_votes yes validators_yes votes_valid valid_votes verified_correct
    correct_votes votes_for agree upvotes;
no: votes_no no_votes no validators_no votes_invalid invalid_votes verified_incorrect
    incorrect_votes votes_against disagree downvotes;
retracted: retracted withdrawn;
cost: cost cost_usd cost_eur price payment pay paid reward amount usd bonus time_elapsed seconds
    duration duration_s time_spent minutes elapsed;
time: time timestamp created_at created submitted_at datetime date generated_datetime
    started_at
"""
_ENTRIES = (entry.split(":") for entry in _LISTED.split(";"))
_NAMES = {role.strip(): names.split() for role, names in _ENTRIES}
_AROUND = re.compile(r"^(?:is|n|num)_|_?(?:id|name|number)$")
"""What may stand around a name without changing it: ``is_correct``, ``worker_id``, ``n_yes``."""

_TRUTH_IF_FITTING = ("answer", "target", "actual", "gt", "true_class", "y_test", "class", "expert")
"""Names of the truth beside columns of models that give its labels."""

_TRUE_ANYWAY = ("truth", "gold", "human")
"""Parts of a name that say truth even where the whole name is not in the list."""

FIRST_WORDS = frozenset({"base", "baseline", "initial", "start", "pretrained"})
"""Names of the model before the first round."""

_SURE, _SMALL = 3.29, 2.58
"""How many standard errors from chance two columns must agree (p < .001; below 100 rows .01)."""


def plain(name: str) -> str:
    """Return a name in lower case with one underscore between its words.

    >>> plain(" Worker ID"), plain("model-wrong?")
    ('worker_id', 'model_wrong')
    """
    return "_".join(re.findall(r"[^\W_]+", name.lower()))


# What cells mean: right or wrong, fooled or not, valid or not, still open.


def _words(text: str) -> frozenset[str]:
    return frozenset(word.strip() for word in text.split(","))


YES, NO = _words("1,1.0,true,yes,y,t"), _words("0,0.0,false,no,n,f")
_GOOD = _words(
    "valid,confirmed,verified,agree,agreed,agrees,approved,approve,c,safe,refused,refusal,blocked,"
    "harmless"
)
_BAD = _words("invalid,denied,disagree,disagreed,disagrees,i")
_SURELY = _words(
    "fooled,jailbroken,jailbreak,complied,compliance,bypassed,breached,violation,model fooled,"
    "attack success,attack succeeded"
)
_SURELY_NOT = _words(
    "not fooled,no hit,model not fooled,not jailbroken,attack failed,attack failure"
)
"""Words that say fooled or not, whatever their column is called."""
_FOOLED = _SURELY | _words("success,successful,succeeded,wrong,incorrect,hit,unsafe,harmful")
_NOT_FOOLED = _SURELY_NOT | _words(
    "failure,failed,fail,right,correct,safe,refused,refusal,blocked,harmless,unsuccessful,passed,"
    "pass,miss"
)
_OPEN = _words(
    "flagged,flag,unsure,pending,unverified,unvalidated,open,unchecked,unknown,skipped,queued,"
    "not validated,not checked,not verified"
)

_KINDS = {
    "right": (YES | _GOOD, NO | _BAD, frozenset[str]()),
    "wrong": (YES | _FOOLED, NO | _NOT_FOOLED, _OPEN),
    "valid": (YES | _GOOD, NO | _BAD, _OPEN),
    "flag": (YES, NO, frozenset[str]()),
}
"""What a column can say: words for yes, for no, and for neither yet."""


def label(cell: Any) -> str | None:
    """Return what a cell says as one word, case and blanks aside; None for no answer.

    >>> label(" Entailment"), label(1.0), label("1"), label("n/a")
    ('entailment', '1', '1', None)
    """
    if is_missing(cell) or is_no_answer(cell):
        return None
    told = spelling(cell)
    return as_word(told) or str(told)


def meaning(cell: Any, kind: str) -> bool | Literal["?"] | None:
    """Return whether a cell says yes; None if it says nothing yet, "?" if it is no such word.

    >>> meaning("Wrong", "right"), meaning("wrong", "wrong"), meaning("", "right"), meaning(2, "flag")
    (False, True, None, '?')
    >>> meaning("richtig", "right"), meaning("falsch", "right")
    (True, False)
    """
    word = label(cell)
    yes, no, still = _KINDS[kind]
    if word is None or word in still:
        return None
    if word in yes or word in no:
        return word in yes
    told = as_pass_fail([word]) if kind in ("right", "valid") else None
    return {1.0: True, 0.0: False}.get((told or {}).get(word, 0.5), "?")


def read_marks(data: Data, column: str, kind: str) -> list[bool | None]:
    """Return a column of right or wrong (fooled, valid) row by row; ask about anything else."""
    never, silent = set(map(str, data.rules.never_true)), set(map(str, data.rules.missing))
    told: dict[Any, bool | None] = {}
    out = []
    for row, cell in enumerate(data.cells(column)[column]):
        if cell not in told:
            found = None if str(cell) in silent else meaning(cell, kind)
            if str(cell) in never:
                found = kind == "wrong"
            if found == "?":
                way = quote(str(cell))
                never_true = (f"--never-true={way}",) if kind == "right" else ()
                raise AskError(
                    f"{data.place(row + 1)}: column {column!r} holds {cell!r}, which says neither"
                    " yes nor no. Is it no answer, or a wrong one?",
                    role="missing",
                    candidates=(str(cell),),
                    calls=(f"--missing={way}", *never_true),
                )
            told[cell] = found
        out.append(told[cell])
    return out


def texts(data: Data, column: str, kept: Sequence[int], *, what: str = "") -> list[str]:
    """Return cells of the rows *kept* as text; where it matters *what* they name, none is blank."""
    cells = data.cells(column)[column]
    for row in kept if what else ():
        if is_missing(cells[row]):
            raise InputError(
                f"{data.place(row + 1)}: column {column!r} is blank: every row needs its {what}"
            )
    return ["" if is_missing(cells[row]) else str(cells[row]).strip() for row in kept]


# The columns of one log.


@dataclass(frozen=True, kw_only=True)
class Columns:
    """The columns of a log by what they hold; None where there is no such column.

    Parameters
    ----------
    shape
        What a row is.
    wrong, correct
        What says how the model fared: that it was wrong (fooled), or that it was right.
    models, marks
        Wide: one column per model, and whether they say right or wrong instead of an answer.
    turned
        Wide: whether they say wrong instead of right.
    """

    shape: Shape
    annotator: str | None = None
    held_out: str | None = None
    round: str | None = None
    model: str | None = None
    item: str | None = None
    wrong: str | None = None
    correct: str | None = None
    truth: str | None = None
    prediction: str | None = None
    validated: str | None = None
    yes: str | None = None
    no: str | None = None
    retracted: str | None = None
    cost: str | None = None
    time: str | None = None
    models: tuple[str, ...] = ()
    marks: bool = False
    turned: bool = False

    @property
    def outcome(self) -> str | None:
        """The column that says how the model fared."""
        held = self.wrong or self.correct
        return held or (self.prediction if self.truth else None)

    def found(self) -> dict[str, Any]:
        """Return what each column is taken for, role to column, as a reading shows it."""
        held = {one.name: getattr(self, one.name, None) for one in fields(Roles)}
        held |= {"fooled": self.wrong if self.shape == "attempts" else None}
        held |= {"correct": self.correct or (self.wrong if self.shape == "long" else None)}
        held |= {"validated": self.validated or self.yes}
        held["prediction"] = (self.prediction,) if self.prediction else ()
        return {name: column for name, column in held.items() if column}


def columns_of(data: Data) -> Columns:
    """Say what the columns of a log are, or ask.

    Examples
    --------
    >>> from tallystick.table import read
    >>> from tallystick.verbs.dynamic.reading import DOOR
    >>> log = {"item": [1, 2, 1, 2], "round": [1, 1, 2, 2], "wrong": [0, 1, 0, 0]}
    >>> found = columns_of(read(log, DOOR))
    >>> found.shape, found.wrong, found.round
    ('long', 'wrong', 'round')
    """
    look = _Look(data)
    found = {**_by_name(look, look.named), **look.named}
    shape = _shape(look, found, data.roles)
    if shape == "attempts":
        return _attempts(look, found)
    if shape == "long":
        return _long(look, found)
    return _wide(look, found, data.roles)


def _named(roles: Roles) -> dict[str, str]:
    """Return the columns that the caller named, by role."""
    given = {name: getattr(roles, name, None) for name in _NAMES}
    given |= {"wrong": roles.fooled, "model": roles.model, "score": None}
    given["prediction"] = roles.prediction[0] if roles.prediction else None
    return {name: column for name, column in given.items() if column is not None}


class _Look:
    """What the columns of a table hold, found once."""

    def __init__(self, data: Data) -> None:
        self.data, self.table = data, data.table
        self.sample = draw(self.table, missing=data.rules.missing)
        self.facts, self.named = self.sample.facts, _named(data.roles)
        self.names = list(self.facts)
        if not self.sample.rows:
            raise InputError("the log is empty")
        mixed = [n for n in self.names if n in self.table.doubtful and not data.rules.coerce]
        if mixed:
            why = self.table.doubtful[mixed[0]]
            raise InputError(f"{self.table.source}: {why}, or leave it out (--ignore {mixed[0]})")

    def says(self, name: str, kind: str) -> bool:
        """Say whether at least half of the cells are words of a kind, and yes or no among them."""
        facts = self.facts[name]
        counts = facts.counts
        if facts.decimals and facts.distinct < LISTED:
            counts = Counter(self.sample.column(name).drop_null().to_pylist())
        told = [(meaning(value, kind), n) for value, n in counts.items()]
        good = sum(n for one, n in told if one != "?")
        return any(isinstance(one, bool) for one, _ in told) and 2 * good >= sum(n for _, n in told)

    def is_number(self, name: str) -> bool:
        """Say whether all cells are numbers, and not just a count of the rows."""
        facts = self.facts[name]
        counts = facts.is_unique and facts.seen > 2 and not facts.decimals
        span = (facts.high or 0.0) - (facts.low or 0.0)
        return facts.is_number and not (counts and span == facts.seen - 1)

    def differs_within(self, column: str, item: str) -> bool:
        """Say whether an item has several values of another column."""
        cell, other = identifier(item), identifier(column)
        sql = f"select 1 from rows group by {cell} having count(distinct {other}) > 1 limit 1"
        return bool(self.table.query(sql))


def _by_name(look: _Look, named: Mapping[str, str]) -> dict[str, str]:
    """Return roles by the names of columns, where their cells can play them."""
    taken = {*named.values(), *look.data.roles.columns()}
    unnamed = [n for n in reversed(look.names) if n not in taken]
    free = {_AROUND.sub("", plain(n)): n for n in unnamed} | {plain(n): n for n in unnamed}
    found: dict[str, str] = {}
    for role, names in _NAMES.items():
        if role in named or (role in ("yes", "no") and "validated" in named):
            continue
        for name in names:
            column = free.get(name)
            if column is not None and _can_be(look, role, column):
                found[role] = column
                free = {key: n for key, n in free.items() if n != column}
                break
    if "yes" not in found or "no" not in found:
        found.pop("yes", None), found.pop("no", None)
    if "truth" not in {*found, *named}:
        parts = [n for n in unnamed if n in free.values()]
        parts = [n for n in parts if set(plain(n).split("_")) & set(_TRUE_ANYWAY)]
        found |= {"truth": parts[0]} if len(parts) == 1 else {}
    # Words such as "model not fooled" say what a column holds, whatever it is called.
    if not {"wrong", "correct", "success"} & {*found, *named}:
        telling = [
            n
            for n in free.values()
            if (_SURELY | _SURELY_NOT) & set(map(as_word, look.facts[n].counts))
        ]
        telling = [n for n in telling if look.says(n, "wrong")]
        found |= {"wrong": telling[0]} if telling else {}
    return found


def _can_be(look: _Look, role: str, column: str) -> bool:
    """Say whether what a column holds can play a role."""
    facts = look.facts[column]
    if role in ("wrong", "success", "retracted", "correct"):
        return look.says(column, "right" if role == "correct" else "wrong")
    if role == "held_out":
        return look.says(column, "flag") or bool(HELD_OUT & set(map(as_word, facts.counts)))
    if role == "item":
        words = {label(value) for value in facts.counts}
        return not words or not words <= {*YES, *NO, None} - {"y", "n"}
    if role in ("model", "annotator"):
        return not look.says(column, "flag") and facts.filled == facts.rows
    if role == "round":
        return not facts.is_empty
    return role != "score" or look.is_number(column)


HELD_OUT = frozenset({"held out", "heldout", "test", "eval", "dev", "holdout"})
"""Words of a split that no round was trained on."""


def _shape(look: _Look, found: Mapping[str, str], roles: Roles) -> Shape:
    """Say what a row is."""
    item, outcome = found.get("item"), _outcome(found)
    many = [name for name in roles.models if name in look.table.columns]
    if roles.fooled or roles.annotator or roles.validated:
        return "attempts"
    if len(many) > 1 or (many and outcome is None):
        return "wide"
    if "held_out" in found:
        return "long" if outcome else "wide"
    checked = "validated" in found or "yes" in found
    if "annotator" in found and (outcome or checked):
        among = item and "model" in found and look.differs_within(found["model"], item)
        return "long" if among and outcome else "attempts"
    tries = "wrong" in found or "success" in found
    # What is called wrong or error is the outcome of an item: a log of attempts never says so.
    name = _AROUND.sub("", plain(found.get("wrong", "")))
    tries &= name not in _NAMES["wrong"][_NAMES["wrong"].index("wrong") :]
    if tries and (checked or not item or not look.table.repeats(item)):
        return "attempts"
    if outcome and ({"round", "model"} & {*found} or (item and look.table.repeats(item))):
        return "long"
    return "wide"


def _outcome(found: Mapping[str, str]) -> str | None:
    roles = [role for role in ("wrong", "correct", "success", "score") if role in found]
    return found[roles[0]] if roles else found.get("prediction") if "truth" in found else None


def _kept(found: Mapping[str, str], *roles: str) -> dict[str, Any]:
    return {role: found[role] for role in roles if role in found}


def _attempts(look: _Look, found: dict[str, str]) -> Columns:
    """Return the columns of attempts: one way to tell the outcome, one to tell validity."""
    held = _kept(found, "annotator", "round", "item", "truth", "cost", "time", "model")
    held |= _kept(found, "prediction", "validated", "yes", "no", "retracted")
    wrong = found.get("wrong") or found.get("success")
    if wrong and ("wrong" in look.named or "correct" not in look.named):
        held["wrong"] = wrong
    else:
        held |= _kept(found, "correct")
    if "yes" in found and "validated" not in look.named:
        held.pop("validated", None)
    columns = Columns(shape="attempts", **held)
    if columns.outcome is None:
        raise InputError(
            "no column says how the model fared: name one (--correct COLUMN, or call it fooled), or"
            " the model's answer and the right one (--prediction COLUMN --truth COLUMN)"
        )
    return columns


def _long(look: _Look, found: dict[str, str]) -> Columns:
    """Return the columns of a log of items and models; ask which way a column points."""
    held = _kept(found, "round", "item", "truth", "model", "held_out")
    models = look.data.roles.models
    if models and models[0] in look.table.columns:
        held["model"] = models[0]
    if "success" in found and not {"wrong", "correct"} & {*found}:
        name = quote(found["success"])
        raise AskError(
            f"{look.data.source}: whose success does {found['success']!r} tell: the model's, or"
            " that of whoever tried to fool it? Of the second, name the column fooled.",
            role="correct",
            candidates=(found["success"],),
            calls=(f"--correct {name}",),
        )
    for role in ("wrong", "correct", "score"):
        if role in look.named or (role in found and not {"wrong", "correct"} & {*look.named}):
            held[role] = found[role]
            break
    held |= _kept(found, "prediction") if "truth" in found else {}
    score = held.pop("score", None)
    if score is not None:
        if not look.says(score, "flag"):
            raise _scores(look, [score])
        held["correct"] = score
    return Columns(shape="long", **held)


def _scores(look: _Look, columns: Sequence[str]) -> InputError:
    """Refuse scores: from which one on an answer is right is for the owner of the log to say."""
    ends = [(look.facts[n].low or 0.0, look.facts[n].high or 0.0) for n in columns]
    low, high = min(low for low, _ in ends), max(high for _, high in ends)
    return InputError(
        f"{look.data.source}: scores of {names_of(columns)} go from {low:g} to {high:g}. Write 1"
        " where an answer is right and 0 where it is wrong instead"
    )


# Wide logs: which columns are models.


def _wide(look: _Look, found: dict[str, str], roles: Roles) -> Columns:
    """Return the columns of a wide log: models beside a truth, or right and wrong alone."""
    held = _kept(found, "round", "item", "truth", "held_out")
    if roles.truth is None:
        held.pop("truth", None)
        by_name = {plain(n): n for n in look.names if n not in {*held.values(), *roles.models}}
        likely = [found.get("truth", ""), *(by_name.get(n, "") for n in _TRUTH_IF_FITTING)]
        others = [n for n in look.names if n not in held.values()]
        fits = (n for n in likely if n and any(_shared(look, m, n) for m in others if m != n))
        held |= {"truth": name} if (name := next(fits, None)) else {}
    truth = held.get("truth")
    models = tuple(name for name in roles.models if name in look.table.columns)
    free = [n for n in look.names if n not in {*held.values()} and n not in roles.holders()]
    if not models:
        # A model may be called like a role that a wide log has no use for.
        free = [n for n in free if not look.facts[n].times]
        free = [n for n in free if not look.facts[n].is_constant or look.says(n, "right")]
        models = _voters(look, free, truth)
    if not models:
        raise InputError(
            f"{look.data.source}: no columns hold models' answers beside a truth, or right and"
            " wrong. Name them (--models a,b,c), with the true label (--truth COLUMN) if they"
            " are answers"
        )
    # A column that is called correct, or wrong, says so whatever the labels of the truth are.
    wrong, right = (set(_NAMES[role]) for role in ("wrong", "correct"))
    called = all(set(plain(n).split("_")) & (wrong | right) for n in models)
    marks = truth is None or called or not any(_shared(look, n, truth) for n in models)
    if not marks:
        strange = [name for name in models if not _shared(look, name, truth or "")]
        if strange:
            raise InputError(
                f"column {strange[0]!r} never gives one of the true labels of {truth!r}, so it is"
                " not a model that answers. Name the models (--models)"
            )
    elif not all(look.says(name, "right") for name in models):
        numbers = [name for name in models if not look.says(name, "right")]
        if all(look.is_number(name) for name in numbers):
            raise _scores(look, numbers)
        raise InputError(
            f"column {numbers[0]!r} says neither right nor wrong: name the true label (--truth), or"
            " the models (--models)"
        )
    turned = marks and all(set(plain(n).split("_")) & wrong for n in models)
    return Columns(
        shape="wide",
        **{**held, "truth": None if marks else truth},
        models=models,
        marks=marks,
        turned=turned,
    )


def _shared(look: _Look, name: str, truth: str) -> bool:
    """Say whether half of the filled cells of a column carry labels of the truth."""
    mine, true = look.facts[name].counts, look.facts[truth].counts
    labels = set(map(label, true))
    return (
        2 * sum(n for value, n in mine.items() if label(value) in labels) >= sum(mine.values()) > 0
    )


def _voters(look: _Look, free: list[str], truth: str | None) -> tuple[str, ...]:
    """Return the columns that are models by what they hold; ask about those that fit nothing."""
    answers = [] if truth is None else [n for n in free if _shared(look, n, truth)]
    marks = answers or [n for n in free if look.says(n, "right")]
    if not marks:
        return tuple(n for n in free if look.is_number(n))
    # Columns whose names differ in one part alone belong together, however little they agree.
    odd = _unlike(look, marks, truth if answers else None)
    odd = [n for n in odd if not any(n != m and are_alike((n, m)) for m in marks)]
    kept = [n for n in marks if n not in odd]
    if odd and len(marks) > 2 and (kept or not answers):
        first, second = (marks, kept) if look.sample.rows < 100 else (kept, marks)
        raise AskError(
            f"{look.data.source}: which columns are models? No other column agrees with"
            f" {names_of(odd)} more than chance would.",
            role="models",
            candidates=tuple(marks[:8]),
            calls=tuple(f"--models {quote(','.join(each))}" for each in (first, second) if each),
        )
    truth_like = None if answers else unlike_name(marks)
    if truth_like is not None and plain(truth_like) not in FIRST_WORDS:
        rest = [n for n in marks if n != truth_like]
        raise AskError(
            f"{look.data.source}: is {truth_like} the truth, or one of the models?",
            role="truth",
            candidates=(truth_like,),
            calls=(f"{flag('truth', truth_like)} {flag('models', *rest)}", flag("models", *marks)),
        )
    return tuple(marks)


def _unlike(look: _Look, marks: Sequence[str], truth: str | None) -> list[str]:
    """Return the columns that agree with the truth, or any other column, no more than chance would.

    Models fail on the same hard items. ``cached`` and ``flagged`` do not follow them.
    """
    names = [*marks, *([truth] if truth else [])]
    beyond = agreement(look.sample.codes(names))[1]
    np.fill_diagonal(beyond, np.nan)
    bar = _SURE if look.sample.rows >= 100 else _SMALL
    return [name for name, row in zip(marks, beyond, strict=False) if not (row > bar).any()]
