"""From a table of attempts to its log: who tried, what happened, what validators said."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np

from tallystick.errors import InputError
from tallystick.papers.dynamic_benchmarks.designs import Array
from tallystick.table import Data, Label, Roles, Table, identifier, is_missing
from tallystick.table.reading_names import ROLE_NAMES, TRUTH, parts, plain
from tallystick.table.words import as_word, is_no_answer, read_times
from tallystick.verbs.dynamic.attempt_result import ONE_ROUND
from tallystick.verbs.dynamic.attempts import (
    FOOLED,
    INVALID,
    NO,
    NOT_FOOLED,
    OPEN,
    RIGHT,
    VALID,
    YES,
    Attempts,
    all_of,
    say_fooled,
)
from tallystick.verbs.dynamic.rounds import RoundOrder, order_rounds

NOBODY = "(nobody is named)"
"""The annotator of a log that names none."""


_CLOCK = re.compile(r"(?:(\d+) days?,? )?(\d+):(\d{1,2}):(\d{1,2}(?:\.\d+)?)")


def attempts_of(data: Data) -> tuple[Attempts, dict[str, Array], AttemptColumns, tuple[str, ...]]:
    """Return the attempts that *data* holds, which of them fooled other models, the columns that
    were taken, and notes.

    Attempts without an outcome are left out and counted in a note.
    """
    columns = attempts_in(data.table, data.roles)
    fooled, known = _outcome(data, columns)
    kept = np.flatnonzero(known).tolist()
    if not kept:
        raise InputError(f"no attempt says whether the model was fooled ({columns.outcome!r})")
    notes: list[str] = []
    blank = len(known) - len(kept)
    if blank:
        notes.append(f"{blank:,} of {len(known):,} attempts have no outcome and are left out")

    def texts(column: str | None) -> Array | None:
        if column is None:
            return None
        cells = data.cells(column)[column]
        return np.array(["" if is_missing(cells[k]) else str(cells[k]) for k in kept])

    unused = unused_validation(data.table, columns)
    if unused:
        notes.append(
            f"{', '.join(map(repr, unused))} may say which labels were found valid and"
            f" {'is' if len(unused) == 1 else 'are'} not used: name one (--validated {unused[0]})"
        )
    times = _times(data, columns.time, kept, notes)
    order = _rounds(data, columns, kept, times, notes)
    annotator = _annotators(data, columns.annotator, kept)
    if columns.annotator is None:
        notes.append("no column names who made the attempts (--annotator COLUMN)")
    yes, no, valid = _validity(data, columns, kept)
    retracted = _flags(data, columns.retracted, kept)
    log = Attempts(
        annotator=annotator,
        round=order.codes,
        fooled=fooled[kept],
        model=texts(columns.model),
        item=texts(columns.item),
        yes=yes,
        no=no,
        valid=valid,
        retracted=retracted,
        cost=_costs(data, columns.cost, kept, notes),
        order=None if times is None else np.unique(times, return_inverse=True)[1],
        round_names=order.names,
    )
    return log, _others(data, columns, kept), columns, (*notes, *order.notes)


def _rounds(
    data: Data,
    columns: AttemptColumns,
    kept: Sequence[int],
    times: Array | None,
    notes: list[str],
) -> RoundOrder:
    column = columns.round
    if column is None:
        way = f"--round {columns.time}: one round per day" if columns.time else "--round COLUMN"
        notes.append(f"there is no column of rounds, so all attempts are one round ({way})")
        return RoundOrder(np.zeros(len(kept), dtype=np.int64), (ONE_ROUND,))
    cells = data.cells(column)[column]
    gap = next((k for k in kept if is_missing(cells[k])), None)
    if gap is not None:
        raise InputError(
            f"{data.place(gap + 1)}: column {column!r} is blank: every attempt needs its round"
        )
    return order_rounds(
        [cells[k] for k in kept],
        when=None if times is None else times.tolist(),
        clock=columns.time or "time",
    )


def _annotators(data: Data, column: str | None, kept: Sequence[int]) -> Array:
    if column is None:
        return np.full(len(kept), NOBODY)
    cells = data.cells(column)[column]
    gap = next((k for k in kept if is_missing(cells[k])), None)
    if gap is not None:
        raise InputError(
            f"{data.place(gap + 1)}: column {column!r} is blank: name the annotator of every"
            " attempt, because intervals rest on who made it"
        )
    return np.array([str(cells[k]) for k in kept])


def _outcome(data: Data, columns: AttemptColumns) -> tuple[Array, Array]:
    """Return which attempts fooled the model, and which say so at all."""
    if columns.fooled or columns.correct:
        name = columns.fooled or columns.correct or ""
        yes, no = (FOOLED, NOT_FOOLED) if columns.fooled else (RIGHT, INVALID)
        read = _reader(data, name, yes, no)
        values = [read(k, cell) for k, cell in enumerate(data.cells(name)[name])]
        known = np.array([value is not None for value in values])
        said = np.array([bool(value) for value in values])
        return (said if columns.fooled else ~said), known
    if columns.prediction is None or columns.truth is None:
        raise InputError(
            "no column says how the model fared: name one (--fooled COLUMN or --correct COLUMN), or"
            " the model's answer and the right one (--prediction COLUMN --truth COLUMN)"
        )
    return _compared(data, columns.truth, columns.prediction)


def _compared(data: Data, truth: str, answers: str) -> tuple[Array, Array]:
    """Return where an answer is not the truth, and where both are given; case does not matter."""
    cells = data.cells(truth, answers)
    pairs = [tuple(map(_label, pair)) for pair in zip(cells[truth], cells[answers], strict=True)]
    known = np.array([right is not None and said is not None for right, said in pairs])
    return np.array([right != said for right, said in pairs]), known


def _label(cell: Any) -> str | None:
    if is_missing(cell) or is_no_answer(cell):
        return None
    return as_word(cell) or str(cell)


def _reader(
    data: Data, name: str, yes: frozenset[str], no: frozenset[str]
) -> Callable[[int, Any], bool | None]:
    """Return a function that reads a cell as yes, no or nothing, and refuses what is neither."""

    def read(k: int, cell: Any) -> bool | None:
        if is_missing(cell) or is_no_answer(cell):
            return None
        word = as_word(cell) or str(cell)
        if word in yes:
            return True
        if word in no:
            return False
        if word in OPEN:
            return None
        raise InputError(
            f"{data.place(k + 1)}: column {name!r} is {cell!r}, which says neither yes nor no:"
            " write 1 and 0 (or true and false), or name another column"
        )

    return read


def _flags(data: Data, column: str | None, kept: Sequence[int]) -> Array | None:
    if column is None:
        return None
    read = _reader(data, column, YES, NO)
    cells = data.cells(column)[column]
    return np.array([bool(read(k, cells[k])) for k in kept])


def _validity(
    data: Data, columns: AttemptColumns, kept: Sequence[int]
) -> tuple[Array | None, Array | None, Array | None]:
    """Return votes for, votes against, or whether labels were found valid."""
    if columns.yes and columns.no:
        votes = data.numbers(columns.yes, columns.no, low=0.0)[kept]
        votes = np.nan_to_num(votes).astype(int)
        return votes[:, 0], votes[:, 1], None
    if columns.validators:
        yes, no = _votes(data, columns, kept)
        return yes, no, None
    if columns.validated:
        read = _reader(data, columns.validated, VALID, INVALID)
        cells = data.cells(columns.validated)[columns.validated]
        found = [read(k, cells[k]) for k in kept]
        return None, None, np.array(found, dtype=object)
    return None, None, None


def _votes(data: Data, columns: AttemptColumns, kept: Sequence[int]) -> tuple[Array, Array]:
    """Count each cell's votes: words for valid and invalid, or labels held against the truth."""
    column = columns.validators or ""
    cells = data.cells(column)[column]
    truth = data.cells(columns.truth)[columns.truth] if columns.truth else None
    yes, no = np.zeros(len(kept), dtype=int), np.zeros(len(kept), dtype=int)
    for place, k in enumerate(kept):
        if is_missing(cells[k]):
            continue
        for word in re.split(r"[,;|\s]+", str(cells[k]).strip("[] ").replace("'", "")):
            if not word or (as_word(word) or "") in OPEN or is_no_answer(word):
                continue  # a flag is no vote
            if (as_word(word) or word) in VALID or (truth is not None and word == str(truth[k])):
                yes[place] += 1
            elif (as_word(word) or word) in INVALID or truth is not None:
                no[place] += 1
            else:
                raise InputError(
                    f"{data.place(k + 1)}: column {column!r} holds the vote {word!r}: write valid"
                    " and invalid (or the labels, with --truth)"
                )
    return yes, no


