"""Several runs as one table: one row per item (and replicate), one column per run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from shlex import quote

from tallystick.errors import AskError, InputError
from tallystick.table.log_runs import Log, Loss, told_apart
from tallystick.table.reading_names import VOTE_TIERS, plain

Column = dict[str, list[float]]

MOST_LISTED = 24
"""Names of scores in a message; HELM puts a dozen counts before the score that is meant."""
MOST_NAMED = 3
"""Items without a partner that are named."""
APART = 5e-4
"""A tool's own mean that differs from ours by more is shown."""


@dataclass(frozen=True, kw_only=True)
class Beside:
    """Runs put side by side.

    Parameters
    ----------
    columns
        The table: ``item``, ``replicate`` if items were run several times, the groups that the
        logs carry, and one column per run.
    models
        The columns that are runs.
    groups
        The columns that are groups of items.
    replicate
        The column that numbers the replicates; None if every item was run once.
    metric
        The score that was taken.
    notes
        What was chosen, averaged and dropped.
    """

    columns: dict[str, list[object]]
    models: tuple[str, ...]
    groups: tuple[str, ...] = ()
    replicate: str | None = None
    metric: str
    notes: tuple[str, ...] = ()


def beside(
    logs: Sequence[Log],
    metric: str | None,
    *,
    keep: Sequence[str] = (),
) -> Beside:
    """Put runs side by side: one row per item, or per replicate where a run has several of one.

    Parameters
    ----------
    logs
        One per run and task.
    metric
        Which score to use; needed where the logs have several in common.
    keep
        Groups that were asked for: they are carried as they are, and others are offered.

    Examples
    --------
    >>> a = Log("a", "", "a.jsonl", {"acc": {"q1": [1.0, 0.0]}})
    >>> b = Log("b", "", "b.jsonl", {"acc": {"q1": [1.0], "q2": [0.0]}})
    >>> for name, cells in beside([a, b], None).columns.items():
    ...     print(name, cells)
    item ['q1', 'q1', 'q2']
    replicate [1, 2, 1]
    a [1.0, 0.0, None]
    b [1.0, None, 0.0]
    """
    logs, notes = _shared_tasks(told_apart(logs))
    chosen = _metric(logs, metric)
    notes += [f"score {chosen!r} of {len(logs)} logs"] if metric is None else []
    models = _columns(logs, chosen)
    notes += [*_failed(logs), *_reported(logs, chosen), *_retried(models)]
    kept = _common(models, logs)
    listed = list(dict.fromkeys(item for column in models.values() for item in column))

    # One row per item, or per replicate where any run has several of an item.
    most = {item: max(len(column.get(item, ())) for column in models.values()) for item in listed}
    several = max(most.values()) > 1
    rows = [(item, k) for item in listed for k in range(max(1, most[item]) if several else 1)]
    names = set(models)
    columns: dict[str, list[object]] = {_fresh("item", names): [item for item, _ in rows]}
    replicate = _fresh("replicate", names) if several else None
    if replicate is not None:
        columns[replicate] = [k + 1 for _, k in rows]

    found = _groups(logs, kept, keep)
    groups = {_fresh(name, names): held for name, held in found.items()}
    columns |= {name: [held.get(item) for item, _ in rows] for name, held in groups.items()}
    offered = {name: held for name, held in groups.items() if name not in keep}
    if offered and not keep:
        notes.append(_offer(offered))
    for model, column in models.items():
        columns[model] = [_at(column.get(item, ()), k) for item, k in rows]
    return Beside(
        columns=columns,
        models=tuple(models),
        groups=tuple(groups),
        replicate=replicate,
        metric=chosen,
        notes=tuple(notes),
    )


def _shared_tasks(logs: Sequence[Log]) -> tuple[list[Log], list[str]]:
    """Leave out tasks that not every run was tried on, and say so."""
    models = {log.model for log in logs}
    held: dict[str, set[str]] = {}
    for log in logs:
        held.setdefault(log.task, set()).add(log.model)
    shared = [task for task, names in held.items() if names == models]
    if not shared or len(shared) == len(held):
        return list(logs), []

    notes: list[str] = []
    for task, names in held.items():
        if task not in shared:
            lacking = ", ".join(sorted(models - names)[:MOST_NAMED])
            notes.append(Loss(f"task {task!r} is left out: {lacking} was not tried on it"))
    return [log for log in logs if log.task in shared], notes


def _at(scores: Sequence[float], place: int) -> float | None:
    return scores[place] if place < len(scores) else None


def _columns(logs: Sequence[Log], metric: str) -> dict[str, Column]:
    """Return each run's scores by item; the tasks of one run are put below each other."""
    models: dict[str, Column] = {}
    for log in logs:
        column = models.setdefault(log.model, {})
        for item, scores in log.scores[metric].items():
            column[f"{log.task}:{item}" if log.task else item] = list(scores)
    return models


