"""Who votes, and on which truth: columns that share labels and agree beyond chance.

A column is taken unasked if its labels are those of the truth (or of the other columns) and, where
these are pass and fail or whole numbers, which anything can be, if it agrees with one of them. What
shares the labels and agrees with nothing is asked about: it may be a judge who guesses.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tallystick.errors import AskError, InputError
from tallystick.table.cells import Label
from tallystick.table.reading_facts import (
    SURE,
    Facts,
    Sample,
    agreement,
    one_word,
    rank_correlation,
)
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
from tallystick.table.reading_rules import (
    How,
    Look,
    candidates,
    flag,
    is_marks,
    labels_of,
    names,
    veto,
)

_MOST_LABELS = 20
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
_SCALES = ((0.0, 1.0), (1.0, 5.0), (0.0, 10.0), (0.0, 100.0))
_WORDS_FOR = {"judges": "judges", "models": "models", "weak": "weak labels"}


# The truth.


def find_truth(look: Look) -> None:
    """Take the column of the truth by its name, if its labels fit; ask if several do."""
    if look.truth is not None or not look.asked.truth:
        return
    free = [n for n in look.free if not look.facts[n].is_empty]
    whole = [n for n in free if is_truth_name(n, whole=True) and _may_be_truth(look, n)]
    part = [n for n in free if n not in whole and is_truth_name(n) and _fits(look, n)]
    found = [n for n in free if n in (*whole, *part)]
    if not found and look.column("judge") is None:
        found = [n for n in free if plain(n) in TRUTH_IF_FITTING and _fits(look, n, weakly=True)]
    if len(found) > 1:
        raise _several_truths(look, found)
    if found:
        look.take("truth", found[0], "by name")
        _tell_marks(look, found[0])


def _tell_marks(look: Look, truth: str) -> None:
    """Hold answers against the truth, and never the columns that say whether they were right."""
    if look.asked.verb != "compare" or look.given.models:
        return
    marks = [n for n in look.free if is_mark(n) and is_marks(look.facts[n])]
    likely = [n for n in look.free if n not in marks and veto(look.facts[n]) is None]
    if any(_shares(look.facts[n], labels_of(look.facts[truth])) for n in likely):
        look.leave(marks, "says whether an answer was right")
    elif len(marks) > 1:
        del look.roles["truth"], look.how["truth"]
        look.leave([truth], "the models' columns say right or wrong already")


def fitting_truth(sample: Sample, answers: str, taken: Sequence[str]) -> str | None:
    """Return the truth, by its name, of the one column of answers of a file; None if none fits."""
    said = sample.facts[answers]
    free = [n for n in sample.facts if n not in (answers, *taken)]
    likely = [n for n in free if _shares(said, labels_of(sample.facts[n]))]
    whole = [n for n in likely if is_truth_name(n, whole=True)]
    part = [n for n in likely if is_truth_name(n)]
    usual = [n for n in likely if plain(n) in TRUTH_IF_FITTING]
    found = whole or part or usual
    # A column called correct has been held against its truth; one called prediction has not.
    marked = is_marks(said) and (is_mark(answers) or plain(answers) in VOTE_TIERS[0])
    return found[0] if len(found) == 1 and not marked else None


def old_and_new(sample: Sample) -> tuple[str, str] | None:
    """Return the one column with old, before or baseline as a part of its name, and the one with
    new or after, if both are there and hold answers to the same items.

    Words need common labels; pass and fail and whole numbers must agree beyond chance too.
    """
    free = [n for n in sample.facts if veto(sample.facts[n]) is None]
    then, now = ([n for n in free if {*parts(n)} & {*ROLE_NAMES[role]}] for role in ("old", "new"))
    if len(then) != 1 or len(now) != 1 or then == now:
        return None
    pair = then[0], now[0]
    labels = [labels_of(sample.facts[n]) for n in pair]
    if not all(_shares(sample.facts[n], one) for n, one in zip(pair, labels[::-1], strict=True)):
        return None
    if all(map(_are_words, labels)):
        return pair
    z = agreement(sample.codes(pair))[1][0, 1]
    return pair if z >= _SURE[sample.rows >= _MANY] else None


def with_common_labels(sample: Sample, taken: Sequence[str]) -> list[str]:
    """Return the columns that share labels with another one: the largest group, in their order."""
    free = [n for n in sample.facts if n not in taken and veto(sample.facts[n]) is None]
    groups = [
        [o for o in free if o == n or _shares(sample.facts[o], labels_of(sample.facts[n]))]
        for n in free
    ]
    return max(groups, key=len, default=[])


def _may_be_truth(look: Look, name: str) -> bool:
    """Say whether a column called truth can be it: free text beside scores is a reference."""
    facts = look.facts[name]
    if facts.is_text or facts.times or (facts.is_unique and not facts.is_number):
        return any(_shares(look.facts[n], labels_of(facts)) for n in _beside_truth(look, name))
    # Numbers with decimals are the scores of somebody called human, not answers.
    return look.asked.verb == "score" or not facts.decimals


def _fits(look: Look, name: str, *, weakly: bool = False) -> bool:
    """Say whether what a column holds can be the truth of another column.

    *weakly*: names such as ``label`` need a voter with their labels; pass and fail alone do not do.
    """
    facts = look.facts[name]
    if veto(facts) is not None and not (is_truth_name(name) and facts.share < 0.5):
        return False
    item = look.column("item")
    long = look.column("system") is not None and look.asked.verb == "compare"
    if long and item is not None and not look.is_steady(item, name):
        return False
    shared = [n for n in _beside_truth(look, name) if _shares(look.facts[n], labels_of(facts))]
    if weakly and len(name) == 1 and sum(len(n) == 1 for n in shared) > 1:
        return False  # x, y and z are three models
    if weakly:
        # Models that say right and wrong have been held against their truth already.
        marks = is_marks(facts)
        return any(is_marks(look.facts[n]) == marks for n in shared)
    # Grades need no common label; answers do.
    graded = look.asked.verb == "score" and (is_marks(facts) or _scale(facts) is not None)
    return bool(shared) or graded


def _beside_truth(look: Look, name: str) -> list[str]:
    """Return the columns that a truth may be held against: those named, or all that may vote."""
    named = getattr(look.given, look.asked.want) or look.given.prediction
    if named:
        return [n for n in named if n in look.facts]
    return [n for n in look.free if n != name and veto(look.facts[n]) is None]


def _several_truths(look: Look, found: Sequence[str]) -> AskError:
    labels = [labels_of(look.facts[n]) for n in found]
    alike = all(one & labels[0] for one in labels)
    both = (flag("truth", ",".join(found)),) if alike and not any("," in n for n in found) else ()
    return AskError(
        f"{look.source}: which column is the truth? {names(found)} may"
        + (", or their majority." if both else "."),
        role="truth",
        candidates=tuple(found),
        calls=(*both, *(flag("truth", name) for name in found))[:2],
    )


def _shares(facts: Facts, labels: frozenset[Label]) -> bool:
    """Say whether half of the filled cells carry one of the labels."""
    if not 0 < len(labels) <= _MOST_LABELS or not facts.counts:
        return False
    if labels <= {0, 1} and not is_marks(facts):
        return False  # 0 to 5 are no votes on pass or fail
    labels = labels | {0, 1} if labels <= {0, 1} else labels
    inside = sum(n for label, n in facts.counts.items() if one_word(label) in labels)
    return 2 * inside >= facts.seen > 0


def _scale(facts: Facts) -> tuple[float, float] | None:
    """Return the usual scale whose range a column of numbers uses, None for any other."""
    if not facts.is_number or facts.low is None or facts.high is None:
        return None
    for low, high in _SCALES:
        inside = facts.is_inside(low, high)
        if low == 0 and high == 1 and not facts.decimals:
            continue
        wide = facts.high - facts.low >= (high - low) / 2
        if inside and (wide or (facts.decimals and high == 1)):
            return low, high
    return None


# The voters.


def find_voters(look: Look) -> tuple[str, ...]:
    """Return the columns that vote; ask where that cannot be told."""
    free = [n for n in candidates(look) if n != look.given.by]
    if look.asked.verb == "compare" and look.truth is None:
        found = _scores(look, free)
    elif look.asked.verb == "score":
        found = _grades(look, free)
    elif (reference := _reference(look)) is not None:
        found = _beside(look, free, reference)
    else:
        found = _alone(look, free)
    _copies(look, found)
    return found


def _which(
    look: Look, text: str, *groups: Sequence[str], candidates: Sequence[str] = ()
) -> AskError:
    """Return the question which columns vote, each group one answer, the likelier first."""
    want = look.asked.want
    return AskError(
        f"{look.source}: {text}",
        role=want,
        candidates=tuple(candidates) or tuple(",".join(group) for group in groups),
        calls=tuple(flag(want, *group) + _truth_flag(look) for group in groups if group),
    )


def _which_or_truth(
    look: Look, text: str, calls: Sequence[tuple[str | None, Sequence[str]]]
) -> AskError:
    """Return the question whether a column is the truth; an answer is a truth and who votes."""
    want = look.asked.want
    said = [
        flag(want, *voters) if truth is None else f"{flag('truth', truth)} {flag(want, *voters)}"
        for truth, voters in calls
    ]
    named = [truth for truth, _ in calls if truth is not None]
    return AskError(
        f"{look.source}: {text}", role="truth", candidates=tuple(named), calls=tuple(said)
    )


def _says(look: Look, columns: Sequence[str]) -> str:
    """Return what columns say, as a clause: ``gpt and claude say 0/1``."""
    return f"{names(columns)} {'say' if len(columns) > 1 else 'says'} {_said(look, columns)}"


def _reference(look: Look) -> str | None:
    """Return the column whose labels voters must have: the truth, or what is bounded."""
    if look.asked.verb == "bound" and look.given.prediction:
        return look.given.prediction[0]
    if look.asked.verb == "bound" and look.given.score is None and look.asked.reads:
        raise _which_prediction(look)
    return look.truth


def find_prediction(look: Look) -> None:
    """Take the column that is called prediction, if it shares labels with a column beside it."""
    asked = look.asked.verb == "bound" and "prediction" in look.asked.reads
    if not asked or look.given.prediction or look.given.score:
        return
    beside = look.given.weak or candidates(look)
    found = [
        name
        for name in candidates(look)
        if plain(name) == "prediction" and _with_labels_of(look, name, beside)
    ]
    if len(found) == 1:
        look.given = look.given.with_columns("prediction", tuple(found))
        look.how["prediction"] = "by name"


def _with_labels_of(look: Look, name: str, others: Sequence[str]) -> list[str]:
    """Return the other columns that share labels with a column."""
    labels = labels_of(look.facts[name])
    return [n for n in others if n != name and _shares(look.facts[n], labels)]


def _which_prediction(look: Look) -> AskError:
    """Ask which column is to be bounded: first a so-called prediction, or one unlike the others."""
    likely = [n for n in candidates(look) if look.facts[n].counts and n != look.truth]
    if look.truth is not None:
        labels = labels_of(look.facts[look.truth])
        likely = [n for n in likely if _shares(look.facts[n], labels)] or likely
    rest = {n: _with_labels_of(look, n, likely) for n in likely}
    likely = [n for n in likely if rest[n]] or likely
    order = sorted(
        likely,
        key=lambda n: (
            not any(part.startswith("pred") for part in parts(n)),
            not are_alike(rest[n]),
        ),
    )
    return AskError(
        f"{look.source}: which column holds the answers of the classifier?"
        f" {names(likely) or 'None'} may.",
        role="prediction",
        candidates=tuple(likely[:8]),
        calls=tuple(
            f"{flag('prediction', n)} {flag('weak', *rest[n])}{_truth_flag(look)}"
            for n in order[:2]
            if rest[n]
        ),
    )


def _beside(look: Look, free: Sequence[str], reference: str) -> tuple[str, ...]:
    """Take the columns with the labels of the truth (bound: of the prediction)."""
    labels = labels_of(look.facts[reference])
    shared = [n for n in free if _shares(look.facts[n], labels)]
    if not shared:
        raise _no_label(look, free, reference)
    look.leave([n for n in free if n not in shared], f"other labels than {reference}")
    _ask_whether_marks(look, shared, reference)
    if _are_words(labels):
        # Words need no proof, but slices may be called like labels: group A beside answers a to d.
        many = look.sample.rows >= _MANY and len(shared) > 1
        if not many or not _odd(look, shared, reference, weak=0.0):
            return _taken(look, shared, "by content")
    return _tested(look, shared, reference)


def _ask_whether_marks(look: Look, shared: Sequence[str], reference: str) -> None:
    """Ask whether models say 0 and 1 of a truth of more labels, or were right and wrong."""
    if look.asked.verb != "compare" or is_marks(look.facts[reference]):
        return
    if not all(is_marks(look.facts[n]) for n in shared):
        return
    z = _strengths(look, [*shared[:_MOST_PAIRED], reference])[1][-1, :-1]
    if (z >= _SURE[look.sample.rows >= _MANY]).any():
        return
    raise AskError(
        f"{look.source}: {names(shared)} {'say' if len(shared) > 1 else 'says'} 0 and 1, and"
        f" {reference} has more labels."
        " Are these answers, or right and wrong?",
        role="truth",
        candidates=(reference,),
        calls=(
            f"{flag('models', *shared)} {flag('ignore', reference)}",
            f"{flag('truth', reference)} {flag('models', *shared)}",
        ),
    )


def _no_label(look: Look, free: Sequence[str], reference: str) -> AskError | InputError:
    """Ask what a truth is there for that no column shares a label with."""
    facts = look.facts[reference]
    shown = ", ".join(sorted(map(str, facts.labels))[:4]) or "text"
    numbers = [n for n in free if look.facts[n].is_number or is_marks(look.facts[n])]
    why = f"{look.source}: no column uses the labels of {reference} ({shown})."
    named = look.given.truth == reference or reference in look.given.prediction
    if look.asked.verb == "compare" and numbers and not named:
        return AskError(
            f"{why} Are {names(numbers)} scores?",
            role="truth",
            candidates=(reference,),
            calls=(f"{flag('models', *numbers)} {flag('ignore', reference)}",),
        )
    if facts.is_constant:
        return InputError(
            f"{look.source}: {reference} says {shown} and nothing else. A blank cell means that"
            " nobody knows: where it means the other label, write that label"
        )
    want = look.asked.want
    likely = [n for n in free if look.facts[n].counts]
    calls = (flag(want, *likely),) if len(likely) == 1 else ()
    return AskError(
        f"{why} Write labels alike, or name the {_WORDS_FOR[want]} (--{want}).",
        role=want,
        candidates=tuple(likely[:8]),
        calls=calls,
    )


def _are_words(labels: frozenset[Label]) -> bool:
    """Say whether labels are words, and no pass or fail, which facts of every sort share."""
    return any(isinstance(label, str) for label in labels) and not labels & {0, 1}


def _taken(look: Look, voters: Sequence[str], how: How) -> tuple[str, ...]:
    look.how[look.asked.want] = how
    return tuple(voters)


def _tested(look: Look, voters: Sequence[str], reference: str | None = None) -> tuple[str, ...]:
    """Take voters that agree with the truth or with one another; ask about those that do not."""
    if len(voters) == 1:
        return _taken(look, voters, "only candidate")
    voters = _without_sparse(look, voters)
    look.doubt(voters, reference)
    odd = _odd(look, voters, reference)
    unlike = _written_otherwise(look, voters, odd)
    look.leave(unlike, "written otherwise, and says nothing about the others")
    odd = [n for n in odd if n not in unlike]
    voters = [n for n in voters if n not in unlike]
    if not odd:
        return _taken(look, voters, "by content")
    rest = [n for n in voters if n not in odd]
    groups = [rest, voters] if look.sample.rows >= _MANY else [voters, rest]
    what = f"{_says(look, rest)}; " if rest else ""
    about = "them" if rest else reference or "each other"
    raise _which(
        look,
        f"which columns are {_WORDS_FOR[look.asked.want]}? {what}{names(odd)}"
        f" ({_said(look, odd)}) {'say' if len(odd) > 1 else 'says'} nothing about {about}.",
        *groups,
    )


def _written_otherwise(look: Look, voters: Sequence[str], odd: Sequence[str]) -> list[str]:
    """Return the odd ones of many rows that are no votes by two signs: they agree with nothing, and
    they say True and False where all others say pass and fail.
    """
    rest = [n for n in voters if n not in odd]
    if look.sample.rows < _MANY or not rest:
        return []
    # As text: True is 1 in Python, and not in a table.
    words = {str(label) for n in rest for label in look.facts[n].labels}
    return [n for n in odd if not {str(label) for label in look.facts[n].labels} & words]


def _forms(look: Look, name: str) -> frozenset[str]:
    """Return how a column writes its labels."""
    return frozenset(map(str, look.facts[name].labels))


def _truth_flag(look: Look) -> str:
    """Return the option that names the truth that was found, so that a command says it."""
    found = look.roles.get("truth")
    return f" {flag('truth', found)}" if found and look.given.truth is None else ""


def _said(look: Look, columns: Sequence[str]) -> str:
    labels = {label for n in columns for label in look.facts[n].labels}
    if labels and all(one_word(one) in (0, 1) for one in labels):
        raw = sorted(map(str, labels), key=lambda one: (len(one), one))
        return "0/1" if set(raw) == {"0", "1"} else "pass or fail"
    shown = sorted(map(str, labels))
    if shown and len(shown) <= 4:
        return "/".join(shown)
    ends = [look.facts[n] for n in columns if look.facts[n].low is not None]
    if ends:
        low, high = min(f.low or 0.0 for f in ends), max(f.high or 0.0 for f in ends)
        return f"{low:g} to {high:g}"
    return "labels"


def _strengths(look: Look, columns: Sequence[str]) -> tuple[np.ndarray, np.ndarray]:
    """Return how far columns agree (kappa, or rank correlation), and by how many standard errors.

    Copies are left aside: a column agrees with its copy, whatever it holds.
    """
    # A third word beside pass and fail is asked about by itself.
    known = {0, 1} if all(is_marks(look.facts[n]) for n in columns) else set[Label]()
    codes = look.sample.codes(columns, known=frozenset(known))
    kappa, z = agreement(codes)
    numbers = look.sample.numbers(columns)
    for i, a in enumerate(columns):
        for j in range(i):
            facts = look.facts[a], look.facts[columns[j]]
            graded = all(one.is_number or is_marks(one) for one in facts)
            wide = any(one.distinct > 3 for one in facts)
            unlike = not labels_of(facts[0]) & labels_of(facts[1])
            if graded and (wide or unlike):
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


def _telling(look: Look, voters: Sequence[str]) -> list[str]:
    """Return the columns that agree with another one, for a command; all if these are too few."""
    odd = _odd(look, voters) if look.sample.rows >= _MANY else []
    return [n for n in voters if n not in odd] if len(voters) > len(odd) + 1 else list(voters)


def _without_sparse(look: Look, voters: Sequence[str]) -> list[str]:
    """Ask about columns that are filled on few rows beside others: they look like a truth."""
    if look.asked.want != "judges":
        return list(voters)
    fullest = max(look.facts[n].filled for n in voters)
    sparse = [n for n in voters if 2 * look.facts[n].filled < fullest]
    if not sparse or (look.truth is not None and _odd(look, voters, look.truth)):
        return list(voters)
    rest = _telling(look, [n for n in voters if n not in sparse])
    what = (
        f"{names(sparse)} {'are' if len(sparse) > 1 else 'is'} filled on"
        f" {max(look.facts[n].filled for n in sparse):,} of {look.sample.rows:,} rows"
    )
    if look.given.truth is not None:
        raise _which(look, f"{what}, like {look.truth}. Judges?", rest, voters, candidates=sparse)
    together = (*([] if look.truth is None else [look.truth]), *sparse)
    truth = None if any("," in n for n in together) else ",".join(together)
    raise _which_or_truth(
        look,
        f"{what}: human labels, or judges?",
        [(truth, rest), (look.roles.get("truth"), voters)],
    )


def ask_about_sparse(look: Look, voters: Sequence[str]) -> None:
    """Ask about a column without a role that is filled on few rows, and says there what the judges
    say: it looks like the truth, and without one the answer would be another.
    """
    held = [look.facts[n] for n in voters if n in look.facts]
    if look.asked.want != "judges" or look.truth is not None or look.asked.collects or not held:
        return
    taken = {*voters, *look.given.holders(), *look.aside, *map(str, look.roles.values())}
    fullest = max(one.filled for one in held)
    labels = frozenset().union(*(labels_of(one) for one in held))
    graded = look.asked.verb == "score" and not labels <= {0, 1}
    sparse = [
        n
        for n, own in look.facts.items()
        if n not in taken
        and 0 < 2 * own.filled < fullest
        and veto(own) is None
        and (_shares(own, labels) or (graded and _same_scale(look, n, voters)))
    ]
    if not sparse:
        return
    raise AskError(
        f"{look.source}: {names(sparse)} {'are' if len(sparse) > 1 else 'is'} filled on"
        f" {max(look.facts[n].filled for n in sparse):,} of {look.sample.rows:,} rows:"
        " human labels, or not?",
        role="truth",
        candidates=tuple(sparse),
        calls=(flag("truth", ",".join(sparse)), flag("ignore", *sparse)),
    )


def _copies(look: Look, free: Sequence[str]) -> None:
    """Ask about a column that says what another one says in every row."""
    shown = [n for n in free if look.facts[n].counts][:_MOST_PAIRED]
    if len(shown) < 2 or look.asked.verb == "bound":
        return
    codes = look.sample.codes(shown)
    full = [(codes[:, k] >= 0).sum() for k in range(len(shown))]
    copies: list[str] = []
    for j, name in enumerate(shown):
        before = (i for i in range(j) if full[i] == full[j] and shown[i] not in copies)
        if any(_is_copy(codes[:, i], codes[:, j]) for i in before):
            copies.append(name)
    if not copies:
        return
    rest = [n for n in shown if n not in copies]
    # A comparison takes two: without its copy a model has nothing to be compared with.
    alone = look.asked.want == "models" and len(rest) < 2
    raise _which(
        look,
        f"{names(copies)} {'are' if len(copies) > 1 else 'is'} a copy of another column. Which"
        f" columns are {_WORDS_FOR[look.asked.want]}?",
        *((shown,) if alone else (rest, shown)),
        candidates=copies,
    )


def _alone(look: Look, free: Sequence[str]) -> tuple[str, ...]:
    """Take the columns that share labels with one another, without a truth (judge, bound)."""
    likely = [n for n in free if look.facts[n].counts and labels_of(look.facts[n])]
    look.leave([n for n in free if n not in likely], "numbers with many values")
    want = look.asked.want
    if not likely:
        raise InputError(
            f"{look.source}: no column holds labels that repeat, so nothing votes here. Name the"
            f" columns that do (--{want})"
        )
    first, *others = _groups(look, likely)
    rivals = [group for group in others if len(group) > 1 or len(first) == 1]
    if rivals:
        raise _which(
            look,
            f"which columns are {_WORDS_FOR[want]}? {names(first)} say {_said(look, first)},"
            f" {names(rivals[0])} {_said(look, rivals[0])}.",
            first,
            rivals[0],
        )
    look.leave([n for group in others for n in group], "other labels")
    if _are_words(frozenset().union(*(labels_of(look.facts[n]) for n in first))):
        first = _without_sparse(look, first)
    else:
        first = list(_tested(look, first))
    _ask_about_unlike_name(look, first)
    how: How = "only candidate" if len(first) != 2 or look.asked.verb == "judge" else "by content"
    return _taken(look, first, how)


def _groups(look: Look, likely: Sequence[str]) -> list[list[str]]:
    """Return columns by the labels that they share, the largest group first."""
    groups: list[list[str]] = []
    for name in sorted(likely, key=lambda n: -len(labels_of(look.facts[n]))):
        own = look.facts[name]
        for group in groups:
            same = is_marks(look.facts[group[0]]) == is_marks(own)
            if same and any(_shares(own, labels_of(look.facts[other])) for other in group):
                group.append(name)
                break
        else:
            groups.append([name])
    ordered = ([n for n in likely if n in group] for group in groups)
    return sorted(ordered, key=len, reverse=True)


def _ask_about_unlike_name(look: Look, voters: Sequence[str]) -> None:
    """Ask about the one column whose name is not like those of the others: it may be the truth."""
    odd = None if look.asked.collects else unlike_name(voters)
    if odd is not None:
        raise _which_or_truth(
            look,
            f"is {odd} the truth, or one of the {_WORDS_FOR[look.asked.want]}?",
            [(odd, [n for n in voters if n != odd]), (None, voters)],
        )


# Grades of outputs (score).


def _grades(look: Look, free: Sequence[str]) -> tuple[str, ...]:
    """Take judges who say pass or fail, or who give grades; ask where both stand side by side."""
    truth, facts = look.truth, look.facts
    marks = [n for n in free if is_marks(facts[n])]
    rest = [n for n in free if n not in marks]
    numbers = [n for n in rest if facts[n].is_number or facts[n].numeric >= 0.5]
    words = [n for n in rest if n not in numbers]
    graded = truth is not None and not is_marks(facts[truth]) and facts[truth].is_number
    if truth is not None and not graded and not is_marks(facts[truth]):
        shared = [n for n in words if _shares(facts[n], labels_of(facts[truth]))]
        if shared:
            look.leave([n for n in free if n not in shared], f"other labels than {truth}")
            return _taken(look, shared, "by content")
    if truth is None:
        own = _own_words(look, words)
        if len(own) > max(1, len(marks)):
            look.leave([n for n in free if n not in own], "other words than the judges")
            return _taken(look, _without_sparse(look, own), "by content")
        look.leave(words, "words, and no pass or fail")
        return _ungraded(look, marks, numbers)
    look.leave(words, "words, and no pass or fail")
    agreeing = _agreeing(look, numbers, truth)
    if marks and agreeing:
        groups = (agreeing, marks) if graded else (marks, agreeing)
        raise _marks_or_numbers(look, marks, agreeing, groups)
    if marks and not graded:
        look.leave(numbers, "numbers, while others say pass or fail")
        return _tested(look, marks, truth)
    if agreeing:
        odd = [n for n in numbers if n not in agreeing and _same_scale(look, n, agreeing)]
        if odd:
            raise _which(
                look,
                f"which columns are judges? {_says(look, agreeing)}; {names(odd)}"
                f" ({_said(look, odd)}) says nothing about {truth}.",
                agreeing,
                [*agreeing, *odd],
                candidates=odd,
            )
        look.leave([n for n in numbers if n not in agreeing], f"says nothing about {truth}")
        return _taken(look, agreeing, "by content")
    likely = [*marks, *[n for n in numbers if _scale(facts[n]) is not None]] or numbers
    if len(likely) == 1:
        look.leave([n for n in free if n not in likely], "no usual scale")
        return _taken(look, likely, "only candidate")
    if not likely:
        raise InputError(
            f"{look.source}: no column holds grades beside {truth}: name the judges (--judges)"
        )
    raise _which(
        look,
        f"which columns are judges? None of {names(likely)} follows {truth}.",
        likely,
        candidates=likely,
    )


def _own_words(look: Look, words: Sequence[str]) -> list[str]:
    """Return the columns that say the same two words, none of them known, and agree: judges whose
    words are read once their order is named.
    """
    pairs = [n for n in words if len(labels_of(look.facts[n])) == 2]
    same = [n for n in pairs if labels_of(look.facts[n]) == labels_of(look.facts[pairs[0]])]
    return [] if len(same) < 2 or _odd(look, same, weak=0.0) else same


def _marks_or_numbers(
    look: Look, marks: Sequence[str], numbers: Sequence[str], groups: Sequence[Sequence[str]]
) -> AskError:
    """Return the question whether those are the judges who pass, or those who give numbers."""
    return _which(
        look,
        f"which columns are judges? {names(marks)} {'say' if len(marks) > 1 else 'says'} pass or"
        f" fail, {names(numbers)} {_said(look, numbers)}.",
        *groups,
        candidates=(",".join(marks), ",".join(numbers)),
    )


def _agreeing(look: Look, numbers: Sequence[str], truth: str | None) -> list[str]:
    """Return the numbers of one scale that follow the truth, those of much weaker ties left out."""
    if truth is None or not numbers:
        return []
    shown = list(numbers[:_MOST_PAIRED])
    held = look.sample.numbers([truth, *shown])
    many = look.sample.rows >= _MANY
    ties = {n: rank_correlation(held[:, 0], held[:, k + 1]) for k, n in enumerate(shown)}
    sure = {n: rho for n, (rho, z) in ties.items() if z >= _SURE[many]}
    if not sure:
        return []
    best = max(sure.values())
    kept = [n for n in shown if n in sure and (not many or sure[n] >= _WEAK * best)]
    usual = [n for n in kept if _scale(look.facts[n]) is not None]
    return usual or kept


def _same_scale(look: Look, name: str, others: Sequence[str]) -> bool:
    """Say whether a column's numbers could be grades like those of others."""
    own = look.facts[name]
    return any(
        own.decimals == look.facts[o].decimals
        and own.is_inside(look.facts[o].low or 0.0, look.facts[o].high or 0.0)
        for o in others
    )


