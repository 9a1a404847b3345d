"""``dynamic``: what it simulates is what it says, and it prices no labels."""

from __future__ import annotations

import contextlib
import io
import json

import pytest

from tallystick.cli import main


def run(*words):
    """Return the exit code of a command, and what it says on both streams."""
    out, err, code = io.StringIO(), io.StringIO(), 0
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            main(["dynamic", *words])
        except SystemExit as leaving:
            code = leaving.code or 0
    return code, out.getvalue(), err.getvalue()


def simulated(*words):
    code, out, err = run("simulate", *words, "--rollouts", "40", "--json")
    assert code == 0, err
    return json.loads(out)


@pytest.mark.parametrize(("epsilon", "worst"), [(0.1, 0.05), (0.25, 0.25)])
def test_the_worst_learner_reaches_the_worst_case_of_three_rounds(epsilon, worst):
    found = simulated("--learner", "worst", "--rounds", "3", "--epsilon", str(epsilon))
    assert found["output_risk"] == pytest.approx(worst, rel=1e-6)
    assert found["rounds"][2]["worst_case"] == pytest.approx(worst, rel=1e-6)
    assert all(row["epsilon"] <= epsilon + 1e-9 for row in found["rounds"])


def test_no_learner_is_worse_than_the_worst_one():
    worst = simulated("--learner", "worst")
    for learner in ("random", "theorem-3.5"):
        assert simulated("--learner", learner)["output_risk"] < worst["output_risk"]
    last = worst["rounds"][-1]
    assert last["risk"] <= last["worst_case"] <= 1.06 * last["risk"]
