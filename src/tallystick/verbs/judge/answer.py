"""From data and a question to an answer about judges."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tallystick._rng import as_rng
from tallystick.errors import InputError
from tallystick.results import Interval, Result, Sentences, Unknown, count
from tallystick.sampling.tasks import random_sample
from tallystick.stats.maxt import holm
from tallystick.table import (
    Capability,
    Data,
    Door,
    Label,
    Roles,
    Tally,
    answered,
    attach,
    unordered,
)
from tallystick.table.cells import identity, in_order
from tallystick.table.panel import Floats
from tallystick.table.weights import refuse_weight
from tallystick.verbs.judge.dawid_skene import dawid_skene
from tallystick.verbs.judge.grade import grade, positive_of
from tallystick.verbs.judge.independent import independent
from tallystick.verbs.judge.logical import logical
from tallystick.verbs.judge.majority import majority
from tallystick.verbs.judge.orders import are_two_orders, position_panel, self_consistency
from tallystick.verbs.judge.question import GRADING, JudgeQuestion, cases_of, demo
from tallystick.verbs.judge.result import JudgeResult
from tallystick.verbs.judge.scores import Alarm, CovariateEffect, Number, Range, Share
from tallystick.verbs.judge.sessions import from_session, labelling
from tallystick.verbs.judge.verdict import LEFT_ASIDE, SUMS_OF_WEIGHTS
from tallystick.verbs.judge.windows import Windows, load_state, save_state

# What is known of each item, and in which order to label or to check items.


def item_columns(result: Result, data: Data) -> dict[str, Any]:
    """Return the rows of *data* with what is known of each, and two orders.

    ``label_next`` numbers the unlabelled rows at random: labels for grading judges must be a random
    draw. ``check_next`` numbers them by the lowest probability or support: to correct single items,
    read these first. A row with a label keeps it, with probability 1.
    """
    if not isinstance(result, JudgeResult):
        raise InputError("this method grades no judge and says nothing about single items")
    if isinstance(data.held, Tally):
        raise InputError(
            "--items-out needs the rows, and a saved tally holds counts: give the table"
        )
    attached = attach(result, data.table)
    columns = {name: attached[name].to_pylist() for name in attached.column_names}
    level = "probability" if "probability" in result.learnt else "support"

    truth = data.roles.truth
    known = data.label_lists(truth)[truth] if truth is not None else [None] * attached.num_rows
    unlabelled = [row for row, label in enumerate(known) if label is None]
    for row, label in enumerate(known):
        if label is not None:
            columns["consensus"][row], columns[level][row] = label, 1.0

    # A random order is what the intervals from labels need: an order by doubt would bias them.
    ranks = as_rng(result.seed or 0).permutation(len(unlabelled)).tolist()
    label_next = _numbered([unlabelled[place] for place in ranks], attached.num_rows)
    doubtful = [row for row in unlabelled if columns[level][row] is not None]
    doubtful.sort(key=lambda row: float(columns[level][row]))
    check_next = _numbered(doubtful, attached.num_rows)
    return {**columns, "label_next": label_next, "check_next": check_next}


def _numbered(order: list[int], rows: int) -> list[int | None]:
    """Return the place of each row in *order*, None for the others."""
    found: list[int | None] = [None] * rows
    for rank, row in enumerate(order, start=1):
        found[row] = rank
    return found


_ANSWERS_ONLY = ("independent",)


def evaluate(source: Any, **options: Any) -> JudgeResult:
    """Grade judges from whatever `tallystick.table.door` takes.

    Parameters
    ----------
    source
        A path, a frame, a mapping of columns, a Tally, …
    **options
        Roles (*item*, *judges*, *truth*, *count*, *weight*, *by*), the fields of `JudgeQuestion`,
        and the options of reading (*missing*, *coerce*, *labels*, *truth_file*, …).

    Examples
    --------
    >>> votes = {"gpt": [1, 0, 1, 1] * 20, "claude": [1, 0, 0, 1] * 20, "gold": [1, 0, 1, 1] * 20}
    >>> result = evaluate(votes, truth="gold")
    >>> [(judge.name, judge.accuracy) for judge in result.judges]
    [('gpt', 1.0), ('claude', 0.75)]
    """
    result: JudgeResult = answered(
        CAPABILITY, source, options
    )  # the kind that its answers mostly have
    return result


def answer(data: Data, question: JudgeQuestion) -> Result:
    """Answer from data that was read."""
    if question.certified and data.roles.truth is None:
        raise InputError(
            "certified makes intervals from labels exact: name the column of true labels (--truth)"
        )
    if data.session and not question.certified and random_sample(data.session):
        data = replace(data, session=None)  # labels like any others
    if data.session is not None and question.method == "evaluate":
        return from_session(data, question)
    result = ask(data, question)
    if isinstance(data.held, Tally) and data.held.weighted:
        result = replace(result, assumptions=(*result.assumptions, SUMS_OF_WEIGHTS))
    if not isinstance(result, JudgeResult):
        return result
    if data.roles.covariate:
        result = replace(result, covariates=covariate_effects(data, alpha=question.alpha))
    if question.window is not None:
        result = with_windows(result, _windows(data, question))
    return result


def ask(data: Data, question: JudgeQuestion) -> Result:
    """Answer from counted votes by the method that the question names."""
    votes, truth = data.tally("judges", "truth"), data.roles.truth
    judges = [name for name in votes.names if name != truth]
    if question.method in ("self-consistency", "position-bias"):
        refuse_weight(data.roles, f"method {question.method}")
    if question.method == "self-consistency":
        return self_consistency(votes, repeats=judges, alpha=question.alpha)
    if question.method == "position-bias":
        return _position_bias(votes, judges, data, question)

    labels = _labels(votes, data.rules.labels)
    panel = data.panel("judges", labels=[labels[str(text)] for text in data.rules.labels])
    if panel.weight is not None and not panel.known.any():
        panel = panel.blind
    prevalence = {_label(t, labels, "prevalence"): ends for t, ends in question.ranges().items()}
    known = {
        name: {_label(text, labels, "known"): value for text, value in parts.items()}
        for name, parts in question.known_accuracies().items()
    }
    function, more = _method(question, prevalence, known)
    if question.method == "evaluate":
        more["truth"] = truth
    result = function(panel, **more)

    # Votes that can never be true have no place in methods that are defined for answers.
    said: tuple[str, ...] = (
        (LEFT_ASIDE,) if panel.extras and question.method in _ANSWERS_ONLY else ()
    )
    order = unordered(label for name in votes.names for label in votes.labels[name])
    said += () if order is None or order in result.assumptions else (order,)
    return replace(result, assumptions=(*result.assumptions, *said)) if said else result


def _method(
    question: JudgeQuestion,
    prevalence: Mapping[Label, tuple[float, float]],
    known: Mapping[str, Mapping[Label, float]],
) -> tuple[Callable[..., Result], dict[str, Any]]:
    """Return the function of a method, and the options that it takes beside the votes."""
    level: dict[str, Any] = {"alpha": question.alpha}
    chance = {**level, "rng": question.seed}
    both: dict[str, Any] = {"prevalence": prevalence, "known": known}
    labelled = {"certified": question.certified, "population": question.population}
    methods: dict[str, tuple[Callable[..., Result], dict[str, Any]]] = {
        "evaluate": (grade, {**both, **labelled, **chance}),
        "majority": (majority, level),
        "independent": (independent, {**both, **level}),
        "dawid-skene": (dawid_skene, {"known": known, **level}),
        "logical": (logical, {"prevalence": prevalence}),
    }
    return methods[question.method]


def _position_bias(votes: Tally, judges: list[str], data: Data, question: JudgeQuestion) -> Result:
    """Compare both orders of one judge, or of a whole panel given as FIRST,SECOND,FIRST,SECOND."""
    if len(judges) < 2 or len(judges) % 2:
        raise InputError(
            "method position-bias compares two columns per judge, one for each order, got"
            f" {', '.join(judges[:6])}: name them in pairs (--judges FIRST,SECOND)"
        )
    recorded: Any = question.recorded or "answer"
    pairs = list(zip(judges[::2], judges[1::2], strict=True))
    for first, second in pairs:
        if not are_two_orders(first, second):
            raise InputError(
                f"{first!r} and {second!r} look like two judges and not like two orders of one:"
                " name the two columns of each judge alike, such as gpt_ab and gpt_ba, and give"
                " them in pairs (--judges gpt_ab,gpt_ba)"
            )
    return position_panel(
        votes,
        pairs=pairs,
        ties=data.meaning.never_true,
        recorded=recorded,
        alpha=question.alpha,
    )


def _labels(votes: Tally, more: tuple[Label, ...]) -> dict[str, Label]:
    """Return every label by its text; *more* are labels that nobody voted for."""
    every = [label for column in votes.labels.values() for label in column if label is not None]
    found: dict[str, Label] = {str(label): label for label in every}
    numbers = all(isinstance(label, int) and not isinstance(label, bool) for label in every)
    for label in more:
        text = str(label)
        whole = numbers and text.removeprefix("-").isdecimal()
        found.setdefault(text, int(text) if whole else label)
    return found


def _label(given: Any, labels: Mapping[str, Label], option: str) -> Label:
    if str(given) not in labels:
        raise InputError(
            f"{option} names label {given!r}, which is not one of {', '.join(sorted(labels)[:12])}"
        )
    return labels[str(given)]


def _windows(data: Data, question: JudgeQuestion) -> tuple[Mapping[str, Any], ...]:
    """Evaluate the rows in their order, window by window."""
    refuse_weight(data.roles, "window")
    columns = data.roles.columns("judges", "truth")
    stream = Windows(
        size=question.window or 1,
        evaluation=lambda votes: graded(votes, data, question),
        alpha=question.alpha,
        truth=data.roles.truth,
        block=question.block,
    )
    if question.state is not None:
        load_state(stream, question.state)
    done = stream.push(data.label_lists(*columns))
    if question.state is not None:
        save_state(stream, question.state)
    return tuple(window.summary() for window in (*done, *stream.finish()))


def graded(votes: Tally, data: Data, question: JudgeQuestion) -> JudgeResult:
    """Answer from the tally of one window, by a method that gives every judge a number.

    The labels of a window are looked at on their own: a word for no answer, or a vote that can
    never be true, may appear in any of them.
    """
    part = replace(data, held=votes, notes=())
    found = ask(part, question)
    if not isinstance(found, JudgeResult):
        raise InputError(f"method {question.method} grades no judge: use one of {GRADING}")
    return found


def applies(roles: Roles) -> Mapping[str, Any] | None:
    """Return the options with which judge answers a table with these roles, None if it cannot."""
    if not roles.judges:
        return None
    beside = {"count": roles.count, "weight": roles.weight}
    return {"judges": roles.judges, "truth": roles.truth, **beside}


CAPABILITY: Capability[Any] = Capability(
    verb="judge",
    summary="How good are my judges, with no labels or with a few?",
    question=JudgeQuestion,
    answer=answer,
    reads=("judges", "truth", "item", "covariate", "count", "weight", "by"),
    door=Door(verb="judge", want="judges"),
    applies=applies,
    items=item_columns,
    cases=cases_of,
    demo=demo,
    labelling=labelling,
)

# A result over all rows, told what its windows saw: a change is part of the answer.


_MOST = 3
"""Changes and notices that are shown; the windows of the JSON hold all."""


def with_windows(result: JudgeResult, windows: Sequence[Mapping[str, Any]]) -> JudgeResult:
    """Return the result with its windows; alarms and notices of any window are those of the whole.

    Figures over all rows mix what was before a change with what came after it, so the verdict says
    where it was.
    """
    alarms = [Alarm(**alarm) for window in windows for alarm in window["alarms"]]
    # The later name of an alarm is beside that alarm in its window.
    notices = [
        text
        for window in windows
        for text in window["notices"]
        if not text.startswith("the alarm at item")
    ]
    result = replace(result, windows=tuple(windows))
    if not alarms and not notices:
        return result
    told = [one.proves for one in alarms] + notices
    more = len(told) - _MOST
    rest = (f"{count(more)} more changes are in the windows of --json",) if more > 0 else ()
    said = _sentences(result, windows)
    return replace(
        result,
        alarms=(*result.alarms, *alarms),
        warnings=(*result.warnings, *told[:_MOST], *rest),
        sentences=said,
        verdict=said.verdict,
    )


def _sentences(result: JudgeResult, windows: Sequence[Mapping[str, Any]]) -> Sentences:
    """Say in the opening that something changed, and where."""
    said = result.sentences or Sentences(answer=result.verdict)
    changes = [change for window in windows for change in window["changes"]]
    if changes:
        first = changes[0]
        what = first["likely"] or "the votes changed"
        text = (
            f"But {what} around item {count(first['around'])}: figures over all items mix before"
            " and after."
        )
    else:
        text = "But a judge fell silent or began to write a new label: see the warnings."
    return replace(said, contrast=f"{text} {said.contrast}".strip())


# Whether a judge's error depends on a column, such as the length of the answer.
#
# With labels, the error (1 if the vote is wrong) is regressed on the standardised covariate, with
# standard errors that hold whatever the variances are (HC3). Without labels, what is regressed is
# the judge's disagreement with the majority of the others, less the mean of the same over the other
# judges on that item. It is relative: what all judges have in common cancels.


_LEAST = 10
"""Items below which no slope is given."""


def covariate_effects(data: Data, *, alpha: float) -> tuple[CovariateEffect, ...]:
    """Return how errors and leanings of every judge depend on every covariate.

    p-values are adjusted over judges and covariates (Holm), errors and leanings apart.

    Parameters
    ----------
    data
        Rows with judges, covariates and, where they are known, true labels.
    alpha
        One minus the level of the intervals.
    """
    judges, columns = data.roles.judges, data.roles.covariate
    truth = data.roles.truth
    coded = data.labels(*judges, *([truth] if truth is not None else []))
    numbers = data.numbers(*columns)
    votes = coded.codes[:, : len(judges)].astype(np.int64)
    known = coded.codes[:, -1].astype(np.int64) if truth is not None else np.full(len(votes), -1)
    if known.max(initial=-1) >= 0:
        wrong, lean = _absolute(votes, known, coded.labels, data.meaning.never_true)
        relative = False
    else:
        if len(judges) < 2:
            raise InputError(
                "covariate without labels compares judges with one another, got one judge: give"
                " --truth, or another judge"
            )
        wrong, lean = _relative(votes, coded.labels, data.meaning.never_true)
        relative = True

    found = []
    for c, column in enumerate(columns):
        for j, judge in enumerate(judges):
            error, p = robust_slope(numbers[:, c], wrong[:, j], alpha=alpha)
            side = None if lean is None else robust_slope(numbers[:, c], lean[:, j], alpha=alpha)
            there = np.isfinite(numbers[:, c]) & np.isfinite(wrong[:, j])
            found.append(
                CovariateEffect(
                    judge=judge,
                    covariate=column,
                    error=error,
                    error_p=p,
                    lean=None if side is None else side[0],
                    lean_p=Unknown("there are more than two labels") if side is None else side[1],
                    n_items=int(there.sum()),
                    relative=relative,
                )
            )
    return _adjusted(found)


def robust_slope(x: Floats, y: Floats, *, alpha: float) -> tuple[Share, Number]:
    r"""Return the slope of y per standard deviation of x, with its interval and p-value.

    Least squares with HC3 standard errors,

    .. math:: \widehat{\mathrm{var}}(b) = \frac{\sum_i z_i^2 e_i^2 / (1 - h_i)^2}{(\sum_i z_i^2)^2},
              \qquad h_i = \frac1n + \frac{z_i^2}{\sum z^2}   \tag{J12}

    for the standardised covariate z and residuals e, and Student's t with n - 2 degrees of freedom.

    >>> x = np.arange(40.0)
    >>> slope, p = robust_slope(x, (x > 25).astype(float), alpha=0.05)
    >>> round(slope.estimate, 3), p < 0.001
    (0.394, True)
    """
    there = np.isfinite(x) & np.isfinite(y)
    n = int(there.sum())
    reason = None
    if n < _LEAST:
        reason = f"fewer than {_LEAST} items have what it takes"
    elif np.ptp(x[there]) == 0:
        reason = "the covariate is the same on all items"
    if reason is not None:
        nothing = Unknown(reason)
        return Share(estimate=nothing, interval=nothing), nothing
    from scipy.special import stdtr, stdtrit

    z = (x[there] - x[there].mean()) / x[there].std()
    values = y[there]
    squares = float((z**2).sum())
    slope = float(z @ values) / squares
    residual = values - values.mean() - slope * z
    leverage = 1 / n + z**2 / squares
    variance = float(((z * residual / np.maximum(1 - leverage, 1e-9)) ** 2).sum()) / squares**2
    error = float(np.sqrt(variance))  # (J12)
    if error == 0:
        nothing = Unknown("the judge's errors do not vary")
        return Share(estimate=slope, interval=nothing), nothing
    half = float(stdtrit(n - 2, 1 - alpha / 2)) * error
    ends: Range = Interval(slope - half, slope + half, level=1 - alpha, method="HC3")
    p = min(1.0, 2 * float(stdtr(n - 2, -abs(slope) / error)))
    return Share(estimate=slope, interval=ends), p


def _absolute(
    votes: NDArray[np.int64],
    known: NDArray[np.int64],
    labels: tuple[Label, ...],
    never: tuple[Label, ...],
) -> tuple[Floats, Floats | None]:
    """Return wrong votes on labelled items, and votes less truth where there are two labels."""
    there = (votes >= 0) & (known >= 0)[:, None]
    wrong = np.where(there, (votes != known[:, None]).astype(float), np.nan)
    positive = _positive(labels, never)
    if positive is None:
        return wrong, None
    lean = (votes == positive).astype(float) - (known == positive).astype(float)[:, None]
    return wrong, np.where(there, lean, np.nan)


def _relative(
    votes: NDArray[np.int64], labels: tuple[Label, ...], never: tuple[Label, ...]
) -> tuple[Floats, Floats | None]:
    """Return each judge's disagreement with the majority of the others, less that of the others."""
    size = len(labels)
    cast = np.stack([(votes == c).sum(axis=1) for c in range(size)], axis=1).astype(float)
    away = np.full(votes.shape, np.nan)
    for j in range(votes.shape[1]):
        mine = votes[:, j]
        others = cast - (mine[:, None] == np.arange(size))
        top = others.max(axis=1, keepdims=True)
        winners = (others == top) & (top > 0)
        share = winners / np.maximum(winners.sum(axis=1, keepdims=True), 1)
        use = (mine >= 0) & winners.any(axis=1)
        away[use, j] = 1 - share[use, mine[use]]
    positive = _positive(labels, never)
    lean = None
    if positive is not None:
        lean = _less_others(np.where(votes >= 0, (votes == positive).astype(float), np.nan))
    return _less_others(away), lean