def _ungraded(look: Look, marks: Sequence[str], numbers: Sequence[str]) -> tuple[str, ...]:
    """Take judges without human grades: one, two that agree, or several of one family."""
    usual = [n for n in numbers if _scale(look.facts[n]) is not None]
    likely = list(marks) or usual or list(numbers)
    if marks and usual:
        raise _marks_or_numbers(look, marks, usual, (marks, usual))
    if not likely:
        raise InputError(
            f"{look.source}: no column says pass or fail, or gives grades: name the judges"
            " (--judges)"
        )
    look.leave([n for n in (*marks, *numbers) if n not in likely], "no usual scale")
    if len(likely) == 1:
        return _taken(look, likely, "only candidate")
    taken = _tested(look, likely)
    if len(taken) > 1 and not are_alike(taken):
        if look.asked.collects:
            return _taken(look, taken, "only candidate")
        raise _all_or_truth(look, taken)
    return taken


def _all_or_truth(look: Look, voters: Sequence[str]) -> AskError:
    """Return the question whether all columns vote, or one of them is the truth.

    Voters that err each for itself agree more with the truth than with one another.
    """
    kappa = np.nan_to_num(_strengths(look, voters[:_MOST_PAIRED])[0])
    truth = voters[int(kappa.sum(axis=1).argmax())]
    return _which_or_truth(
        look,
        f"are {names(voters)} all {_WORDS_FOR[look.asked.want]}, or is {truth} the truth?",
        [(None, voters), (truth, [n for n in voters if n != truth])],
    )


