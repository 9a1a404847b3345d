"""Who votes, and on which truth: columns that share labels and agree beyond chance.

A column is taken unasked if its labels are those of the truth (or of the other columns) and, where
these are pass and fail or whole numbers, which anything can be, if it agrees with one of them. What
shares the labels and agrees with nothing is asked about: it may be a judge who guesses.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from tallystick.errors import AskError, InputError
from tallystick.table.cells import Label
from tallystick.table.reading_facts import SURE, Sample, agreement, one_word, rank_correlation
from tallystick.table.reading_names import (
    ROLE_NAMES,
    TRUTH_IF_FITTING,
    VOTE_TIERS,
    are_alike,
    is_mark,
    is_truth_name,
    parts,
    plain,
    unlike_name,
)
from tallystick.table.reading_rules import How, Look, flag, names

_MOST_PAIRED = 40
_MANY = 100
"""Rows from which one level and one share hold, and fewer rows another."""
_SURE = {True: SURE, False: 2.33}
"""Standard errors at p < .001 (many rows) and p < .01 (few rows), one-sided."""
_WEAK = 1 / 4
"""Share of the best agreement in a table below which a column is asked about. READING.md says a
half, which asks about a judge that is right on 72% beside one that is right on 93%."""
_COPIED = 20
"""Common rows from which two columns that never differ are copies."""
_SILENT = "says nothing about the others"
_WORDS_FOR = {"judges": "judges", "models": "models", "weak": "weak labels"}


# The truth.


def find_truth(look: Look) -> None:
    """Take the column of the truth by its name, if its labels fit; ask if several do."""
    if look.truth is not None or not look.door.truth:
        return
    free = [n for n in look.free if not look.facts[n].is_empty]
    found = [n for n in free if is_truth_name(n) and _may_be_truth(look, n)]
    if not found and look.column("judge") is None:
        found = [n for n in free if plain(n) in TRUTH_IF_FITTING and _may_be_truth(look, n)]
    if len(found) > 1:
        labels = [look.facts[n].meant for n in found]
        alike = all(one & labels[0] for one in labels) and not any("," in n for n in found)
        calls = [flag("truth", ",".join(found))] if alike else []
        text = f"which column is the truth? {names(found)} may"
        text += ", or their majority." if alike else "."
        raise look.ask("truth", text, [*calls, *(flag("truth", n) for n in found)], found)
    if found:
        look.take("truth", found[0], "by name")
        _tell_marks(look, found[0])


def _may_be_truth(look: Look, name: str) -> bool:
    """Say whether what a column holds can be the truth that its name promises."""
    facts, score = look.facts[name], look.verb == "score"
    named = getattr(look.given, look.want) or look.given.prediction
    named = named or tuple(filter(None, [look.layout.vote]))
    beside = [n for n in named or look.free if n in look.facts and n != name]
    held = [look.facts[n] for n in beside if named or look.facts[n].veto is None]
    shared = [one for one in held if one.shares(facts.meant)]
    if is_truth_name(name, whole=True):
        # Free text beside scores is a reference, and decimals are the scores of somebody human.
        if facts.is_text or facts.times or (facts.is_unique and not facts.is_number):
            return bool(shared)
        return score or not facts.decimals
    if facts.veto is not None and not (is_truth_name(name) and facts.share < 0.5):
        return False
    item = look.column("item")
    long = look.verb == "compare" and look.column("system") is not None
    if long and item and not look.is_steady(item, name):
        return False
    if is_truth_name(name):
        # Grades need no common label; answers do.
        return bool(shared) or (score and (facts.is_marks or facts.has_scale))
    if len(name) == 1 and sum(len(one.name) == 1 for one in shared) > 1:
        return False  # x, y and z are three models
    # Models that say right and wrong have been held against their truth already.
    return any(one.is_marks == facts.is_marks for one in shared)


def _tell_marks(look: Look, truth: str) -> None:
    """Hold answers against the truth, and never the columns that say whether they were right."""
    if look.verb != "compare" or look.given.models:
        return
    marks = [n for n in look.free if is_mark(n) and look.facts[n].is_marks]
    rest = [one for n in look.free if n not in marks and not (one := look.facts[n]).veto]
    if any(one.shares(look.facts[truth].meant) for one in rest):
        look.leave(marks, "says whether an answer was right")
    elif len(marks) > 1:
        look.drop("truth", "the models' columns say right or wrong already")


def fitting_truth(sample: Sample, answers: str, taken: Sequence[str]) -> str | None:
    """Return the truth, by its name, of the one column of answers of a file; None if none fits."""
    said = sample.facts[answers]
    free = [n for n in sample.facts if n not in (answers, *taken)]
    likely = [n for n in free if said.shares(sample.facts[n].meant)]
    found = (
        [n for n in likely if is_truth_name(n, whole=True)]
        or [n for n in likely if is_truth_name(n)]
        or [n for n in likely if plain(n) in TRUTH_IF_FITTING]
    )
    # A column called correct has been held against its truth; one called prediction has not.
    marked = said.is_marks and (is_mark(answers) or plain(answers) in VOTE_TIERS[0])
    return found[0] if len(found) == 1 and not marked else None


def old_and_new(sample: Sample) -> tuple[str, str] | None:
    """Return the one column with old, before or baseline as a part of its name, and the one with
    new or after, if both are there and hold answers to the same items.

    Words need common labels; pass and fail and whole numbers must agree beyond chance too.
    """
    free = [n for n, facts in sample.facts.items() if facts.veto is None]
    then, now = ([n for n in free if {*parts(n)} & {*ROLE_NAMES[role]}] for role in ("old", "new"))
    if len(then) != 1 or len(now) != 1 or then == now:
        return None
    old, new = (sample.facts[n] for n in (then[0], now[0]))
    if not (old.shares(new.meant) and new.shares(old.meant)):
        return None
    words = _are_words(old.meant) and _are_words(new.meant)
    z = agreement(sample.codes((old.name, new.name)))[1][0, 1]
    return (old.name, new.name) if words or z >= _SURE[sample.rows >= _MANY] else None


def with_common_labels(sample: Sample, taken: Sequence[str]) -> list[str]:
    """Return the columns that share labels with another one: the largest group, in their order."""
    free = [one for n, one in sample.facts.items() if n not in taken and one.veto is None]
    groups = [[o.name for o in free if o is one or o.shares(one.meant)] for one in free]
    return max(groups, key=len, default=[])


# The voters.


def find_voters(look: Look) -> tuple[str, ...]:
    """Return the columns that vote; ask where that cannot be told."""
    free = [n for n in look.candidates() if n != look.given.by]
    if look.verb == "compare" and look.truth is None:
        found = _scores(look, free)
    elif look.verb == "score":
        found = _grades(look, free)
    elif (reference := _reference(look)) is not None:
        found = _beside(look, free, reference)
    else:
        found = _alone(look, free)
    _ask_about_copies(look, found)
    return found


def _taken(look: Look, voters: Sequence[str], how: How) -> tuple[str, ...]:
    look.how[look.want] = how
    return tuple(voters)


def _which(look: Look, why: str, *groups: Sequence[str], odd: Sequence[str] = ()) -> AskError:
    """Return the question which columns vote, each group one answer, the likelier first."""
    want, found = look.want, look.roles.get("truth")
    # A truth that was found is part of the command.
    beside = f" {flag('truth', found)}" if found else ""
    calls = [flag(want, *group) + beside for group in groups if group]
    text = f"which columns are {_WORDS_FOR[want]}? {why}"
    return look.ask(want, text, calls, odd or [",".join(group) for group in groups])


def _which_or_truth(look: Look, text: str, *calls: tuple[str | None, Sequence[str]]) -> AskError:
    """Return the question whether a column is the truth; an answer is a truth and who votes."""
    said = [
        (f"{flag('truth', truth)} " if truth else "") + flag(look.want, *voters)
        for truth, voters in calls
    ]
    return look.ask("truth", text, said, [truth for truth, _ in calls if truth])


def _reference(look: Look) -> str | None:
    """Return the column whose labels voters must have: the truth, or what is bounded."""
    if look.verb == "bound" and look.given.prediction:
        return look.given.prediction[0]
    if look.verb == "bound" and look.given.score is None and look.door.reads:
        raise _which_prediction(look)
    return look.truth


def find_prediction(look: Look) -> None:
    """Take the column that is called prediction, if it shares labels with a column beside it."""
    asked = look.verb == "bound" and "prediction" in look.door.reads
    if not asked or look.given.prediction or look.given.score:
        return
    free = look.candidates()
    found = [n for n in free if plain(n) == "prediction"]
    if len(found) == 1 and _sharing(look, found[0], look.given.weak or free):
        look.given = look.given.with_columns("prediction", found)
        look.how["prediction"] = "by name"


def _sharing(look: Look, name: str, others: Sequence[str]) -> list[str]:
    """Return the other columns that share labels with a column."""
    labels = look.facts[name].meant
    return [n for n in others if n != name and look.facts[n].shares(labels)]


def _which_prediction(look: Look) -> AskError:
    """Ask which column is to be bounded: first a so-called prediction, or one unlike the others."""
    likely = [n for n in look.candidates() if look.facts[n].counts and n != look.truth]
    if look.truth is not None:
        likely = _sharing(look, look.truth, likely) or likely
    rest = {n: _sharing(look, n, likely) for n in likely}
    likely = [n for n in likely if rest[n]] or likely
    likely.sort(key=lambda n: not any(part.startswith("pred") for part in parts(n)))
    found = look.roles.get("truth")
    beside = f" {flag('truth', found)}" if found else ""
    text = f"which column holds the answers of the classifier? {names(likely) or 'None'} may."
    calls = [
        f"{flag('prediction', n)} {flag('weak', *rest[n])}{beside}" for n in likely[:2] if rest[n]
    ]
    return look.ask("prediction", text, calls, likely[:8])


def _beside(look: Look, free: Sequence[str], reference: str) -> tuple[str, ...]:
    """Take the columns with the labels of the truth (bound: of the prediction)."""
    labels = look.facts[reference].meant
    shared = _sharing(look, reference, free)
    if not shared:
        raise _no_label(look, free, reference)
    look.leave([n for n in free if n not in shared], "other labels")
    _ask_whether_marks(look, shared, reference)
    if _are_words(labels):
        # Words need no proof, but slices may be called like labels: group A beside answers a to d.
        many = look.sample.rows >= _MANY and len(shared) > 1
        if not many or not _odd(look, shared, reference, weak=0.0):
            return _taken(look, shared, "by content")
    return _tested(look, shared, reference)


def _ask_whether_marks(look: Look, shared: Sequence[str], reference: str) -> None:
    """Ask whether models say 0 and 1 of a truth of more labels, or were right and wrong."""
    marks = all(look.facts[n].is_marks for n in shared) and not look.facts[reference].is_marks
    if look.verb != "compare" or not marks:
        return
    z = _strengths(look, [*shared[:_MOST_PAIRED], reference])[1][-1, :-1]
    if (z >= _SURE[look.sample.rows >= _MANY]).any():
        return
    models = flag("models", *shared)
    raise look.ask(
        "truth",
        f"{names(shared, 'say')} 0 and 1, and {reference} has more labels. Are these answers, or"
        " right and wrong?",
        [f"{models} {flag('ignore', reference)}", f"{flag('truth', reference)} {models}"],
        [reference],
    )


def _no_label(look: Look, free: Sequence[str], reference: str) -> AskError | InputError:
    """Ask what a truth is there for that no column shares a label with."""
    facts, want = look.facts[reference], look.want
    shown = ", ".join(sorted(map(str, facts.labels))[:4]) or "text"
    why = f"no column uses the labels of {reference} ({shown})."
    numbers = [n for n in free if look.facts[n].is_number or look.facts[n].is_marks]
    named = look.given.truth == reference or reference in look.given.prediction
    if look.verb == "compare" and numbers and not named:
        call = f"{flag('models', *numbers)} {flag('ignore', reference)}"
        return look.ask("truth", f"{why} Are {names(numbers)} scores?", [call], [reference])
    if facts.is_constant:
        return InputError(
            f"{look.source}: {reference} says {shown} and nothing else. A blank cell means that"
            " nobody knows: where it means the other label, write that label"
        )
    likely = [n for n in free if look.facts[n].counts]
    calls = [flag(want, *likely)] if len(likely) == 1 else []
    text = f"{why} Write labels alike, or name the {_WORDS_FOR[want]} (--{want})."
    return look.ask(want, text, calls, likely[:8])


def _are_words(labels: frozenset[Label]) -> bool:
    """Say whether labels are words, and no pass or fail, which facts of every sort share."""
    return any(isinstance(label, str) for label in labels) and not labels & {0, 1}


# Agreement: who says something about the truth, or about the others.


def _tested(look: Look, voters: Sequence[str], reference: str | None = None) -> tuple[str, ...]:
    """Take voters that agree with the truth or with one another; ask about those that do not."""
    if len(voters) == 1:
        return _taken(look, voters, "only candidate")
    voters = _without_sparse(look, voters)
    look.doubt(voters, reference)
    odd = _odd(look, voters, reference)
    rest = [n for n in voters if n not in odd]
    many = look.sample.rows >= _MANY
    if many and rest:
        # Two signs that a column is no vote: it agrees with nothing, and is written otherwise.
        words = frozenset().union(*(_forms(look, n) for n in rest))
        unlike = [n for n in odd if not _forms(look, n) & words]
        look.leave(unlike, _SILENT)
        odd, voters = ([n for n in group if n not in unlike] for group in (odd, voters))
    if not odd:
        return _taken(look, voters, "by content")
    what = f"{names(rest, 'say')} {_said(look, rest)}; " if rest else ""
    about = "them" if rest else reference or "each other"
    nothing = "say" if len(odd) > 1 else "says"
    why = f"{what}{names(odd)} ({_said(look, odd)}) {nothing} nothing about {about}."
    raise _which(look, why, *((rest, voters) if many else (voters, rest)))


def _forms(look: Look, name: str) -> frozenset[str]:
    """Return how a column writes its labels. As text: True is 1 in Python, and not in a table."""
    return frozenset(map(str, look.facts[name].labels))


def _said(look: Look, columns: Sequence[str]) -> str:
    """Return what columns say, for a question."""
    labels = {label for n in columns for label in look.facts[n].labels}
    if labels and all(one_word(one) in (0, 1) for one in labels):
        return "0/1" if {*map(str, labels)} == {"0", "1"} else "pass or fail"
    if 0 < len(labels) <= 4:
        return "/".join(sorted(map(str, labels)))
    ends = [look.facts[n] for n in columns if look.facts[n].low is not None]
    if not ends:
        return "labels"
    return f"{min(f.low or 0.0 for f in ends):g} to {max(f.high or 0.0 for f in ends):g}"


def _strengths(look: Look, columns: Sequence[str]) -> tuple[np.ndarray, np.ndarray]:
    """Return how far columns agree (kappa, or rank correlation), and by how many standard errors.

    Copies are left aside: a column agrees with its copy, whatever it holds.
    """
    # A third word beside pass and fail is asked about by itself.
    known = {0, 1} if all(look.facts[n].is_marks for n in columns) else set[Label]()
    codes = look.sample.codes(columns, known=frozenset(known))
    kappa, z = agreement(codes)
    numbers = look.sample.numbers(columns)
    for i, a in enumerate(columns):
        for j in range(i):
            both = look.facts[a], look.facts[columns[j]]
            graded = all(one.is_number or one.is_marks for one in both)
            if graded and (max(f.distinct for f in both) > 3 or not both[0].meant & both[1].meant):
                rho, error = rank_correlation(numbers[:, i], numbers[:, j])
                kappa[i, j] = kappa[j, i] = rho
                z[i, j] = z[j, i] = error
            if _is_copy(codes[:, i], codes[:, j]):
                kappa[i, j] = kappa[j, i] = np.nan
    np.fill_diagonal(kappa, np.nan)
    np.fill_diagonal(z, np.nan)
    return kappa, z


def _is_copy(a: np.ndarray, b: np.ndarray) -> bool:
    both = (a >= 0) & (b >= 0)
    return bool(both.sum() >= _COPIED and (a[both] == b[both]).all())


def _odd(
    look: Look, voters: Sequence[str], reference: str | None = None, weak: float = _WEAK
) -> list[str]:
    """Return the columns that agree with nothing, or with much less than others do."""
    shown = list(voters[:_MOST_PAIRED])
    columns = [*shown, *([reference] if reference is not None else [])]
    kappa, z = _strengths(look, columns)
    many = look.sample.rows >= _MANY
    sure = np.where(np.isnan(kappa) | ~(z >= _SURE[many]), -np.inf, kappa)
    best = sure.max(axis=1)[: len(shown)]
    least = weak * best.max() if many and np.isfinite(best).any() else -1.0
    found = [n for n, own in zip(shown, best, strict=True) if not own > 0 or own < least]
    if reference is None or not found:
        return found
    # A copy of the truth is no measure for others; it agrees with the truth all the same.
    codes = look.sample.codes([*found, reference])
    return [n for k, n in enumerate(found) if not _is_copy(codes[:, k], codes[:, -1])]


# Columns that are filled on few rows, and columns that say the same.


def _sparse(look: Look, columns: Sequence[str], beside: Sequence[str]) -> list[str]:
    """Return the columns that are filled on less than half of the rows that others fill."""
    fullest = max((look.facts[n].filled for n in beside if n in look.facts), default=0)
    return [n for n in columns if 0 < 2 * look.facts[n].filled < fullest]


def _filled(look: Look, sparse: Sequence[str]) -> str:
    """Say on how few rows columns are filled."""
    most = max(look.facts[n].filled for n in sparse)
    return f"{names(sparse, 'be')} filled on {most:,} of {look.sample.rows:,} rows"


def _without_sparse(look: Look, voters: Sequence[str]) -> list[str]:
    """Ask about columns that are filled on few rows beside others: they look like a truth."""
    sparse = _sparse(look, voters, voters)
    if look.want != "judges" or not sparse:
        return list(voters)
    if look.truth is not None and _odd(look, voters, look.truth):
        return list(voters)
    rest = _telling(look, [n for n in voters if n not in sparse])
    if look.given.truth is not None:
        raise _which(look, f"{_filled(look, sparse)}, like {look.truth}.", rest, voters, odd=sparse)
    together = [*([look.truth] if look.truth else []), *sparse]
    truth = None if any("," in n for n in together) else ",".join(together)
    text = f"{_filled(look, sparse)}: human labels, or judges?"
    raise _which_or_truth(look, text, (truth, rest), (look.roles.get("truth"), voters))


def ask_about_sparse(look: Look, voters: Sequence[str]) -> None:
    """Ask about a column without a role that is filled on few rows, and says there what the judges
    say: it looks like the truth, and without one the answer would be another.
    """
    if look.want != "judges" or look.truth is not None or look.door.collects:
        return
    taken = {*voters, *look.given.holders(), *look.aside, *look.roles.values()}
    known = [look.facts[n].meant for n in voters if n in look.facts]
    labels = frozenset().union(*known)
    graded = look.verb == "score" and not labels <= {0, 1}
    free = [n for n, own in look.facts.items() if n not in taken and own.veto is None]
    sparse = [
        n
        for n in _sparse(look, free, voters)
        if look.facts[n].shares(labels) or (graded and _same_scale(look, n, voters))
    ]
    if sparse:
        calls = [flag("truth", ",".join(sparse)), flag("ignore", *sparse)]
        raise look.ask("truth", f"{_filled(look, sparse)}: human labels, or not?", calls, sparse)


def _telling(look: Look, voters: Sequence[str]) -> list[str]:
    """Return the columns that agree with another one, for a command; all if these are too few."""
    odd = _odd(look, voters) if look.sample.rows >= _MANY else []
    return [n for n in voters if n not in odd] if len(voters) > len(odd) + 1 else list(voters)


def _ask_about_copies(look: Look, found: Sequence[str]) -> None:
    """Ask about a column that says what another one says in every row."""
    shown = [n for n in found if look.facts[n].counts][:_MOST_PAIRED]
    if len(shown) < 2 or look.verb == "bound":
        return
    codes = look.sample.codes(shown)
    rest: list[int] = []
    for j in range(len(shown)):
        alike = [i for i in rest if ((codes[:, i] >= 0) == (codes[:, j] >= 0)).all()]
        if not any(_is_copy(codes[:, i], codes[:, j]) for i in alike):
            rest.append(j)
    if len(rest) == len(shown):
        return
    kept = [shown[k] for k in rest]
    copies = [n for n in shown if n not in kept]
    # A comparison takes two: without its copy a model has nothing to be compared with.
    groups = (shown,) if look.want == "models" and len(kept) < 2 else (kept, shown)
    raise _which(look, f"{names(copies, 'repeat')} other columns.", *groups, odd=copies)


# Labels without a truth (judge, bound).


def _alone(look: Look, free: Sequence[str]) -> tuple[str, ...]:
    """Take the columns that share labels with one another, without a truth (judge, bound)."""
    likely = [n for n in free if look.facts[n].counts]
    look.leave([n for n in free if n not in likely], "numbers with many values")
    if not likely:
        raise InputError(
            f"{look.source}: no column holds labels that repeat, so nothing votes here. Name the"
            f" columns that do (--{look.want})"
        )
    first, *others = _groups(look, likely)
    rivals = [group for group in others if len(group) > 1 or len(first) == 1]
    if rivals:
        both = (first, rivals[0])
        said = ", ".join(f"{names(one, 'say')} {_said(look, one)}" for one in both)
        raise _which(look, f"{said}.", *both)
    look.leave([n for group in others for n in group], "other labels")
    if _are_words(frozenset().union(*(look.facts[n].meant for n in first))):
        first = _without_sparse(look, first)
    else:
        first = list(_tested(look, first))
    odd = None if look.door.collects else unlike_name(first)
    if odd is not None:  # the one name that is not like the others may be that of the truth
        text = f"is {odd} the truth, or one of the {_WORDS_FOR[look.want]}?"
        raise _which_or_truth(look, text, (odd, [n for n in first if n != odd]), (None, first))
    how: How = "only candidate" if len(first) != 2 or look.verb == "judge" else "by content"
    return _taken(look, first, how)


def _groups(look: Look, likely: Sequence[str]) -> list[list[str]]:
    """Return columns by the labels that they share, the largest group first."""
    groups: list[list[str]] = []
    for name in sorted(likely, key=lambda n: -len(look.facts[n].meant)):
        own = look.facts[name]
        for group in groups:
            same = look.facts[group[0]].is_marks == own.is_marks
            if same and any(own.shares(look.facts[other].meant) for other in group):
                group.append(name)
                break
        else:
            groups.append([name])
    ordered = ([n for n in likely if n in group] for group in groups)
    return sorted(ordered, key=len, reverse=True)


# Grades of outputs (score).


def _grades(look: Look, free: Sequence[str]) -> tuple[str, ...]:
    """Take judges who say pass or fail, or who give grades; ask where both stand side by side."""
    truth, facts = look.truth, look.facts
    marks = [n for n in free if facts[n].is_marks]
    numbers = [n for n in free if n not in marks and facts[n].numeric >= 0.5]
    words = [n for n in free if n not in (*marks, *numbers)]
    own = _own_words(look, words, marks)
    if own:
        look.leave([n for n in free if n not in own], "other labels")
        return _taken(look, own, "by content")
    look.leave(words, "words")
    if truth is None:
        return _ungraded(look, marks, numbers)
    graded = not facts[truth].is_marks and facts[truth].is_number
    agreeing = _agreeing(look, numbers, truth)
    if marks and agreeing:
        raise _marks_or_numbers(look, marks, agreeing, numbers_first=graded)
    if marks and not graded:
        look.leave(numbers, "numbers")
        return _tested(look, marks, truth)
    if agreeing:
        rest = [n for n in numbers if n not in agreeing]
        odd = [n for n in rest if _same_scale(look, n, agreeing)]
        if odd:
            said = f"{names(agreeing, 'say')} {_said(look, agreeing)}; {names(odd)}"
            why = f"{said} ({_said(look, odd)}) says nothing about {truth}."
            raise _which(look, why, agreeing, [*agreeing, *odd], odd=odd)
        look.leave(rest, _SILENT)
        return _taken(look, agreeing, "by content")
    likely = [*marks, *[n for n in numbers if facts[n].has_scale]] or numbers
    if len(likely) > 1:
        raise _which(look, f"None of {names(likely)} follows {truth}.", likely, odd=likely)
    return _taken(look, _usual(look, likely, numbers), "only candidate")


def _own_words(look: Look, words: Sequence[str], marks: Sequence[str]) -> list[str]:
    """Return the columns of words that are no pass and fail: those of the truth, or two that agree
    on the same two words, which are read once their order is named.
    """
    truth = look.facts.get(look.truth or "")
    if truth is not None:
        return [] if truth.is_marks or truth.is_number else _sharing(look, truth.name, words)
    pairs = [look.facts[n] for n in words if len(look.facts[n].meant) == 2]
    same = [one.name for one in pairs if one.meant == pairs[0].meant]
    if len(same) < max(2, len(marks) + 1) or _odd(look, same, weak=0.0):
        return []
    return _without_sparse(look, same)


def _usual(look: Look, likely: Sequence[str], numbers: Sequence[str]) -> Sequence[str]:
    """Return the columns that may be grades; refuse if there are none."""
    look.leave([n for n in numbers if n not in likely], "no usual scale")
    if not likely:
        beside = f" beside {look.truth}" if look.truth else ""
        text = f"no column says pass or fail, or gives grades{beside}: name the judges (--judges)"
        raise _nothing(look, text)
    return likely


def _nothing(look: Look, text: str) -> InputError:
    """Say that nobody votes: for what is wrong with a column, if that is known, else by *text*."""
    known = () if look.table is None else look.table.doubtful.values()
    return InputError(f"{look.source}: {next(iter(known), text)}")


def _marks_or_numbers(
    look: Look, marks: Sequence[str], numbers: Sequence[str], *, numbers_first: bool = False
) -> AskError:
    """Return the question whether those are the judges who pass, or those who give numbers."""
    why = f"{names(marks, 'say')} pass or fail, {names(numbers)} {_said(look, numbers)}."
    groups = (numbers, marks) if numbers_first else (marks, numbers)
    return _which(look, why, *groups)


def _agreeing(look: Look, numbers: Sequence[str], truth: str) -> list[str]:
    """Return the numbers of one scale that follow the truth, those of much weaker ties left out."""
    shown = list(numbers[:_MOST_PAIRED])
    held = look.sample.numbers([truth, *shown])
    many = look.sample.rows >= _MANY
    ties = {n: rank_correlation(held[:, 0], held[:, k + 1]) for k, n in enumerate(shown)}
    sure = {n: rho for n, (rho, z) in ties.items() if z >= _SURE[many]}
    best = max(sure.values(), default=0.0)
    kept = [n for n in sure if not many or sure[n] >= _WEAK * best]
    return [n for n in kept if look.facts[n].has_scale] or kept


def _same_scale(look: Look, name: str, others: Sequence[str]) -> bool:
    """Say whether a column's numbers could be grades like those of others."""
    own = look.facts[name]
    return any(
        own.decimals == one.decimals and own.is_inside(one.low or 0.0, one.high or 0.0)
        for one in (look.facts[o] for o in others if o in look.facts)
    )


