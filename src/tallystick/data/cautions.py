"""What a table shows that a reader must know before relying on an answer from it.

Every capability answers through `tallystick.data.conclude`, so these checks are made once, for all
of them: numbers that may mean no answer, true labels that are a copy of one column, parts of a data
set that were pooled, labels on one block of rows.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from shlex import quote
from typing import TYPE_CHECKING, Any, TypeVar

from tallystick.data.answer_counts import answer_counts
from tallystick.data.copied_truth import CopiedTruth, copied_truth, reversed_votes
from tallystick.data.data import Data
from tallystick.data.label_block import LabelBlock, label_block
from tallystick.data.label_groups import LabelGroups, label_groups
from tallystick.data.label_order import LabelOrder, label_order
from tallystick.data.label_slices import LabelSlice, label_slice
from tallystick.data.no_answer_codes import CodeDoubt, doubted_codes
from tallystick.data.pooled_splits import PooledSplit, pooled_split
from tallystick.data.repeated_questions import RepeatedQuestion, repeated_question
from tallystick.data.unrelated_truth import unrelated_truth
from tallystick.errors import InputError
from tallystick.results import Interval, Result, percent

if TYPE_CHECKING:
    from tallystick.data.capability import Question

__all__ = ["Caution", "ask_about_codes", "find_cautions", "with_cautions"]

_R = TypeVar("_R", bound=Result)


@dataclass(frozen=True, kw_only=True)
class Caution:
    """A warning that the table itself gives rise to.

    Parameters
    ----------
    warning
        What was seen and what to do about it.
    assumption
        What every interval rests on because of it; empty if intervals stay as they are.
    """

    warning: str
    assumption: str = ""


def find_cautions(
    data: Data, *, sliced: bool, sampled: bool = True, clustered: bool = False
) -> tuple[Caution, ...]:
    """Return the cautions of *data*, from what the answer has counted where that is enough.

    *sliced* says that the verb knows slices, *sampled* that a few labels speak for all rows in it,
    *clustered* that it reads which rows belong together.
    """
    found = [Caution(warning=one) for one in data.warnings]
    split = pooled_split(data)
    if split is not None and sliced:
        found.append(_split_caution(split))
    again = repeated_question(data) if sampled else None
    if again is not None:
        found.append(_again_caution(again, clustered=clustered))
    # Items of a dynamic benchmark are chosen so that models err on them: that is no mistake.
    if not sampled and data.roles.old is None:
        return tuple(found)
    block = label_block(data)
    order = label_order(data) if block is None else None
    if block is not None:
        found.append(_block_caution(block))
    elif order is not None:
        found.append(_order_caution(order))
    part = label_slice(data)
    groups = label_groups(data) if part is None else None
    if part is not None:
        found.append(_part_caution(part))
    elif groups is not None:
        found.append(_groups_caution(groups))
    return (*found, *_of_counts(data))


def _of_counts(data: Data) -> list[Caution]:
    """Return the cautions that show in how often answers meet true labels."""
    counts = answer_counts(data)
    if counts is None:
        return []
    found = []
    # Readers of a labelling session did not see the votes.
    copy = copied_truth(counts) if data.session is None else None
    if copy is not None:
        found.append(_copy_caution(copy))
    turned = reversed_votes(counts)
    if turned is not None:
        found.append(_reversed_caution(*turned))
    pairwise = len(data.roles.systems) == 2
    stray = unrelated_truth(counts) if data.session is None and not pairwise else None
    if stray is not None:
        found.append(_stray_caution(stray))
    return found


def _stray_caution(truth: str) -> Caution:
    return Caution(
        warning=(
            f"{truth!r} agrees with no column more than by chance, while the columns agree with one"
            " another. Are its labels on the right rows? Check the names of the items, and whether"
            " the labels were sorted apart from them"
        ),
        assumption=f"the labels of {truth!r} stand on the right rows",
    )


def _reversed_caution(truth: str, agreement: float) -> Caution:
    return Caution(
        warning=(
            f"no column equals {truth!r} on more than {percent(agreement)} of the labelled rows,"
            " with two labels. Are the labels of one side written the other way round (0 for pass"
            " here, 1 for pass there)? Then turn one side round before you rely on any figure here"
        ),
        assumption=f"{truth!r} and the votes mean the same by the same label",
    )


def _copy_caution(copy: CopiedTruth) -> Caution:
    return Caution(
        warning=(
            f"{copy.truth!r} equals {copy.column!r} on all {copy.rows:,} rows that have both, while"
            f" {copy.other!r} equals it on {percent(copy.agreement)}. If {copy.truth!r} was copied"
            f" from {copy.column!r}, made with it in view, or only rows were kept where"
            f" {copy.column!r} is right, it says nothing about the errors of {copy.column!r} and"
            " makes all others look worse"
        ),
        assumption=f"{copy.truth!r} was made without {copy.column!r}",
    )


def _block_caution(block: LabelBlock) -> Caution:
    return Caution(
        warning=(
            f"all {block.labels:,} labels of {block.column!r} are on rows {block.first:,} to"
            f" {block.last:,} of {block.rows:,}. They speak for the others only if the table is in"
            " random order; otherwise label rows drawn at random"
        ),
        assumption="the table is in random order",
    )


def _order_caution(order: LabelOrder) -> Caution:
    return Caution(
        warning=(
            f"all {order.labels:,} labels of {order.truth!r} are on rows with {order.column!r} from"
            f" {order.low} to {order.high}, which are {percent(order.share)} of the table. They"
            f" speak for the others only if nothing changed with {order.column!r}; otherwise label"
            " rows drawn at random"
        ),
        assumption=f"nothing changes with {order.column!r}",
    )


def _again_caution(again: RepeatedQuestion, *, clustered: bool) -> Caution:
    way_out = f"add --cluster {quote(again.column)}" if clustered else "keep one row of each"
    return Caution(
        warning=(
            f"{again.rows:,} rows have {again.cells:,} different cells in {again.column!r}. Rows"
            f" that ask the same are no items of their own, and intervals are too narrow: {way_out}"
        ),
        assumption=f"rows with the same {again.column!r} are as good as new ones",
    )


def _groups_caution(groups: LabelGroups) -> Caution:
    return Caution(
        warning=(
            f"the labels of {groups.truth!r} are on {groups.labelled:,} of the {groups.groups:,}"
            f" different {groups.column!r}, and {percent(groups.share)} of the rows belong to the"
            " others. Rows of one group are often alike, so these labels say less than they seem to"
        ),
        assumption=f"rows are alike whatever their {groups.column!r}",
    )


def _part_caution(part: LabelSlice) -> Caution:
    none = "none" if not part.labels else f"only {part.labels:,}"
    return Caution(
        warning=(
            f"{none} of the {part.all_labels:,} labels of {part.truth!r} are on rows with"
            f" {part.column!r} {part.value}, which are {percent(part.share)} of the table. They"
            f" speak for these rows only if {part.column!r} makes no difference. Label some of"
            f" them, or ask about each part (--by {quote(part.column)})"
        ),
        assumption=f"{part.column!r} makes no difference",
    )


def _split_caution(split: PooledSplit) -> Caution:
    return Caution(
        warning=(
            f"column {split.column!r} says {' and '.join(split.parts[:4])}, and these figures pool"
            f" them. For each of them, add --by {quote(split.column)}"
        )
    )


def ask_about_codes(data: Data, question: Question) -> tuple[Caution, ...]:
    """Ask about numbers that may mean no answer and would change the answer; warn of the others.

    A range that the user gives (``--scale``, ``--bounds``) or a list of labels says that the number
    is an answer: it is then a warning only.
    """
    option, given = question.number_range(data) or ("--labels", None)
    found = []
    for doubt in doubted_codes(data):
        if option == "--labels" and (doubt.code == -1 or data.rules.labels):
            continue  # labels have their own rule for -1, and a list settles every number
        declared = given is not None and given[0] <= doubt.code <= given[1]
        if doubt.is_grave and not declared:
            raise InputError(f"{data.source}: {doubt.text()}; if it is {_an_answer(option, doubt)}")
        found.append(Caution(warning=doubt.text()))
    return tuple(found)


def _an_answer(option: str, doubt: CodeDoubt) -> str:
    """Return how to say that a number is an answer like any other."""
    if option == "--labels":
        return "a label, list all labels (--labels A,B,…)"
    low, high = min(doubt.low, doubt.code), max(doubt.high, doubt.code)
    what = "a grade" if option == "--scale" else "a score"
    return f"{what}, say from where to where they go ({option} {low:g},{high:g})"


def with_cautions(result: _R, cautions: Sequence[Caution]) -> _R:
    """Return *result* with the warnings, and with the assumptions in every interval."""
    if not cautions:
        return result
    warnings = tuple(dict.fromkeys((*result.warnings, *(one.warning for one in cautions))))
    result = replace(result, warnings=warnings)
    for text in dict.fromkeys(one.assumption for one in cautions if one.assumption):
        basis = f"{result.basis} They hold only if {text}." if result.basis else ""
        result = _resting_on(result, text)
        result = replace(result, assumptions=(*result.assumptions, text), basis=basis)
    return result


def _resting_on(held: Any, text: str) -> Any:
    """Return *held* with every interval in it valid only under *text*."""
    if isinstance(held, Interval):
        rests = f"{held.assumption}; {text}" if held.assumption else text
        return replace(held, guarantee="under", assumption=rests)
    if dataclasses.is_dataclass(held) and not isinstance(held, type):
        changed = {}
        for one in dataclasses.fields(held):
            own = getattr(held, one.name)
            if one.init and (new := _resting_on(own, text)) is not own:
                changed[one.name] = new
        return replace(held, **changed) if changed else held
    if isinstance(held, tuple | list):
        parts = [_resting_on(one, text) for one in held]
        same = all(new is old for new, old in zip(parts, held, strict=True))
        return held if same else type(held)(parts)
    if isinstance(held, Mapping):
        made = {key: _resting_on(one, text) for key, one in held.items()}
        return held if all(made[key] is held[key] for key in held) else made
    return held