# Scores of models (compare without a truth).


def _scores(look: Look, free: Sequence[str]) -> tuple[str, ...]:
    """Take two columns of one kind, or a family of names; ask about any other table."""
    marks = [n for n in free if is_marks(look.facts[n])]
    numbers = [n for n in free if n not in marks and look.facts[n].numeric >= 0.5]
    words = [n for n in free if n not in (*marks, *numbers)]
    labelled = _same_words(look, words)
    whole = [n for n in numbers if not look.facts[n].decimals]
    decimals = [n for n in numbers if look.facts[n].decimals]
    if len(labelled) > 1 and len(marks) + len(numbers) < 2:
        raise _all_or_truth_of_words(look, labelled)
    look.leave(words, "words, and no scores")
    if not marks and not numbers:
        raise InputError(
            f"{look.source}: no column holds scores. If {names(words) or 'columns'} hold answers,"
            " name the true answers (--truth); else name the models (--models)"
        )
    told = _told_by_content(look, marks, whole, decimals)
    if told:
        look.leave(
            [n for n in (*marks, *numbers) if n not in told], "says nothing about the others"
        )
        marks = [n for n in marks if n in told]
        numbers = [n for n in numbers if n in told]
        whole, decimals = ([n for n in kind if n in told] for kind in (whole, decimals))
    group = [n for n in look.facts if n in (*marks, *numbers)]
    top = 1.0 if all(look.facts[n].is_inside(0, 1) for n in group) else 100.0
    inside = all(look.facts[n].is_inside(0, top) for n in group)
    if len(group) > 1 and are_alike(group) and inside:
        return _taken(look, group, "by content")
    if len(marks) > 1 and are_alike(marks) and not numbers:
        return _taken(look, marks, "by content")
    if len(marks) == 2 and not decimals:
        look.leave(whole, "whole numbers, while others say right or wrong")
        return _taken(look, marks, "by content")
    one_kind = not marks and len(numbers) == 2 and 2 in (len(whole), len(decimals))
    if one_kind and _one_range(look, numbers):
        return _taken(look, numbers, "by content")
    if len(marks) > 2 and not numbers:
        raise _all_or_truth(look, _telling(look, marks))
    raise _which_scores(look, marks, whole, decimals)