def _costs(data: Data, column: str | None, kept: Sequence[int], notes: list[str]) -> Array | None:
    """Return what each attempt cost; times such as 0:01:30 become seconds."""
    if column is None:
        return None
    cells = data.cells(column)[column]
    clocks = [_CLOCK.fullmatch(str(cells[k]).strip()) for k in kept]
    if any(clocks):
        parts = [c.groups(default="0") if c else ("0",) * 4 for c in clocks]
        values = np.array(
            [86400 * int(d) + 3600 * int(h) + 60 * int(m) + float(s) for d, h, m, s in parts]
        )
        values[[c is None for c in clocks]] = np.nan
    else:
        values = data.numbers(column, low=0.0)[kept, 0]
    blank = int(np.isnan(values).sum())
    if blank:
        notes.append(f"{blank:,} attempts have no {column}: no cost per success is given")
        return None
    return np.asarray(values)


def _times(data: Data, column: str | None, kept: Sequence[int], notes: list[str]) -> Array | None:
    """Return when each attempt was made; None, with a note, where the column cannot be read."""
    if column is None:
        return None
    cells = data.cells(column)[column]
    found = read_times(["" if is_missing(cells[k]) else str(cells[k]) for k in kept])
    if found.seconds is None:
        notes.append(
            f"column {column!r} gives no order in time ({found.note}), so the attempts are taken in"
            " the order of the rows"
        )
        return None
    if found.note:
        notes.append(f"column {column!r}: {found.note}")
    return np.array(found.seconds)