def _ungraded(look: Look, marks: Sequence[str], numbers: Sequence[str]) -> tuple[str, ...]:
    """Take judges without human grades: one, two that agree, or several of one family."""
    usual = [n for n in numbers if look.facts[n].has_scale]
    if marks and usual:
        # A truth among the marks is asked about first: neither answer would be right with it.
        raise _marks_or_numbers(look, _without_sparse(look, marks), usual)
    taken = _tested(look, _usual(look, marks or usual or numbers, numbers))
    if len(taken) < 2 or are_alike(taken):
        return taken
    if look.door.collects:
        return _taken(look, taken, "only candidate")
    raise _all_or_truth(look, taken)


def _all_or_truth(look: Look, voters: Sequence[str]) -> AskError:
    """Return the question whether all columns vote, or one of them is the truth.

    Voters that err each for itself agree more with the truth than with one another.
    """
    kappa = np.nan_to_num(_strengths(look, voters[:_MOST_PAIRED])[0])
    truth = voters[int(kappa.sum(axis=1).argmax())]
    text = f"are {names(voters)} all {_WORDS_FOR[look.want]}, or is {truth} the truth?"
    rest = [n for n in voters if n != truth]
    return _which_or_truth(look, text, (None, voters), (truth, rest))


# Scores of models (compare without a truth).