def _told_by_content(
    look: Look, marks: Sequence[str], whole: Sequence[str], decimals: Sequence[str]
) -> list[str]:
    """Return the columns of one kind that follow one another, if all others are of another kind
    and follow none of them; nothing where that is not clear.
    """
    every = [*marks, *whole, *decimals]
    if look.sample.rows < _MANY or not 2 < len(every) <= _MOST_PAIRED:
        return []
    z = _strengths(look, every)[1]
    place = {name: k for k, name in enumerate(every)}
    written: dict[frozenset[str], list[str]] = {}
    for name in marks:
        written.setdefault(_forms(look, name), []).append(name)
    for kind in (*written.values(), decimals, whole):
        inside = [place[n] for n in kind]
        outside = [place[n] for n in every if n not in kind]
        if len(kind) < 2 or not outside:
            continue
        tied = all(
            np.nanmax(np.delete(z[k][inside], j)) >= _SURE[True] for j, k in enumerate(inside)
        )
        apart = not (np.abs(z[np.ix_(inside, outside)]) >= _SURE[False]).any()
        if tied and apart and _one_range(look, kind):
            return list(kind)
    return []


def _one_range(look: Look, columns: Sequence[str]) -> bool:
    """Say whether the numbers of columns may be of one metric: ranges of one size."""
    sizes = [max(abs(look.facts[n].low or 0), abs(look.facts[n].high or 0)) for n in columns]
    return max(sizes) <= 20 * max(min(sizes), 1e-12)


