"""Whether the rounds of a path were built by one learner or by different teams.

The narrow range of :func:`~tallystick.dynamic.path_forecast.forecast_path` holds for one learner
that is retrained. Two signs speak against that: the models of the rounds have different names, or
they differ in their own error rates more than models of one learner do.

The second sign was chosen on 280 simulated campaigns of one learner and 500 of mixed teams, of
kinds that the published score does not use (``docs/benchmarks/dynamic-advice.md``): 96 % of the
decisions on mixed teams show it, and 54 % of those on one learner, most of which cannot be told
anyway. What no log shows is a mixture whose models happen to be equally good: three such rounds
look like three rounds of one learner, and there the advice to go on was wrong in 5 of 21 cases.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from tallystick.dynamic.population import Array
from tallystick.results import points

__all__ = ["FAR_APART", "other_builders"]

FAR_APART = 0.04
"""Standard deviation of the rounds' own error rates above which they count as different teams.

Wrong advice on mixed teams under one name, at .03 / .04 / .06 / never: 2.4 / 4.4 / 8.4 / 8.3 % of
what was decided; decisions kept on one learner: 69 / 80 / 90 / 100 %. At .04 no more than 5 % are
wrong on 400 and on 1000 held-out items. That is half of what is allowed.
"""

_NUMBERED = re.compile(r"(?:(?<![a-z])(?:round|version|iteration|step|rev|run|r|v|t))?[\W_]*\d+")


def other_builders(names: Sequence[str], errors: Array) -> str | None:
    """Say why the rounds seem to be built by different teams; None where nothing speaks for it.

    Parameters
    ----------
    names
        What the log calls the model of each round. Numbers of rounds and versions do not count.
    errors
        (rounds, items), on the held-out set.

    Examples
    --------
    >>> import numpy as np
    >>> alike = np.array([[1, 1, 0, 0], [1, 0, 1, 0], [0, 1, 1, 0]], dtype=bool)
    >>> other_builders(["bert-r1", "bert-r2", "bert-r3"], alike)
    >>> other_builders(["bert-r1", "roberta-r2", "roberta-r3"], alike)
    'the rounds have models of different names (bert, roberta)'
    >>> other_builders(["m", "m", "m"], np.array([[1, 1, 1, 0], [1, 0, 0, 0], [0, 0, 0, 0]]))
    "the rounds' models differ by 38.2 points (standard deviation) in their own error rate"
    """
    stems = list(dict.fromkeys(_stem(name) for name in names))
    if len(stems) > 1:
        shown = ", ".join(stems[:3]) + (", …" if len(stems) > 3 else "")
        return f"the rounds have models of different names ({shown})"
    apart = float(errors.mean(axis=1).std(ddof=1)) if len(errors) > 1 else 0.0
    if apart > FAR_APART:
        return (
            f"the rounds' models differ by {points(apart, sign=False)} (standard deviation) in"
            " their own error rate"
        )
    return None


def _stem(name: str) -> str:
    """Return a name without numbers of rounds and versions.

    >>> [_stem(name) for name in ("bert-r1", "Model v2.1", "m2", "round 3", "t5-base r4", "7")]
    ['bert', 'model', 'm', '', 'base', '']
    """
    return _NUMBERED.sub("", name.lower()).strip(" -_.:/()")