Kinds = Mapping[str, Sequence[str]]


def _scores(look: Look, free: Sequence[str]) -> tuple[str, ...]:
    """Take two columns of one kind, or a family of names; ask about any other table."""
    facts = look.facts
    kinds: Kinds = {kind: [n for n in free if _kind(look, n) == kind] for kind in _KINDS}
    words = kinds["words"]
    every = [n for n in free if n not in words]
    labelled = [n for n in words if any(_share(look, n, other) for other in words if other != n)]
    level = _SURE[look.sample.rows >= _MANY]
    follow = len(every) > 1 and bool((_strengths(look, every[:_MOST_PAIRED])[1] >= level).any())
    if len(labelled) > (2 if len(every) > 1 else 1) and not follow:
        # Answers alone cannot be compared, and numbers that do not follow one another are no rival.
        ends = (labelled[0], labelled[-1]) if len(labelled) > 2 else ()
        calls = [(truth, [n for n in labelled if n != truth]) for truth in ends]
        text = f"{names(labelled)} hold answers. Which column is the truth?"
        raise _which_or_truth(look, text, *calls)
    look.leave(words, "words")
    if not every:
        raise _nothing(
            look,
            f"no column holds scores. If {names(words) or 'columns'} hold answers, name the true"
            " answers (--truth); else name the models (--models)",
        )
    told = _told_by_content(look, every, kinds)
    if told:
        look.leave([n for n in every if n not in told], _SILENT)
        every = [n for n in every if n in told]
        kinds = {kind: [n for n in held if n in told] for kind, held in kinds.items()}
    marks, decimals, whole = kinds["marks"], kinds["decimals"], kinds["whole"]
    shared = any(all(facts[n].is_inside(0, top) for n in every) for top in (1.0, 100.0))
    if len(every) > 1 and are_alike(every) and (shared or every == marks):
        return _taken(look, every, "by content")
    if len(marks) == 2 and not decimals:
        look.leave(whole, "whole numbers")
        return _taken(look, marks, "by content")
    if len(every) == 2 and every in (whole, decimals) and _one_range(look, every):
        return _taken(look, every, "by content")
    if len(marks) > 2 and every == marks:
        raise _all_or_truth(look, _telling(look, marks))
    raise _which_scores(look, every, kinds)