def _metric(logs: Sequence[Log], metric: str | None) -> str:
    common = [key for key in logs[0].scores if all(key in log.scores for log in logs)]
    if metric is not None:
        if metric in common:
            return metric
        lacking = next(log for log in logs if metric not in log.scores)
        raise InputError(
            f"{lacking.source} has no score {metric!r}: it has {_listed(lacking.scores)} (--metric)"
        )
    if not common:
        other = next(log for log in logs if not set(log.scores) & set(logs[0].scores))
        raise InputError(
            f"{logs[0].source} has the scores {_listed(logs[0].scores)} and {other.source} has "
            f"{_listed(other.scores)}: nothing in common; score both alike"
        )
    # What is equal in every run, such as the index of the right answer, is no score.
    told = [key for key in common if any(log.scores[key] != logs[0].scores[key] for log in logs)]
    common = told or common
    for tier in VOTE_TIERS:
        named = [key for key in common if plain(key) in tier]
        if len(common) > 1 and len(named) == 1:
            return named[0]
    if len(common) > 1:
        raise AskError(
            f"which score? The runs have {_listed(dict.fromkeys(common))} in common.",
            role="metric",
            candidates=tuple(common[:8]),
            calls=tuple(f"--metric {quote(key)}" for key in common[:2]),
        )
    return common[0]


def _retried(models: Mapping[str, Column]) -> list[str]:
    """Warn of runs in which only some items have several scores, as after a retry of failures."""
    notes: list[str] = []
    for model, column in models.items():
        again = [scores for scores in column.values() if len(scores) > 1]
        once = [scores[0] for scores in column.values() if len(scores) == 1]
        if not again or not once:
            continue
        text = (
            f"{len(again):,} of {len(column):,} items of {model!r} occur more than once, the others"
            " once: each item counts by the mean of its rows"
        )
        first, least = [scores[0] for scores in again], min(map(min, again))
        if max(first) == least < max(once):
            text += (
                f". Each of them scored {least:g} first, so they look like failures that were tried"
                f" again, which makes {model!r} look better: keep the first row of each item"
            )
        notes.append(Loss(text))
    return notes


def _failed(logs: Sequence[Log]) -> list[str]:
    failed: Counter[str] = Counter()
    for log in logs:
        failed[log.model] += log.unscored
    if not any(failed.values()):
        return []
    whose = ", ".join(f"{count} of {model!r}" for model, count in failed.items() if count)
    return [Loss(f"{sum(failed.values()):,} samples failed and have no score ({whose})")]


def _reported(logs: Sequence[Log], metric: str) -> list[str]:
    """Show a tool's own mean beside ours where the two differ."""
    notes: list[str] = []
    for log in logs:
        means = [sum(scores) / len(scores) for scores in log.scores[metric].values() if scores]
        own = log.reported.get(metric)
        ours = sum(means) / len(means) if means else own
        if own is not None and ours is not None and abs(own - ours) > APART:
            notes.append(
                Loss(
                    f"{log.source} itself reports {own:.4g} for {metric!r}; the mean of its items"
                    f" is {ours:.4g}, which is what is compared here"
                )
            )
    return notes


def _common(models: Mapping[str, Column], logs: Sequence[Log]) -> list[str]:
    first, *others = models.values()
    kept = [item for item in first if first[item] and all(other.get(item) for other in others)]
    if not kept:
        raise InputError(_no_common(models, logs))
    return kept


def _no_common(models: Mapping[str, Column], logs: Sequence[Log]) -> str:
    """Name two runs without a common item, or say that every two of them have one."""
    head = f"no common item in {', '.join(log.source for log in logs[:4])}"
    (first, here), *others = models.items()
    apart = [(name, there) for name, there in others if not set(here) & set(there)]
    if not apart:
        return f"{head}: no item was tried by all of {', '.join(models)}. Give fewer files at once"
    second, there = apart[0]
    names = [", ".join(map(repr, list(one)[:MOST_NAMED])) for one in (here, there)]
    return (
        f"{head}: were the models tried on the same task? The items are {names[0]} in {first} and"
        f" {names[1]} in {second}: write the same items alike"
    )


def _groups(
    logs: Sequence[Log], kept: Sequence[str], asked: Sequence[str]
) -> dict[str, dict[str, str]]:
    """Return the groups that say something of every item and cut the items into parts."""
    found: dict[str, dict[str, str]] = {}
    for log in logs:
        for name, held in log.groups.items():
            named = found.setdefault(name, {})
            for item, value in held.items():
                key = f"{log.task}:{item}" if log.task else item
                if named.setdefault(key, value) != value:
                    raise InputError(
                        f"item {item!r} has {name} {named[key]!r} in one run and {value!r} in"
                        f" {log.source}: correct one of them"
                    )
    tasks = {log.task for log in logs}
    if len(tasks) > 1:
        by_task = {
            f"{log.task}:{item}" if log.task else item: log.task
            for log in logs
            for scores in log.scores.values()
            for item in scores
        }
        found.setdefault("task", by_task)
    whole = {name: held for name, held in found.items() if all(item in held for item in kept)}
    # One group says nothing, and a group per item is another name of the item.
    parts = {name: len({held[item] for item in kept}) for name, held in whole.items()}
    return {
        name: held for name, held in whole.items() if name in asked or 1 < parts[name] < len(kept)
    }


def _offer(groups: Mapping[str, Mapping[str, str]]) -> str:
    shown = ", ".join(f"{name!r} ({len(set(held.values())):,})" for name, held in groups.items())
    first = next(iter(groups))
    return (
        f"the items belong to groups: {shown}. To speak of new groups instead of new items, add"
        f" --cluster {first}"
    )


def _fresh(name: str, taken: set[str]) -> str:
    """Return a name that no run has, and take it."""
    while name in taken:
        name += "_"
    taken.add(name)
    return name


def _listed(keys: Mapping[str, object]) -> str:
    return ", ".join(repr(key) for key in list(keys)[:MOST_LISTED]) + (
        " …" if len(keys) > MOST_LISTED else ""
    )
