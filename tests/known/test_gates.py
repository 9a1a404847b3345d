"""A gate passes only what the data show: not what is missing, and no bar that nobody can miss."""

import json

import numpy as np
import pytest

from tests.known.tables import write

N, LOST = 400, 135


@pytest.fixture
def tallystick(in_process):
    """Run a command in an empty folder and return its exit code, stdout and stderr."""

    def run(*arguments):
        done = in_process(*arguments)
        out = " ".join(done.stdout.replace("\xa0", " ").split())
        return done.returncode, out, done.stderr.replace("\xa0", " ")

    return run


def right_or_wrong(seed=3):
    """Two systems of which the new one is a little better, and the items on which it fails."""
    rng = np.random.default_rng(seed)
    old = (rng.random(N) < 0.7).astype(int)
    new = np.where(rng.random(N) < 0.8, old, rng.random(N) < 0.95).astype(int)
    return old, new, np.sort(rng.permutation(N)[:LOST])


def without(cells, lost, token=""):
    """The cells as text, with a token where there is no answer."""
    gone = set(np.asarray(lost).tolist())
    return [token if i in gone else str(cell) for i, cell in enumerate(cells)]


GATE = ("--gate", "new >= old - 5%")
ON = "on 265 items that both answered"


# -- a bar that no value can miss


@pytest.mark.parametrize(
    ("gate", "way_out"),
    [
        ("new >= old - 1", "'new >= old - 1%'"),
        ("new > old - 1", "'new > old - 1%'"),
        ("new <= old + 1", "'new <= old + 1%'"),
        ("new >= old + 1", "'new >= old + 1%'"),
        ("new >= old - 5", "'new >= old - 5%'"),
        ("score(new) >= score(old) - 2", "'score(new) >= score(old) - 2%'"),
        ("new >= 80", "'new >= 80%'"),
        ("new <= 1", "'new <= 1%'"),
        ("new < 1", "'new < 1%'"),
        ("new >= 0", "can never fail"),
        ("new < 0", "can never pass"),
    ],
)
def test_a_bar_that_no_share_can_miss_is_bad_usage(tallystick, gate, way_out):
    old, new, _ = right_or_wrong()
    write("t.csv", {"id": range(N), "old": old, "new": new})
    code, out, err = tallystick("compare", "t.csv", "--gate", gate, "--json")
    assert (code, out) == (2, "")
    assert way_out in err


@pytest.mark.parametrize(
    ("gate", "code"),
    [("new >= old - 1%", 0), ("new >= old - .01", 0), ("new > 0", 0), ("new >= 1", 10)],
)
def test_a_bar_that_can_be_missed_is_checked(tallystick, gate, code):
    old, new, _ = right_or_wrong()
    write("t.csv", {"id": range(N), "old": old, "new": new})
    assert tallystick("compare", "t.csv", "--gate", gate)[0] == code


def test_shares_of_a_few_runs_and_declared_scores_have_bars_too(tallystick):
    rng = np.random.default_rng(0)
    old, new = (np.round(rng.integers(0, 4, N) / 3, 4) for _ in range(2))
    write("shares.csv", {"id": range(N), "old": old, "new": new})
    assert tallystick("compare", "shares.csv", "--gate", "new >= old - 1")[0] == 2
    write("grades.csv", {"id": range(N), "old": 1 + 4 * old, "new": 1 + 4 * new})
    grades = ("compare", "grades.csv", "--bounds", "1,5", "--gate")
    assert tallystick(*grades, "new >= old - 4")[0] == 2
    assert tallystick(*grades, "new >= 1")[0] == 2
    assert tallystick(*grades, "new >= old - 1")[0] in (0, 10, 11)


def test_numbers_without_a_range_have_any_bar(tallystick):
    rng = np.random.default_rng(0)
    latency = 500 + 20 * rng.standard_normal((N, 2))
    write("t.csv", {"id": range(N), "old": latency[:, 0], "new": latency[:, 1]})
    assert tallystick("compare", "t.csv", "--lower-is-better", "--gate", "new <= old + 100")[0] == 0