def _same_words(look: Look, words: Sequence[str]) -> list[str]:
    """Return the columns of words that share labels with another one."""
    return [
        n
        for n in words
        if any(
            _shares(look.facts[n], labels_of(look.facts[o]))
            or _shares(look.facts[o], labels_of(look.facts[n]))
            for o in words
            if o != n
        )
    ]


def _all_or_truth_of_words(look: Look, labelled: Sequence[str]) -> AskError:
    """Return the question which column of answers is the truth: alone they cannot be compared."""
    ends = (labelled[0], labelled[-1]) if len(labelled) > 2 else ()
    return _which_or_truth(
        look,
        f"{names(labelled)} hold answers. Which column is the truth?",
        [(truth, [n for n in labelled if n != truth]) for truth in ends],
    )


def _which_scores(
    look: Look, marks: Sequence[str], whole: Sequence[str], decimals: Sequence[str]
) -> AskError | InputError:
    """Ask which columns are scores; the command keeps the likely ones."""
    every = [*marks, *whole, *decimals]
    votes = {piece for tier in VOTE_TIERS[:2] for one in tier for piece in parts(one)}
    kept = [n for n in every if not _named_after(n, every)]
    with_vote = [n for n in kept if {*parts(n)} & votes]
    kept = with_vote if len(with_vote) > 1 else kept
    if len(kept) > 2:
        z = _strengths(look, kept[:_MOST_PAIRED])[1]
        sure = z >= _SURE[False]
        tied = [n for k, n in enumerate(kept[:_MOST_PAIRED]) if sure[k].any()]
        kept = tied if len(tied) > 1 else kept
    written: dict[frozenset[str], list[str]] = {}
    for name in marks:
        written.setdefault(_forms(look, name), []).append(name)
    kinds = [[n for n in kept if n in kind] for kind in (*written.values(), decimals, whole)]
    kinds = [kind for kind in kinds if len(kind) > 1]
    order = sorted(kinds, key=len, reverse=True) or [kept]
    if len(every) < 2:
        return InputError(
            f"{look.source}: {names(every)} is one column of scores, and a comparison takes two"
            " models: name a column of models (--system), or a second file"
        )
    first = [n for n in look.facts if n in order[0]]
    calls = [flag("models", *first)]
    if len(first) > 2 and len(every) == len(first):
        calls.append(flag("models", *first[:2]))
    elif len(every) > len(first):
        calls.append(flag("models", *[n for n in look.facts if n in every]))
    return AskError(
        f"{look.source}: which columns are models? {names([n for n in look.facts if n in every])}"
        " hold numbers.",
        role="models",
        candidates=tuple(every),
        calls=tuple(dict.fromkeys(calls)),
    )


