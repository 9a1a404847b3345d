"""The graded outputs on which people and most judges differ."""

from __future__ import annotations

import numpy as np

from tallystick.data import Cases, Data, Found, gather
from tallystick.data.cases import MOST_ROWS
from tallystick.results import Result
from tallystick.score.reading import read_outputs
from tallystick.score.result import ScoreResult
from tallystick.tally import Tally

__all__ = ["cases_of"]

KIND, STRICT = "judges too kind", "judges too strict"


def cases_of(result: Result, data: Data, *, texts: bool = True) -> Cases | None:
    """Return the outputs that people grade lower or higher than most judges.

    None where there is nothing to look at: no human grades, preferences, numbers instead of pass
    and fail, or counts without rows.
    """
    if not isinstance(result, ScoreResult) or not result.n_labels or isinstance(data.held, Tally):
        return None
    if len(data.roles.systems) == 2 or data.n_rows > MOST_ROWS:
        return None
    outputs = read_outputs(
        data, scale=result.scale, judge_scale=result.judge_scale, turned=result.turned
    )
    if not outputs.pass_fail or outputs.counted:
        return None

    voted = ~np.isnan(outputs.grades)
    passed = np.where(voted, outputs.grades > 0.5, False).sum(axis=1)
    cast = voted.sum(axis=1)
    # An even split is no majority, so such an output is no error of most judges.
    majority = np.sign(2 * passed - cast)
    truth = np.where(outputs.known, np.where(outputs.truth > 0.5, 1, -1), 0)
    differs = np.nonzero((truth != 0) & (majority != 0) & (majority != truth))[0]

    names = (data.roles.truth, *outputs.judges)
    cells = data.cells(*(name for name in names if name))
    found = [
        Found(
            row=int(row),
            kind=KIND if truth[row] < 0 else STRICT,
            summary=f"person {_word(truth[row])} · judges {passed[row]} of {cast[row]} pass",
            votes=tuple(
                ("person" if name == data.roles.truth else name, str(cells[name][row]))
                for name in names
                if name and cells[name][row] is not None
            ),
        )
        for row in sorted(differs, key=lambda row: (truth[row], -abs(2 * passed[row] - cast[row])))
    ]
    kind = sum(one.kind == KIND for one in found)
    line = (
        f"{len(found):,} of the {outputs.n_labels:,} graded outputs where the person and most"
        f" judges differ: {kind:,} too kind, {len(found) - kind:,} too strict."
    )
    return gather(data, found, title="Outputs", line=line, texts=texts)


def _word(truth: int) -> str:
    return "pass" if truth > 0 else "fail"