def _less_others(values: Floats) -> Floats:
    """Subtract from each entry the mean of the other entries of its row."""
    seen = np.isfinite(values)
    total = np.where(seen, values, 0.0).sum(axis=1, keepdims=True)
    count = seen.sum(axis=1, keepdims=True)
    others = (total - np.where(seen, values, 0.0)) / np.maximum(count - seen, 1)
    return np.where(seen & (count > 1), values - others, np.nan)


def _positive(labels: tuple[Label, ...], never: tuple[Label, ...]) -> int | None:
    """Return the code of the positive label; None unless two labels are possible."""
    left = {identity(label) for label in never}
    possible = in_order(label for label in labels if identity(label) not in left)
    place = positive_of(possible)
    if place is None:
        return None
    return next(c for c, label in enumerate(labels) if identity(label) == identity(possible[place]))


def _adjusted(found: list[CovariateEffect]) -> tuple[CovariateEffect, ...]:
    """Adjust p-values over all judges and covariates."""
    from dataclasses import replace

    for name in ("error_p", "lean_p"):
        known = [i for i, one in enumerate(found) if isinstance(getattr(one, name), float)]
        if not known:
            continue
        adjusted = holm([getattr(found[i], name) for i in known]).tolist()
        for i, p in zip(known, adjusted, strict=True):
            found[i] = replace(found[i], **{name: p})
    return tuple(found)
