"""Log a result to MLflow: its numbers as metrics, its verdict as a tag, its page as an artifact."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

from tallystick.errors import MissingExtra
from tallystick.results import Interval, to_json

if TYPE_CHECKING:
    from tallystick.results import Result

_NOT_ALLOWED = re.compile(r"[^\w./ -]+")


def metrics_of(result: Result) -> dict[str, float]:
    """Return the numbers of a result's table by name; an interval becomes its two ends.

    Examples
    --------
    >>> from tallystick import compare
    >>> result = compare({"old": [1, 0, 0, 0] * 50, "new": [1, 1, 0, 1] * 50})
    >>> metrics_of(result)["new/score"]
    0.75
    """
    found: dict[str, float] = {}
    for row in result.rows():
        name, *cells = row.items()
        for column, value in cells:
            key = _NOT_ALLOWED.sub("_", f"{name[1]}/{column}")
            if isinstance(value, Interval):
                found |= {f"{key}_low": value.low, f"{key}_high": value.high}
            elif isinstance(value, int | float) and not isinstance(value, bool):
                found[key] = float(value)
    return found


def log_result(result: Result, *, folder: str | None = None, page: bool = True) -> None:
    """Log a result to the active MLflow run; MLflow starts one if there is none.

    Parameters
    ----------
    result
        Of any verb.
    folder
        Where in the artifacts; the verb's name if None.
    page
        Whether the HTML page is logged, too.
    """
    try:
        import mlflow
    except ImportError as error:
        raise MissingExtra("mlflow", "mlflow") from error
    from tallystick.report import page_of as drawn

    place = folder or result.verb.replace(" ", "-")
    mlflow.set_tags(
        {
            f"tallystick.{place}.verdict": result.verdict,
            f"tallystick.{place}.decision": result.decision,
            **{
                f"tallystick.{place}.gate.{number}": _gate(gate)
                for number, gate in enumerate(result.gates, start=1)
            },
        }
    )
    mlflow.log_metrics({f"{place}/{name}": value for name, value in metrics_of(result).items()})
    mlflow.log_dict(json.loads(to_json(result.to_dict())), f"{place}/result.json")
    if page:
        mlflow.log_text(drawn(result), f"{place}/report.html")


def _gate(gate: Any) -> str:
    told = {True: "passed", False: "failed", None: "undecided"}
    return f"{told[gate.passed]}: {gate.expression}"
