"""What to label in order to score systems: their means, which of two is better, or the best of k.

Everything comes from the same outputs that ``score`` reads. Strata are made from the judges alone,
system by system, since what a judge's vote means differs between systems.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from tallystick.errors import InputError
from tallystick.results import Interval
from tallystick.sampling.contest import judged_contest
from tallystick.sampling.draws import GUESS_FLOOR, LabelStrata, score_strata, share_spread
from tallystick.sampling.duels import gap_spread, gap_strata
from tallystick.sampling.planned import Estimator, mean_of, pooled_rows
from tallystick.sampling.tasks import LabelTask, Measure, Value, votes_task_strata
from tallystick.sampling.votes import AnyInts, Floats, Ints, patterns_of
from tallystick.stats.few_labels import fit
from tallystick.table import NUMBER, PASS_FAIL, Data, Label, as_pass_fail, is_no_answer
from tallystick.table.grades import Scale, word_worth
from tallystick.table.panel_grades import NO_ITEM, GradePanel, item_groups, read_patterns
from tallystick.table.session import Session
from tallystick.table.words import as_word
from tallystick.verbs.score.question import ScoreQuestion

_UNITS = "means of grades are shown as shares of the scale: 0% is {:g}, 100% is {:g}"

PASS, FAIL = "pass", "fail"
"""The answers that people are offered where the table shows no word of its own."""


@dataclass(frozen=True, kw_only=True, eq=False)
class _Believed:
    """What the judges make of every distinct output: its stratum, and its chance to pass.

    Each stratum belongs to one system. *chance* is a mean grade where people give numbers.
    """

    stratum: Ints
    chance: Floats

    def strata(self, outputs: GradePanel, given: AnyInts | None = None) -> LabelStrata:
        """Return the strata of all rows with their guess; *given* are those a session keeps."""
        of: AnyInts = self.stratum.astype(np.int16)[outputs.place] if given is None else given
        stratum, counts = pattern_strata(outputs, of)
        inside = counts > 0
        held = np.bincount(stratum[inside], weights=counts[inside])
        total = np.bincount(stratum[inside], weights=(counts * self.chance)[inside])
        mean = np.clip(total / np.maximum(held, 1), GUESS_FLOOR, 1 - GUESS_FLOOR)
        guess = np.column_stack((1 - mean, mean))
        return LabelStrata(of=of, side=(mean > 0.5).astype(np.int64), guess=guess)


def pattern_strata(outputs: GradePanel, of: AnyInts) -> tuple[Ints, Floats]:
    """Return the stratum of each pattern, and how many of its rows are in the population.

    Strata are made of votes, so all rows of a pattern that are drawn from share one stratum. There
    may be many millions of rows: they are looked at only where some are outside.
    """
    place, inside, size = outputs.place, of >= 0, outputs.counts.size
    stratum = np.full(size, -1, np.int64)
    if inside.all() and outputs.coding is not None:
        return of[outputs.coding.first].astype(np.int64), outputs.counts
    stratum[place[inside]] = of[inside]
    return stratum, np.bincount(place[inside], minlength=size).astype(np.float64)


def labelling(data: Data, question: ScoreQuestion, strata: Ints | None = None) -> LabelTask:
    """Return the task: the mean of each system, the difference of two, or the best of k.

    Examples
    --------
    >>> from tallystick.table import read
    >>> table = {"item": [1, 1, 2, 2] * 20, "system": ["a", "b"] * 40, "gpt": [1, 0, 1, 1] * 20}
    >>> data = read(table, judges=("gpt",), system="system")
    >>> [measure.name for measure in labelling(data, ScoreQuestion()).measures]
    ['a', 'b']
    """
    _check(data, question)
    question, settled = question.settled(data)
    if question.lower_is_better:
        raise InputError(
            "people are asked which outputs are good, and these grades say which are bad"
            f" ({settled[-1].partition(':')[0]}): turn the columns round first, so that yes or a"
            " higher number is good, or add --higher-is-better if it is so already"
        )
    outputs = read_patterns(data, scale=question.scale, judge_scale=question.judge_scale)
    place = outputs.place
    classes, code = _answers(data, outputs, question)
    if classes and question.goal != "mean":
        make = _difference if question.goal == "difference" else _best
        return make(data, outputs, (classes, code), strata)
    if question.goal != "mean":
        raise InputError(
            f"goal {question.goal} needs pass/fail labels: name them (--labels pass,fail)"
        )
    believed = _believed(outputs, graded=not outputs.votes)
    made = believed.strata(outputs, strata)
    item = item_groups(data) if data.roles.item else None
    low, high = question.scale or (0.0, 1.0)
    return LabelTask(
        claim="share",
        classes=classes,
        scale=None if classes else (low, high),
        strata=made,
        rows=np.arange(place.size, dtype=np.int32)[:, None],
        measures=_means(outputs, made, _worth(code) if classes else _grade),
        columns=_columns(data),
        rule=None if classes else share_spread,
        shared=_shared(outputs, item, made, pass_fail=bool(classes)),
        believed=None if classes else (outputs.mean_grade, place, _own_errors(outputs)),
        together=None if item is None else _together(outputs, item),
        notes=settled if classes else (*settled, _UNITS.format(low, high)),
        ask=_GOOD if classes else f"Which grade from {low:g} to {high:g} does this output deserve?",
    )


def _own_errors(outputs: GradePanel) -> float:
    """Return by how much the mean grade errs, if judges err on their own: s / sqrt(judges)."""
    given = (~np.isnan(outputs.grades)).sum(axis=1)
    gap = np.nan_to_num(outputs.grades - outputs.mean_grade[:, None])
    freedom = float((outputs.counts * np.maximum(given - 1, 0)).sum())
    squares = float((outputs.counts[:, None] * gap**2).sum())
    return float(np.sqrt(squares / max(freedom, 1.0) / max(outputs.grades.shape[1], 1)))


def session_goal(session: Session) -> str:
    """Return what a session was begun for: mean, difference or best."""
    return str(session.head.options.get("fields", {}).get("goal", "mean"))


def session_task(
    data: Data, session: Session, *, scale: Scale | None, judge_scale: Scale | None = None
) -> LabelTask:
    """Return the task that a session of two or more systems was drawn for.

    What the judges lead one to expect is part of its evidence, so the judges are those that the
    session was begun with, whichever the caller asks about now.
    """
    head = session.head
    judges = tuple(head.options.get("reading", {}).get("judges", ())) or data.roles.judges
    if judges != data.roles.judges:
        data = replace(data, roles=replace(data.roles, judges=judges))
        scale = judge_scale = None
    code = _passing(head.classes)
    answers = head.classes, 1 if code is None else code
    make = _difference if session_goal(session) == "difference" else _best
    outputs = read_patterns(data, scale=scale, judge_scale=judge_scale)
    task = make(data, outputs, answers, session.strata().astype(np.int64))
    epsilon = head.options.get("epsilon")
    return task if epsilon is None else replace(task, epsilon=float(epsilon))


def _check(data: Data, question: ScoreQuestion) -> None:
    """Refuse what a labelling session cannot be drawn from."""
    roles = data.roles
    if len(roles.systems) == 2 or roles.criterion is not None or roles.probability:
        raise InputError(
            "a labelling session asks whether single outputs are good, by one criterion and drawn"
            " by itself: preferences, --criterion and --probability are not read. Give the rows of"
            " one criterion; of preferences, let people compare items drawn at random"
        )


# -- the three tasks


_GOOD = "Is this output good?"


_NOT_ON_ITEMS = (
    "goal {} compares {} systems on the same items, and there are {}: name the columns of systems"
    " and items (--system, --item)"
)


def _difference(
    data: Data,
    outputs: GradePanel,
    answers: tuple[tuple[Label, ...], int],
    strata: Ints | None,
) -> LabelTask:
    """Return the task of two systems: both outputs of an item are labelled together."""
    names = outputs.systems
    if len(names) != 2 or data.roles.item is None:
        raise InputError(_NOT_ON_ITEMS.format("difference", "two", len(names)))
    rows = _rows(outputs, item_groups(data))
    chance = outputs.mean_grade
    judges = len(outputs.judges)
    hits = np.round(np.where(np.isnan(chance), 0.5, chance) * judges).astype(np.int64)
    first, second = (hits[outputs.place[rows[:, k]]] for k in (0, 1))
    parts, guess = gap_strata(first, second, judges=judges)
    if strata is not None:
        # A stratum is one difference of votes: any of its items says which.
        guess = np.zeros(int(strata.max()) + 1)
        guess[strata[strata >= 0]] = ((first - second) / judges)[strata >= 0]
        shares = np.column_stack(((1 - guess) / 2, (1 + guess) / 2))
        parts = LabelStrata(of=strata, side=(guess > 0).astype(np.int64), guess=shares)
    classes, code = answers

    def value(units: Ints, answers: Floats) -> Floats:
        passed = answers == code
        return np.asarray(passed[:, 0].astype(np.float64) - passed[:, 1])

    lead = Measure(name=f"{names[0]} - {names[1]}", value=value, guess=guess, bounds=(-1.0, 1.0))
    return LabelTask(
        claim="judged",
        classes=classes,
        strata=parts,
        rows=rows,
        measures=(lead,),
        columns=_columns(data),
        rule=gap_spread,
        names=names,
        ask=_GOOD,
    )


def _best(
    data: Data,
    outputs: GradePanel,
    answers: tuple[tuple[Label, ...], int],
    strata: Ints | None,
) -> LabelTask:
    """Return the task of k systems: all outputs of an item are labelled together."""
    names = outputs.systems
    if len(names) < 2 or data.roles.item is None:
        raise InputError(_NOT_ON_ITEMS.format("best", "several", len(names)))
    rows = _rows(outputs, item_groups(data))
    believed = _believed(outputs, graded=not outputs.votes)
    own = believed.strata(outputs)
    # Items are drawn uniformly, so one stratum holds them all; outputs have strata of their own.
    one: AnyInts = np.zeros(len(rows), np.int8) if strata is None else strata
    classes, code = answers
    return LabelTask(
        claim="best-of",
        classes=classes,
        strata=LabelStrata(of=one, side=np.zeros(1, np.int64), guess=np.full((1, 2), 0.5)),
        rows=rows,
        measures=(),
        columns=_columns(data),
        names=names,
        contest=judged_contest(strata=own.of[rows], guess=own.guess),
        passing=code,
        ask=_GOOD,
    )


def rows_by_item(outputs: GradePanel) -> Ints:
    """Return items x systems of rows; items that lack an output of some system are left out.

    >>> from tallystick.table import Door, read
    >>> table = {"id": [1, 2, 1, 3], "system": ["a", "a", "b", "b"], "gpt": [1, 0, 1, 1]}
    >>> door = Door(want="judges", repeats=True, outputs=True)
    >>> data = read(table, door, judges=("gpt",), system="system", item="id")
    >>> from tallystick.table.panel_grades import read_outputs
    >>> rows_by_item(read_outputs(data, scale=None)).tolist()
    [[0, 2]]
    """
    if outputs.item is None:
        raise InputError(NO_ITEM)
    return _grid(outputs.item, outputs.system, len(outputs.systems)).astype(np.int64)


def _rows(outputs: GradePanel, item: AnyInts) -> AnyInts:
    system = outputs.system.astype(np.int16)[outputs.place]
    return _grid(item, system, len(outputs.systems))


def _grid(item: AnyInts, system: AnyInts, k: int) -> AnyInts:
    """Return items x systems of rows, in the order of the table, as the items were first seen."""
    items = np.flatnonzero(np.bincount(item))
    rows = np.full((int(item.max()) + 1, k), -1, np.int32)
    rows[item, system] = np.arange(item.size, dtype=np.int32)
    rows = rows[items]
    whole = rows[(rows >= 0).all(axis=1)]
    if not whole.size:
        raise InputError("no item has an output of every system: check the column of items")
    return whole[np.argsort(whole.min(axis=1), kind="stable")]


# -- what people answer


def _answers(
    data: Data, outputs: GradePanel, question: ScoreQuestion
) -> tuple[tuple[Label, ...], int]:
    """Return the two answers and which of them is a pass; no answers where people give numbers.

    Words that somebody named come first, then those of human grades that are there, then those of
    the judges. A table that shows one word of a family offers its opposite too.
    """
    named = tuple(data.rules.labels)
    if named:
        code = _passing(named)
        if len(named) != 2 or code is None:
            raise InputError(
                f"labels must be a word for pass and one for fail, got {', '.join(map(str, named))}"
            )
        return named, code
    truth = data.roles.truth
    columns = [truth] if truth is not None and outputs.n_labels else []
    if not outputs.pass_fail or (question.scale is not None and not columns):
        return (), 0
    for column in (*columns, *data.roles.judges):
        found = _pair([one for one in outputs.words(column) if not is_no_answer(one)])
        if found is not None:
            return found
    return (FAIL, PASS), 1


def _pair(seen: Sequence[Label]) -> tuple[tuple[Label, Label], int] | None:
    """Return a word for fail and one for pass, as a column writes them, and the place of pass."""
    texts = [str(label).strip() for label in seen if not isinstance(label, bool)]
    if texts and len(texts) == len(seen) and all(NUMBER.fullmatch(text) for text in texts):
        return (0, 1), 1
    marks = as_pass_fail(seen)
    if marks is None:
        return None
    by_mark = {mark: label for label, mark in marks.items()}
    for family in PASS_FAIL:
        if {as_word(label) for label in marks} <= family.keys():
            for mark in (0.0, 1.0):
                word = next(text for text, worth in family.items() if worth == mark)
                by_mark.setdefault(mark, word)
            break
    return (by_mark[0.0], by_mark[1.0]), 1


def _passing(named: tuple[Label, ...]) -> int | None:
    """Return which of two words is a pass, None if that cannot be told."""
    texts = [str(label) for label in named]
    marks = {"0": 0.0, "1": 1.0} if sorted(texts) == ["0", "1"] else as_pass_fail(texts)
    if marks is None and len(word_worth(named)) == 2:
        return 1  # words of the user's own: the worse one comes first
    return texts.index(next(t for t in texts if marks[t] == 1.0)) if marks else None


# -- what judges make of outputs


def _believed(outputs: GradePanel, *, graded: bool) -> _Believed:
    """Return the stratum of every distinct output, system by system, and its chance to pass."""
    mean, counts = outputs.mean_grade, outputs.counts
    filled = np.where(np.isnan(mean), 0.5, mean)
    codes = np.where(np.isnan(outputs.grades), -1, outputs.grades).astype(np.int64)
    of, chance = np.full(mean.size, -1, np.int64), filled.copy()
    for s in range(len(outputs.systems)):
        mine = np.flatnonzero(outputs.system == s)
        if graded:
            middle = float(np.median(np.repeat(filled[mine], counts[mine].astype(np.int64))))
            part = score_strata(filled[mine], middle=middle, counts=counts[mine])
        else:
            votes = patterns_of(codes[mine], n_classes=2, counts=counts[mine])
            part, posterior = votes_task_strata(votes)
            chance[mine] = posterior[votes.place, 1]
        of[mine] = part.of.astype(np.int64) + of.max() + 1
    return _Believed(stratum=of, chance=chance)


def _means(outputs: GradePanel, strata: LabelStrata, value: Value) -> tuple[Measure, ...]:
    """Return one measure per system: its value elsewhere is 0, and its scale makes up for it."""
    place = outputs.place
    n = np.bincount(outputs.system, weights=outputs.counts)
    # A stratum belongs to one system: any of its rows says which.
    stratum, _ = pattern_strata(outputs, strata.of)
    owner = np.full(len(strata), -1, np.int64)
    owner[stratum[stratum >= 0]] = outputs.system[stratum >= 0]
    found = []
    for s, name in enumerate(outputs.systems):

        def own(units: Ints, answers: Floats, s: int = s) -> Floats:
            return np.asarray(value(units, answers) * (outputs.system[place[units]] == s))

        counts = owner == s
        found.append(
            Measure(
                name=name,
                value=own,
                guess=np.where(counts, strata.guess[:, 1], GUESS_FLOOR),
                counts=counts,
                scale=place.size / float(n[s]),
            )
        )
    return tuple(found)


def _together(outputs: GradePanel, item: AnyInts) -> AnyInts | None:
    """Return items x systems of rows, if every item has one output of every system."""
    if len(outputs.systems) < 2:
        return None
    try:
        grid = _rows(outputs, item)
    except InputError:
        return None
    return grid if grid.size == outputs.place.size else None


def _shared(
    outputs: GradePanel, item: AnyInts | None, strata: LabelStrata, *, pass_fail: bool
) -> Estimator:
    """Return the estimator of ``score`` itself: one fit for all systems that have labels."""
    place, left = outputs.place, list[Floats]()

    def estimate(units: Ints, values: Floats, alpha: float) -> list[tuple[float, Interval] | None]:
        if not left:
            inside = np.bincount(place[strata.of >= 0], minlength=outputs.counts.size)
            left.append(inside.astype(np.float64))
        graded = np.asarray((~np.isnan(values)).any(axis=0))
        if not graded.any():
            return [None for _ in outputs.systems]
        rows = pooled_rows(
            place,
            np.where(graded[outputs.system], left[0], 0.0),
            units,
            np.nanmax(values, axis=1),
            outputs.grades,
            system=np.cumsum(graded)[outputs.system] - 1,
            item=item,
        )
        few = fit(rows, pass_fail=pass_fail and _two_values(values))
        column = iter(range(int(graded.sum())))
        return [mean_of(few, next(column), alpha) if one else None for one in graded]

    return estimate


def _two_values(values: Floats) -> bool:
    """Say whether labels are all 0 or 1: readers who disagree for good count one half."""
    return bool(np.isin(values[~np.isnan(values)], (0.0, 1.0)).all())


def _worth(code: int) -> Value:
    def value(units: Ints, answers: Floats) -> Floats:
        return np.asarray(answers[:, 0] == code, dtype=np.float64)

    return value


def _grade(units: Ints, answers: Floats) -> Floats:
    return np.asarray(answers[:, 0])


def _columns(data: Data) -> tuple[str, ...]:
    return data.roles.columns("system", "judges")
