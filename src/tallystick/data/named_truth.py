"""The column of true answers, found by its whole name: models beside it hold answers, not scores.

Predictions of 0 and 1 look like scores. Their means say nothing about who is right, and the model
that says 1 most often would be the best.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from shlex import quote

from tallystick.data.defaults import free_columns
from tallystick.data.detect.names import is_mark, is_truth
from tallystick.data.detect.profile import Profile, look
from tallystick.data.detect.reading import listed
from tallystick.data.detect.sample import Sample, draw
from tallystick.data.roles import Roles
from tallystick.errors import UsageError
from tallystick.io import Table
from tallystick.tally import Tally
from tallystick.values import Label, as_pass_fail, is_missing, is_no_answer
from tallystick.values.spelling import spelling

__all__ = ["named_truth", "named_truth_of_counts"]

_MOSTLY = 0.5
"""Share of a model's answers that are labels of the truth."""

Said = Mapping[str, Counter[Label]]
"""How often each column says each label."""


def named_truth(
    table: Table, roles: Roles, models: Sequence[str] = (), missing: Sequence[str] = ()
) -> str | None:
    """Return the column that is named like the truth, if models beside it use its labels.

    None if no column has such a name, if the models say right and wrong (``gpt_correct``), and if
    the truth is free text beside scores from 0 to 1. Where labels do not fit, `UsageError` asks.

    Parameters
    ----------
    table, roles
        What was read, and the roles known so far.
    models
        The columns of the models; empty if they have to be found.
    missing
        Tokens for no answer.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from tallystick.io import scan
    >>> columns = {"a": [0, 1, 1] * 9, "b": [1, 1, 1] * 9}
    >>> named_truth(scan(pa.table({**columns, "y_test": [0, 1, 0] * 9})), Roles())
    'y_test'
    >>> named_truth(scan(pa.table(columns)), Roles()) is None
    True
    """
    held = {*roles.holders(), *table.left_out}
    likely = [name for name in table.columns if is_truth(name) and name not in held]
    if not likely:
        return None
    sample = draw(table, missing=missing)
    profiles = look(sample)
    found = {}
    for truth in likely:
        beside = (
            models or roles.models or free_columns(table, profiles, replace(roles, truth=truth))[0]
        )
        found[truth] = {name: _said(sample, name) for name in beside if name not in likely}
    # References in free text are what scores from 0 to 1 were worked out with.
    likely = [
        truth
        for truth in likely
        if profiles[truth].nature != "text"
        or not all(_is_score(profiles[name]) for name in found[truth])
    ]
    return _chosen(table.source, {name: _said(sample, name) for name in likely}, found)


def named_truth_of_counts(
    tally: Tally, roles: Roles, source: str, ignored: Sequence[str] = ()
) -> str | None:
    """Return the same for a table that is counted already."""
    held = {*roles.holders(), *ignored}
    free = [name for name in tally.names if name not in held]
    likely = [name for name in free if is_truth(name)]
    beside = roles.models or [name for name in free if name not in likely]
    said = {name: _counted(tally, name) for name in (*likely, *beside)}
    voters = {name: said[name] for name in beside}
    return _chosen(source, {name: said[name] for name in likely}, dict.fromkeys(likely, voters))


def _chosen(source: str, truths: Said, voters: Mapping[str, Said]) -> str | None:
    """Return the one truth that fits its models; ask where none does, or several do."""
    answers = {
        truth: {name: said for name, said in voters[truth].items() if not is_mark(name)}
        for truth in truths
    }
    likely = [truth for truth in truths if answers[truth]]
    fitting = [truth for truth in likely if _fits(truths[truth], answers[truth])]
    if len(fitting) == 1 or not likely:
        return fitting[0] if fitting else None
    if fitting:
        raise UsageError(
            f"{source}: columns {listed(fitting)} are named like the truth. Say which of them holds"
            f" the true answers (--truth {quote(fitting[0])})"
        )
    raise UsageError(_question(source, likely[0], truths[likely[0]], answers[likely[0]]))


def _fits(true: Counter[Label], answers: Said) -> bool:
    """Say whether a model mostly uses the labels of the truth.

    0 and 1 beside a truth of more labels may be right and wrong, and not two of these labels.
    """
    spoken = {spelling(label) for said in answers.values() for label in said}
    marks = spoken <= {0, 1} or as_pass_fail(spoken) is not None
    if len(true) < 2 or (marks and not {spelling(label) for label in true} <= spoken):
        return False
    return any(_shares(said, true) for said in answers.values())


def _shares(said: Counter[Label], true: Counter[Label]) -> bool:
    """Say whether most of what a column says are labels of the truth."""
    known = {spelling(label) for label in true}
    inside = sum(n for label, n in said.items() if spelling(label) in known)
    return inside >= _MOSTLY * said.total() > 0


def _question(source: str, truth: str, true: Counter[Label], answers: Said) -> str:
    """Ask whether models beside a truth hold answers or scores."""
    said = sum(answers.values(), Counter[Label]())
    way = "write them with the labels of the truth"
    if any(_shares(one, true) for one in answers.values()):
        way = f"add --truth {quote(truth)} --models {quote(','.join(answers))}"
    return (
        f"{source}: column {truth!r} is named like the truth and says {_some(true)}, while"
        f" {listed(list(answers))} say {_some(said)}. If these are answers, {way}; if they are"
        f" scores, add --ignore {quote(truth)}"
    )


def _some(said: Counter[Label]) -> str:
    shown = sorted(map(str, said))
    return ", ".join(shown[:4]) + (", …" if len(shown) > 4 else "")


def _said(sample: Sample, name: str) -> Counter[Label]:
    return _answers(Counter(sample.column(name).drop_null().to_pylist()))


def _counted(tally: Tally, name: str) -> Counter[Label]:
    one = tally.marginal([name])
    labels = one.labels[name]
    counts = zip(one.codes[:, 0].tolist(), one.counts.tolist(), strict=True)
    return _answers({labels[code]: n for code, n in counts})


def _answers(counts: Mapping[Label, int]) -> Counter[Label]:
    """Return counts without those of no answer."""
    silent = [label for label in counts if is_missing(label) or is_no_answer(label)]
    return Counter({label: n for label, n in counts.items() if label not in silent})


def _is_score(profile: Profile) -> bool:
    """Say whether a column holds numbers from 0 to 1, or words for right and wrong."""
    within = profile.low is not None and profile.high is not None
    share = within and (profile.low or 0.0) >= 0 and (profile.high or 0.0) <= 1
    return share or (bool(profile.values) and as_pass_fail(profile.values) is not None)