def _others(data: Data, columns: AttemptColumns, kept: Sequence[int]) -> dict[str, Array]:
    """Return for each further model which attempts it gets wrong: 1, 0, or -1 unanswered."""
    found: dict[str, Array] = {}
    for name in data.roles.models:
        if columns.truth is not None:
            differs, known = _compared(data, columns.truth, name)
            wrong = np.where(known, differs, -1)[kept]
        else:
            read = _reader(data, name, VALID, INVALID)
            cells: Mapping[str, list[Any]] = data.cells(name)
            said = [read(k, cells[name][k]) for k in kept]
            wrong = np.array([-1 if value is None else int(not value) for value in said])
        found[name] = np.asarray(wrong)
    return found


# Which columns of an attempt log are what: by the names that campaigns and tools give them.
#
# A table is a log of attempts if it says whether the model was fooled, or who made the attempt and
# how the model answered. What the caller names comes first.


_NAMES: dict[str, str] = {
    "annotator": (
        "annotator annotator_id annotatorid annotator_name anon_uid worker worker_id workerid "
        "crowdworker crowdworker_id turker turker_id participant participant_id contributor "
        "contributor_id author author_id writer writer_id red_teamer redteamer red_teamer_id "
        "red_team_member attacker attacker_id tester tester_id player player_id username "
        "user_name user user_id userid operator probe "
        "probe_classname"
    ),
    "round": "round rounds round_id roundid rid r_realid round_number wave phase iteration",
    "model": (
        "model model_name modelname target_model target target_name model_in_loop "
        "model_in_the_loop model_endpoint_name endpoint llm system victim generator"
    ),
    "item": (
        "item item_id attempt_id example_id eid conversation_id prompt_id uuid id uid attempt"
    ),
    "fooled": (
        "model_wrong fooled model_fooled is_fooled fooling fooled_model attack_success "
        "attack_succeeded attack_successful success successful is_success jailbroken "
        "jailbreak is_jailbroken jailbreak_success model_failed model_error broke_model "
        "bypassed breached policy_violation violation unsafe is_unsafe harmful is_harmful hit"
    ),
    "correct": "correct is_correct model_correct model_is_correct model_right right",
    "prediction": (
        "prediction model_prediction predicted pred model_pred model_label model_answer "
        "answer response_label predicted_label"
    ),
    "truth": (
        "gold label true_label intended_label target_label annotator_label target_pred expected"
    ),
    "validated": (
        "validated valid is_valid verified is_verified validation confirmed is_confirmed "
        "label_valid valid_label accepted approved review_result validation_result "
        "validator_verdict"
    ),
    "yes": (
        "votes_yes yes_votes n_yes num_yes validators_yes votes_valid valid_votes "
        "verified_correct correct_votes votes_for agree n_agree num_agree upvotes"
    ),
    "no": (
        "votes_no no_votes n_no num_no validators_no votes_invalid invalid_votes "
        "verified_incorrect incorrect_votes votes_against disagree n_disagree num_disagree "
        "downvotes"
    ),
    "validators": "validators validations validator_labels verifier_labels validator_votes",
    "retracted": "retracted is_retracted withdrawn",
    "cost": (
        "cost cost_usd cost_eur price payment pay paid reward amount usd bonus time_elapsed "
        "seconds duration duration_s time_spent minutes elapsed"
    ),
    "time": (
        "time timestamp created_at created submitted_at datetime date generated_datetime started_at"
    ),
}
"""What each column is called, the surest name first; names are compared in lower case."""


