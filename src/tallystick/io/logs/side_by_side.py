"""Several logs as one table: an item a row, a model a column."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tallystick.errors import InputError
from tallystick.io.logs.log import Log, Loss

__all__ = ["side_by_side"]

Column = dict[str, float]

MOST_LISTED = 24
"""Names of scores in a message; HELM puts a dozen counts before the score that is meant."""


def side_by_side(
    logs: Sequence[Log], metric: str | None
) -> tuple[dict[str, list[object]], tuple[str, ...]]:
    """Return the columns of the table (``item`` and one a model) and notes on what was chosen,
    averaged and dropped.

    Parameters
    ----------
    logs
        One a model and task.
    metric
        Which score to use; needed where the logs have several in common.

    Examples
    --------
    >>> a = Log("a", "", "a.jsonl", {"acc": {"q1": [1.0], "q2": [0.0, 1.0]}})
    >>> b = Log("b", "", "b.jsonl", {"acc": {"q2": [1.0], "q3": [1.0]}})
    >>> side_by_side([a, b], None)[0]
    {'item': ['q2'], 'a': [0.5], 'b': [1.0]}
    """
    chosen = _metric(logs, metric)
    notes: list[str] = [f"score {chosen!r} of {len(logs)} logs"] if metric is None else []
    models: dict[str, Column] = {}
    homes: dict[tuple[str, str], str] = {}
    replicates = 0
    for log in logs:
        twin = homes.setdefault((log.model, log.task), log.source)
        if twin != log.source:
            raise InputError(
                f"{twin} and {log.source} both hold model {log.model!r} on"
                f" {log.task or 'one task'}: give one of them, or keep each model's logs in a"
                " folder of its own"
            )
        column = models.setdefault(log.model, {})
        for item, scores in log.scores[chosen].items():
            column[f"{log.task}:{item}" if log.task else item] = sum(scores) / len(scores)
            replicates += len(scores) - 1
    if replicates:
        notes.append(
            Loss(f"{replicates} replicates (epochs, trials) were averaged within their items")
        )
    failed: dict[str, int] = {}
    for log in logs:
        failed[log.model] = failed.get(log.model, 0) + log.unscored
    if any(failed.values()):
        whose = ", ".join(f"{count} of {model!r}" for model, count in failed.items() if count)
        notes.append(
            Loss(
                f"{sum(failed.values())} samples failed and have no score ({whose}): an item counts"
                " by its other samples, and is left out if it has none"
            )
        )
    kept = _common(models, logs)
    for model, column in models.items():
        if len(column) > len(kept):
            notes.append(
                Loss(
                    f"{len(column) - len(kept)} of {len(column)} items of {model!r} are left out:"
                    " others lack them"
                )
            )
    taken = set(models)
    name = "item"
    while name in taken:
        name += "_"
    columns: dict[str, list[object]] = {name: list(kept)}
    columns |= {model: [column[item] for item in kept] for model, column in models.items()}
    return columns, tuple(notes)


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
    if len(common) > 1:
        raise InputError(
            f"the logs have the scores {_listed(dict.fromkeys(common))} in common: choose one"
            " (--metric)"
        )
    return common[0]


def _common(models: Mapping[str, Column], logs: Sequence[Log]) -> list[str]:
    first, *others = models.values()
    kept = [item for item in first if all(item in other for other in others)]
    if not kept:
        raise InputError(
            f"no common item in {', '.join(log.source for log in logs[:4])}: were the models tried"
            " on the same task?"
        )
    return kept


def _listed(keys: Mapping[str, object]) -> str:
    return ", ".join(repr(key) for key in list(keys)[:MOST_LISTED]) + (
        " …" if len(keys) > MOST_LISTED else ""
    )
