"""Which columns of an attempt log are what: by the names that campaigns and tools give them.

A table is a log of attempts if it says whether the model was fooled, or who made the attempt and
how the model answered. What the caller names comes first.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace

from tallystick.data import Roles
from tallystick.data.detect.names import ITEM_NAMES, TRUTHS, plain, tokens
from tallystick.dynamic.attempt_words import INVALID, OPEN, VALID, all_of, say_fooled
from tallystick.io import Table, identifier
from tallystick.values import Label

__all__ = [
    "AttemptColumns",
    "attempts_in",
    "find_attempts",
    "is_attempt_table",
    "unused_validation",
]

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
            chosen = next((plains[name] for name in sorted(TRUTHS) if name in plains), None)
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
        and set(tokens(name)) & set(_VALIDITY.split())
        and not set(tokens(name)) & set(_NOT_VALIDITY.split())
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
    >>> from tallystick.io import scan
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
    item = roles.item or next((name for name in usable if plain(name) in ITEM_NAMES), None)
    if found.annotator:
        return not (item and found.model and _repeats(table, item, found.model))
    return bool(found.model and found.correct and item and not _repeats(table, item))


def _repeats(table: Table, item: str, of: str | None = None) -> bool:
    """Say whether an item has several rows, or several values of another column."""
    counted = "*" if of is None else f"distinct {identifier(of)}"
    sql = f"select 1 from rows group by {identifier(item)} having count({counted}) > 1 limit 1"
    return bool(table.query(sql))
