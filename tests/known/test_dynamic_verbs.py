"""``dynamic``: what it simulates is what it says, and it prices no labels."""

from __future__ import annotations

import contextlib
import io
import json

import pytest

import tallystick
from tallystick import registry
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


def test_the_worst_learner_is_refused_where_no_worst_case_is_known():
    for words, said in ((("--design", "hierarchical"), "path"), (("--rounds", "9"), "up to 8")):
        code, out, err = run("simulate", "--learner", "worst", *words)
        assert (code, out) == (1, "")
        assert said in err


def test_a_learner_of_another_name_is_answered_with_the_names_that_there_are():
    code, out, err = run("simulate", "--learner", "adversarial")
    assert (code, out) == (2, "")
    assert "'random', 'worst', 'theorem-3.5', 'theorem-4.2'" in err


def test_dynamic_prices_no_labels():
    code, _, err = run("label-cost", "table.csv", "--truth", "label")
    assert code == 2
    assert "No such command" in err
    dynamic = [verb for verb in registry.verbs() if verb.startswith("dynamic")]
    assert dynamic == ["dynamic theory", "dynamic simulate", "dynamic analyse"]
    assert "label_cost" not in dir(tallystick.dynamic)