@pytest.mark.parametrize(
    ("gate", "way_out"),
    [
        ("flip_rate <= 1", "'flip_rate <= 1%'"),
        ("flip_rate < 1", "'flip_rate < 1%'"),
        ("answers_differ <= 5", "'answers_differ <= 5%'"),
        ("accuracy_change >= -1", "'accuracy_change >= -1%'"),
        ("recall_change:yes >= -2", "-2%'"),
    ],
)
def test_shift_refuses_such_a_bar_before_a_call_is_paid_for(tallystick, gate, way_out):
    answers = ["yes", "no"] * 50
    write("t.csv", {"id": range(100), "truth": answers, "old": answers, "new": answers})
    columns = ("--truth", "truth", "--old", "old", "--api", "replay:new")
    code, _, err = tallystick("shift", "t.csv", *columns, "--gate", gate)
    assert code == 2
    assert way_out in err


def outputs(lost=(), seed=5, *, graded=1.0):
    """Outputs of two systems with grades of a judge and of people; none where a system failed."""
    rng = np.random.default_rng(seed)
    rows = {name: [] for name in ("item", "system", "gpt", "human")}
    for system, rate in (("old", 0.70), ("new", 0.76)):
        gone = set(np.asarray(lost, int).tolist()) if system == "new" else set()
        for item in range(N):
            good = int(rng.random() < rate)
            vote = good if rng.random() < 0.9 else 1 - good
            person = good if rng.random() < graded else ""
            cells = ("", "") if item in gone else (vote, person)
            for name, cell in zip(rows, (item, system, *cells), strict=True):
                rows[name].append(cell)
    return rows


def test_score_refuses_such_a_bar(tallystick):
    write("t.csv", outputs())
    for gate in ("new >= old - 1", "score(new) >= 80", "score(new) >= 0"):
        assert tallystick("score", "t.csv", "--gate", gate)[0] == 2
    assert tallystick("score", "t.csv", "--gate", "score(new) >= 50%")[0] == 0
    grades = outputs()
    grades |= {name: [5 * c if c else 1 for c in grades[name]] for name in ("gpt", "human")}
    write("grades.csv", grades)
    scale = ("score", "grades.csv", "--scale", "1,5", "--gate")
    assert tallystick(*scale, "score(new) >= 80")[0] == 2
    assert tallystick(*scale, "new >= old - 4")[0] == 2
    assert tallystick(*scale, "score(new) >= 2")[0] == 0


# -- answers that are missing


@pytest.mark.parametrize("token", ["", "NaN", "N/A", "None", "null"])
def test_a_system_that_failed_on_a_third_of_the_items_passes_no_gate(tallystick, token):
    old, new, lost = right_or_wrong()
    write("t.csv", {"id": range(N), "old": old, "new": without(new, lost, token)})
    code, out, err = tallystick("compare", "t.csv", *GATE)
    assert code == 11
    assert ON in out
    assert f"gate undecided: new >= old - 5% (difference +3.4 points [+1.2, +6.5] {ON}" in err
    assert "135 items have no answer of every model, which could make it −21.2" in err
    assert "add --never-true ''" in err

    code, out, err = tallystick("compare", "t.csv", *GATE, "--never-true", "")
    assert code == 10
    assert "on 400 items" in out
    assert "gate failed: new >= old - 5% (difference −21.2 points [−26.0, −16.8]" in err


def test_the_same_system_in_every_shape_passes_no_gate(tallystick):
    old, new, lost = right_or_wrong()
    kept = [i for i in range(N) if i not in set(lost.tolist())]
    write("old.csv", {"id": range(N), "correct": old})
    write("new.csv", {"id": range(N), "correct": without(new, lost)})
    write("short.csv", {"id": kept, "correct": new[kept]})
    for name in ("new.csv", "short.csv"):
        runs = ("compare", "--run", "old=old.csv", "--run", f"new={name}", *GATE)
        code, out, _ = tallystick(*runs)
        assert (code, ON in out) == (11, True)
        assert tallystick(*runs, "--never-true", "")[0] == 10

    models = ["old"] * N + ["new"] * len(kept)
    write("long.csv", {"item": [*range(N), *kept], "model": models, "correct": [*old, *new[kept]]})
    code, out, _ = tallystick("compare", "long.csv", *GATE)
    assert (code, ON in out) == (11, True)