_OUTCOMES = ("outcome", "result", "verdict", "status", "label", "attack_result", "model_outcome")
"""Names of columns that may say fooled or not: their cells decide."""
_VALIDITY = "validated valid validation validity verified verification confirmed approved accepted"
"""Words in the name of a column that may say which labels were found valid: its cells decide."""
_NOT_VALIDITY = (
    "by at on date time timestamp id reason comment note notes count number n num score confidence"
    " email user name"
)
"""Words that say of such a name that it holds something else: ``verified_by``."""
_MOST_WORDS = 12


@dataclass(frozen=True, kw_only=True)
class AttemptColumns:
    """The columns of an attempt log by what they hold; None where there is no such column."""

    annotator: str | None = None
    round: str | None = None
    model: str | None = None
    item: str | None = None
    fooled: str | None = None
    correct: str | None = None
    prediction: str | None = None
    truth: str | None = None
    validated: str | None = None
    yes: str | None = None
    no: str | None = None
    validators: str | None = None
    retracted: str | None = None
    cost: str | None = None
    time: str | None = None

    @property
    def outcome(self) -> str | None:
        """The column that says how the model fared: fooled, correct, or its answer beside the
        truth.
        """
        if self.fooled or self.correct:
            return self.fooled or self.correct
        return self.prediction if self.truth else None

    def found(self) -> dict[str, str]:
        """Return what each column is taken for, role to column."""
        held = {one.name: getattr(self, one.name) for one in fields(self)}
        return {name: column for name, column in held.items() if column is not None}


def find_attempts(columns: Sequence[str], given: Roles) -> AttemptColumns:
    """Return the columns of an attempt log: those that the caller named, then those by name.

    Examples
    --------
    >>> found = find_attempts(["Worker ID", "round", "model_wrong", "cost_usd"], Roles())
    >>> found.annotator, found.fooled, found.cost
    ('Worker ID', 'model_wrong', 'cost_usd')
    """
    named = {name: getattr(given, name, None) for name in _NAMES}
    named["prediction"] = given.prediction[0] if given.prediction else None
    taken = {column for column in [*named.values(), *given.models] if column is not None}
    plains = {plain(name): name for name in columns if name not in taken}
    found: dict[str, str | None] = {}
    for role, names in _NAMES.items():
        chosen = named[role]
        if chosen is None and not (role in ("yes", "no") and given.validated):
            chosen = next((plains[name] for name in names.split() if name in plains), None)
        if chosen is None and role == "truth":
            chosen = next((plains[name] for name in TRUTH if name in plains), None)
        if chosen is not None:
            found[role] = chosen
            plains = {name: column for name, column in plains.items() if column != chosen}
    if not (found.get("yes") and found.get("no")):
        found |= {"yes": None, "no": None}

    # One way to tell the outcome, and one to tell validity: the surest of each.
    if found.get("fooled"):
        found["correct"] = None
    if given.correct and not given.fooled:
        found |= {"fooled": None, "correct": given.correct}
    if found.get("yes") or (found.get("validators") and not given.validated):
        found["validated"] = None
    if found.get("yes") or found.get("validated"):
        found["validators"] = None
    return AttemptColumns(**found)