def _named_after(name: str, others: Sequence[str]) -> bool:
    """Say whether a column is named after another one (``base_se`` after ``base``)."""
    own = parts(name)
    return any(
        len(other := parts(one)) < len(own) and own[: len(other)] == other
        for one in others
        if one != name
    )


def truth_among(look: Look, judges: Sequence[str], counts: dict[str, int]) -> str | None:
    """Return the judge of a long table that is the truth by its name; ask about a sparse one."""
    found = [name for name in judges if is_truth_name(name, whole=True)]
    if not found:
        found = [name for name in judges if is_truth_name(name)]
    if len(found) == 1 and len(judges) > 1:
        return found[0]
    rest = {name: n for name, n in counts.items() if name not in found}
    if not found and 1 < len(rest) < 10 and look.asked.verb in ("judge", "score"):
        fullest = max(rest.values())
        sparse = [name for name, n in rest.items() if 2 * n < fullest]
        if len(sparse) == 1 and len(rest) > 2:
            raise AskError(
                f"{look.source}: {sparse[0]} gave {rest[sparse[0]]:,} votes, others up to"
                f" {fullest:,}: the truth, or a judge?",
                role="truth",
                candidates=tuple(sparse),
                calls=(
                    flag("truth", sparse[0]),
                    flag(look.asked.want, *judges),
                ),
            )
    return None