_KINDS = ("marks", "decimals", "whole", "words")


def _kind(look: Look, name: str) -> str:
    """Return what a column of scores holds."""
    facts = look.facts[name]
    if facts.is_marks or facts.numeric < 0.5:
        return "marks" if facts.is_marks else "words"
    return "decimals" if facts.decimals else "whole"


def _share(look: Look, a: str, b: str) -> bool:
    """Say whether one of two columns carries the labels of the other."""
    one, other = look.facts[a], look.facts[b]
    return one.shares(other.meant) or other.shares(one.meant)


def _by_writing(look: Look, kinds: Kinds) -> list[list[str]]:
    """Return the kinds of columns, pass and fail by the words in which they are written."""
    written: dict[frozenset[str], list[str]] = {}
    for name in kinds["marks"]:
        written.setdefault(_forms(look, name), []).append(name)
    return [*written.values(), list(kinds["decimals"]), list(kinds["whole"])]


def _told_by_content(look: Look, every: Sequence[str], kinds: Kinds) -> list[str]:
    """Return the columns of one kind that follow one another, if all others are of another kind
    and follow none of them; nothing where that is not clear.
    """
    if look.sample.rows < _MANY or not 2 < len(every) <= _MOST_PAIRED:
        return []
    z = _strengths(look, every)[1]
    for kind in _by_writing(look, kinds):
        inside = [k for k, name in enumerate(every) if name in kind]
        outside = [k for k, name in enumerate(every) if name not in kind]
        if len(kind) < 2 or not outside or not _one_range(look, kind):
            continue
        tied = np.nanmax(z[np.ix_(inside, inside)], axis=1) >= SURE
        apart = ~(np.abs(z[np.ix_(inside, outside)]) >= _SURE[False])
        if tied.all() and apart.all():
            return kind
    return []