@pytest.mark.parametrize("words", [("pass", "fail"), ("1", "0")])
def test_error_words_are_asked_about_and_count_as_you_say(tallystick, words):
    old, new, lost = right_or_wrong()
    said = [[words[1 - cell] for cell in column] for column in (old, new)]
    write("t.csv", {"id": range(N), "old": said[0], "new": without(said[1], lost, "error")})
    code, _, err = tallystick("compare", "t.csv", *GATE)
    assert code in (1, 2)
    assert "--never-true=error" in err
    assert "--missing=error" in err
    assert tallystick("compare", "t.csv", *GATE, "--missing", "error")[0] == 11
    assert tallystick("compare", "t.csv", *GATE, "--never-true", "error")[0] == 10


def test_answers_beside_a_truth_are_missing_or_wrong_alike(tallystick):
    old, new, lost = right_or_wrong()
    truth = np.random.default_rng(0).integers(0, 3, N)
    letters = np.array(list("ABC"))
    said = [letters[np.where(right == 1, truth, (truth + 1) % 3)] for right in (old, new)]
    for token, plain, named in (("", 11, 10), ("N/A", 11, 10), ("error", 10, 10)):
        columns = {"old": said[0], "new": without(said[1], lost, token), "gold": letters[truth]}
        write("t.csv", columns)
        assert tallystick("compare", "t.csv", *GATE)[0] == plain
        assert tallystick("compare", "t.csv", *GATE, "--never-true", token)[0] == named


def test_a_few_missing_answers_that_cannot_turn_it_leave_the_gate(tallystick):
    old, new, lost = right_or_wrong()
    write("t.csv", {"id": range(N), "old": old, "new": without(new, lost[:3])})
    code, _, err = tallystick("compare", "t.csv", *GATE)
    assert code == 0
    assert "on 397 items that both answered" in err


def test_missing_answers_of_the_other_system_can_turn_it_too(tallystick):
    old, new, lost = right_or_wrong()
    write("t.csv", {"id": range(N), "old": without(old, lost), "new": new})
    code, _, err = tallystick("compare", "t.csv", *GATE)
    assert code == 11
    assert "have no answer of every model" in err


def test_a_gate_that_missing_answers_could_save_has_not_failed(tallystick):
    old, new, lost = right_or_wrong()
    write("t.csv", {"id": range(N), "old": old, "new": without(new, lost)})
    assert tallystick("compare", "t.csv", "--gate", "new >= 82%")[0] == 11
    assert tallystick("compare", "t.csv", "--gate", "new >= 82%", "--never-true", "")[0] == 10


def test_a_gate_on_one_score_counts_what_is_missing(tallystick):
    old, new, lost = right_or_wrong()
    write("t.csv", {"id": range(N), "old": old, "new": without(new, lost)})
    assert tallystick("compare", "t.csv", "--gate", "new >= 60%")[0] == 11
    # The old system answered everything: the same number whoever else failed.
    assert tallystick("compare", "t.csv", "--gate", "old >= 60%")[0] == 0


def test_a_third_system_that_failed_turns_no_gate_of_the_others(tallystick):
    old, new, lost = right_or_wrong()
    write("t.csv", {"id": range(N), "old": old, "new": new, "other": without(new, lost)})
    models = ("--models", "old,new,other")
    assert tallystick("compare", "t.csv", *models, *GATE)[0] == 0
    assert tallystick("compare", "t.csv", *models, "--gate", "other >= old - 5%")[0] == 11


def test_nothing_says_what_a_missing_latency_is_worth(tallystick):
    rng = np.random.default_rng(0)
    latency = np.round(500 + 20 * rng.standard_normal((N, 2)), 2)
    columns = {"id": range(N), "old": latency[:, 0], "new": without(latency[:, 1], range(9))}
    write("t.csv", columns)
    gate = ("--lower-is-better", "--gate", "new <= old + 100")
    assert tallystick("compare", "t.csv", *gate)[0] == 11
    code, _, err = tallystick("compare", "t.csv", *gate, "--never-true", "")
    assert code == 1
    assert "--bounds LO,HI" in err
    # A time limit of 2,000 is the worst that a missing one can be.
    bounds = ("--bounds", "0,2000")
    assert tallystick("compare", "t.csv", *gate, *bounds)[0] == 0
    out = tallystick("compare", "t.csv", *gate, *bounds, "--never-true", "", "--json")[1]
    score = {row["name"]: row["score"] for row in json.loads(out)["models"]}["new"]
    assert score == pytest.approx((latency[9:, 1].sum() + 9 * 2000) / N)