def attempts_in(table: Table, given: Roles) -> AttemptColumns:
    """Return the columns of an attempt log: by name, and where that says too little, by cells.

    ``outcome`` with the cells fooled and not fooled says who was fooled, and ``label_confirmed``
    with yes and no says which labels were found valid.
    """
    usable = [name for name in table.columns if name not in table.left_out]
    found = find_attempts(usable, given)
    if not (found.fooled or found.correct):
        free = [name for name in usable if name not in given.holders()]
        for name in sorted(free, key=lambda one: plain(one) not in _OUTCOMES):
            if say_fooled(_words_in(table, name)):
                found = find_attempts(usable, replace(given, fooled=name))
                break
    if found.validated or found.yes or found.validators:
        return found
    likely = [name for name in _likely_validation(table, found) if _reads_valid(table, name)]
    return replace(found, validated=likely[0]) if len(likely) == 1 else found


def unused_validation(table: Table, found: AttemptColumns) -> tuple[str, ...]:
    """Return columns that are named like a validation, where none was taken for it."""
    if found.validated or found.yes or found.validators:
        return ()
    return tuple(_likely_validation(table, found))


def _likely_validation(table: Table, found: AttemptColumns) -> list[str]:
    held = set(found.found().values()) | set(table.left_out)
    return [
        name
        for name in table.columns
        if name not in held
        and set(parts(name)) & set(_VALIDITY.split())
        and not set(parts(name)) & set(_NOT_VALIDITY.split())
    ]


def _reads_valid(table: Table, name: str) -> bool:
    return all_of(_words_in(table, name), VALID | INVALID | OPEN)


def _words_in(table: Table, name: str) -> list[Label]:
    """Return the different cells of a column; none if they are too many to be a few words."""
    cell = identifier(name)
    rows = table.query(
        f"select distinct {cell} from rows where {cell} is not null limit {_MOST_WORDS + 1}"
    )
    return [value for (value,) in rows] if len(rows) <= _MOST_WORDS else []


def is_attempt_table(table: Table, given: Roles | None = None) -> bool:
    """Say whether a table is a log of attempts, and not a panel or a path.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from tallystick.table import scan
    >>> log = {"worker": ["a", "b"], "round": [1, 1], "fooled": [True, False]}
    >>> is_attempt_table(scan(pa.table(log)))
    True
    """
    roles = given or Roles()
    usable = [name for name in table.columns if name not in table.left_out]
    found = attempts_in(table, roles)
    if roles.held_out or "held_out" in usable:
        return False
    if found.outcome is None:
        # Somebody's attempts, checked by validators: reading them says which column is missing.
        return bool(found.annotator and (found.validated or found.yes) and not found.truth)
    if roles.fooled or roles.annotator or roles.validated or found.fooled:
        return True
    if roles.models:
        return False

    if not table.query("select 1 from rows limit 1"):
        return False

    # An item that two models answered belongs to a panel; one that stands in two rows, to a panel
    # or a path. Each item shown to its round's model only: nothing but attempts can be read there.
    item = roles.item or next((name for name in usable if plain(name) in ROLE_NAMES["item"]), None)
    if found.annotator:
        return not (item and found.model and _repeats(table, item, found.model))
    return bool(found.model and found.correct and item and not _repeats(table, item))


def _repeats(table: Table, item: str, of: str | None = None) -> bool:
    """Say whether an item has several rows, or several values of another column."""
    counted = "*" if of is None else f"distinct {identifier(of)}"
    sql = f"select 1 from rows group by {identifier(item)} having count({counted}) > 1 limit 1"
    return bool(table.query(sql))