def _one_range(look: Look, columns: Sequence[str]) -> bool:
    """Say whether the numbers of columns may be of one metric: ranges of one size."""
    sizes = [max(abs(look.facts[n].low or 0), abs(look.facts[n].high or 0)) for n in columns]
    return max(sizes) <= 20 * max(min(sizes), 1e-12)


def _which_scores(look: Look, every: Sequence[str], kinds: Kinds) -> AskError | InputError:
    """Ask which columns are scores; the command keeps the likely ones."""
    if len(every) < 2:
        return InputError(
            f"{look.source}: {names(every)} is one column of scores, and a comparison takes two"
            " models: name a column of models (--system), or a second file"
        )
    votes = {piece for tier in VOTE_TIERS[:2] for one in tier for piece in parts(one)}
    kept = [n for n in every if not _named_after(n, every)]
    with_vote = [n for n in kept if {*parts(n)} & votes]
    kept = with_vote if len(with_vote) > 1 else kept
    if len(kept) > 2:
        sure = _strengths(look, kept[:_MOST_PAIRED])[1] >= _SURE[False]
        tied = [n for n, own in zip(kept, sure, strict=False) if own.any()]
        kept = tied if len(tied) > 1 else kept
    groups = [[n for n in kept if n in kind] for kind in _by_writing(look, kinds)]
    first = max(groups, key=len)
    first = first if len(first) > 1 else kept
    calls = [flag("models", *first)]
    if len(every) > len(first):
        calls.append(flag("models", *every))
    elif len(first) > 2:
        calls.append(flag("models", *first[:2]))
    text = f"which columns are models? {names(every)} hold numbers."
    return look.ask("models", text, calls, every)


def _named_after(name: str, others: Sequence[str]) -> bool:
    """Say whether a column is named after another one (``base_se`` after ``base``)."""
    own = parts(name)
    heads = [parts(one) for one in others if one != name]
    return any(len(one) < len(own) and own[: len(one)] == one for one in heads)


def truth_among(look: Look, judges: Sequence[str], counts: Mapping[str, int]) -> str | None:
    """Return the judge of a long table that is the truth by its name; ask about a sparse one."""
    found = [name for name in judges if is_truth_name(name, whole=True)]
    found = found or [name for name in judges if is_truth_name(name)]
    if len(found) == 1 and len(judges) > 1:
        return found[0]
    if found or not 2 < len(counts) < 10 or look.want != "judges":
        return None
    fullest = max(counts.values())
    sparse = [name for name, n in counts.items() if 2 * n < fullest]
    if len(sparse) != 1:
        return None
    raise look.ask(
        "truth",
        f"{sparse[0]} gave {counts[sparse[0]]:,} votes, others up to {fullest:,}: the truth, or a"
        " judge?",
        [flag("truth", sparse[0]), flag(look.want, *judges)],
        sparse,
    )