def test_where_less_is_better_what_is_never_true_is_worst(tallystick):
    old, new, lost = right_or_wrong()
    write("t.csv", {"id": range(N), "old": 1 - old, "new": without(1 - new, lost)})
    gate = ("compare", "t.csv", "--lower-is-better", "--gate", "new <= old + 5%")
    assert tallystick(*gate)[0] == 11
    assert tallystick(*gate, "--never-true", "")[0] == 10


def test_clusters_and_runs_of_an_item_are_no_way_round(tallystick):
    old, new, lost = right_or_wrong()
    cells = without(new, lost)
    write("t.csv", {"id": range(N), "doc": [i % 40 for i in range(N)], "old": old, "new": cells})
    code, out, _ = tallystick("compare", "t.csv", "--cluster", "doc", *GATE)
    assert code == 11
    assert "265 items that both answered" in out

    twice = {"item": [*range(N)] * 2, "epoch": [1] * N + [2] * N}
    write("runs.csv", {**twice, "old": [*old, *old], "new": [*cells, *cells]})
    runs = ("compare", "runs.csv", "--item", "item", "--replicate", "epoch")
    assert tallystick(*runs, *GATE)[0] == 11
    assert tallystick(*runs, "--metric", "pass@2", *GATE)[0] == 11


@pytest.mark.parametrize("graded", [1.0, 0.5])
def test_outputs_that_nobody_graded_pass_no_gate_of_score(tallystick, graded):
    lost = np.random.default_rng(0).permutation(N)[:LOST]
    gates = ("--gate", "new >= old - 5%", "--gate", "score(new) >= 60%")
    write("t.csv", outputs(lost, graded=graded))
    code, out, err = tallystick("score", "t.csv", *gates)
    assert code == 11
    assert "outputs without any grade are left out: 135 of new" in out
    assert err.count("135 of 400 outputs of new have no grade, which could make it") == 2
    write("whole.csv", outputs(graded=graded))
    assert tallystick("score", "whole.csv", *gates)[0] == 0


def test_the_score_of_a_system_is_not_raised_by_outputs_that_nobody_graded(tallystick):
    """They went with the outputs that the judge passed: 82.0% [80.2, 83.2] here, of 74.7%."""
    lost = np.random.default_rng(0).permutation(N)[:LOST]
    table = outputs(lost)
    write("t.csv", table)
    rows = zip(table["system"], table["human"], strict=True)
    people = [cell for system, cell in rows if system == "new" and cell != ""]
    [row] = [
        one
        for one in json.loads(tallystick("score", "t.csv", "--json")[1])["systems"]
        if one["name"] == "new"
    ]
    assert row["score"] == pytest.approx(np.mean(people), abs=1e-9)


def test_both_ways_to_write_a_pair_stay_open_where_systems_ran_on_other_items(tallystick):
    table = outputs()
    kept = [k for k in range(2 * N) if table["system"][k] == "old" or table["item"][k] % 2]
    write("t.csv", {name: [cells[k] for k in kept] for name, cells in table.items()})
    for gate in ("new >= old - 20%", "score(new) >= score(old) - 20%"):
        assert tallystick("score", "t.csv", "--gate", gate)[0] == 11


def test_a_gate_on_one_criterion_has_the_same_doubts(tallystick):
    lost = np.random.default_rng(0).permutation(N)[:LOST]
    table = {name: cells * 2 for name, cells in outputs(lost).items()}
    table["criterion"] = ["helpful"] * 2 * N + ["safe"] * 2 * N
    write("t.csv", table)
    code, _, err = tallystick(
        "score", "t.csv", "--criterion", "criterion", "--gate", "helpful(new) >= 60%"
    )
    assert code == 11
    assert "gate undecided: helpful(new) >= 60%" in err
