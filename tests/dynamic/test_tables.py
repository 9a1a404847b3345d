"""Logs as people bring them: read right at once, or asked about with a command that reads them right.

The answers are counted beside the tables, from one world: five models, three rounds of 60 items,
the last ones harder; and 180 attempts by twelve people to fool a model.
"""

import json
import shlex

import numpy as np
import pytest

from tallystick.errors import AskError, InputError
from tallystick.results import Interval, Unknown
from tallystick.verbs import dynamic
from tallystick.verbs.dynamic.log import order_rounds, round_name

DRAW = np.random.default_rng(7)
N, MODELS = 180, ("alpha", "bravo", "carol", "delta", "echo")
ITEMS, ROUND = [f"q{k}" for k in range(N)], np.repeat([1, 2, 3], 60)
HARD = DRAW.standard_normal(N)
RIGHT = 0.6 * HARD + 0.8 * DRAW.standard_normal((5, N)) < np.array([1.2, 0.6, 0.2])[ROUND - 1]
TRUE = DRAW.integers(0, 3, N)
SAID = np.where(RIGHT, TRUE, (TRUE + DRAW.integers(1, 3, (5, N))) % 3)
SCORE = np.where(RIGHT, DRAW.uniform(0.5, 1, (5, N)), DRAW.uniform(0, 0.49, (5, N))).round(3)
SCORE[0, :2] = 0, 1
RIGHT[0, :2] = False, True
NAMES, LETTERS = np.array(["Entailment", "neutral", "contra"]), np.array(list("ABC"))
LAST = ROUND == 3
# As a path: the same items, tried on the models of three rounds.
PATH = RIGHT[[0, 1, 4]]
TRIED = {"item": ITEMS * 3, "round": np.repeat([1, 2, 3], N)}
# As attempts.
WHO = np.array([f"w{k % 12}" for k in range(N)])
FOOLED = ~RIGHT[2]
VALID = FOOLED & (DRAW.random(N) < 0.8)
BACK = DRAW.random(N) < 0.1
CLOCK = [f"2024-01-{1 + k // 24:02d} {k % 24:02d}:00" for k in range(N)]


def wide(cells, names=MODELS, **more):
    return {"item": ITEMS, "round": ROUND, **more, **dict(zip(names, cells, strict=True))}


def long(column, cells, **more):
    held = {"item": ITEMS * 5, "round": np.tile(ROUND, 5), "model": np.repeat(MODELS, N)}
    return {**held, **more, column: np.concatenate(list(cells))}


def tries(**more):
    return {"annotator": WHO, "round": ROUND, **more}


def panel(found):
    assert found.kind == "panel"
    assert found.latest == "echo"
    assert found.rounds[-1].accuracy == pytest.approx(RIGHT[4, LAST].mean())
    wrong = (~RIGHT[:, LAST]).sum(axis=0)
    if found.vote.rule == "more than half":
        assert found.vote.risk == pytest.approx((wrong > 2).mean())
    counts = np.stack([(SAID[:, LAST] == k).sum(axis=0) for k in range(3)])
    top = counts == counts.max(axis=0)
    if found.vote.rule == "plurality":
        assert found.vote.risk == pytest.approx(
            (1 - top[TRUE[LAST], range(60)] / top.sum(axis=0)).mean()
        )
    assert found.vote.change.estimate == pytest.approx(
        1 - found.vote.risk - found.rounds[-1].accuracy
    )
    assert (found.change.paired, found.rounds[0].items) == (False, 60)
    assert "no change of the model alone" in found.verdict
    assert found.change.estimate == pytest.approx(RIGHT[4, LAST].mean() - RIGHT[4, :60].mean())


def path(found):
    assert (found.kind, found.n_items, found.change.paired) == ("path", N, True)
    assert found.rounds[-1].accuracy == pytest.approx(PATH[2].mean())
    assert found.change.estimate == pytest.approx(PATH[2].mean() - PATH[0].mean())
    wrong = (~PATH).sum(axis=0)
    assert found.rounds[1].risk == pytest.approx(((wrong - ~PATH[2]) / 2).mean())
    assert (found.vote.risk, found.vote.rule) == (
        pytest.approx((wrong > 1).mean()),
        "more than half",
    )


def thrice(found):
    assert (found.kind, found.models) == ("path", ("base", "round1", "round2"))
    assert found.change.estimate == pytest.approx(PATH[2].mean() - PATH[0].mean())
    assert "--held-out COLUMN" in found.opening.next
    assert any("does not say that its items were held out" in text for text in found.warnings)


def own_items(found):
    assert (found.kind, found.change.paired) == ("rounds", False)
    assert isinstance(found.vote, Unknown)
    assert [one.accuracy for one in found.rounds] == pytest.approx(
        [RIGHT[2, t == ROUND].mean() for t in (1, 2, 3)]
    )


def attempts(won):
    def told(found):
        assert (found.kind, found.attempts) == ("attempts", N)
        rates = [one.success.rate for one in found.rounds]
        assert rates == pytest.approx([won[t == ROUND].mean() for t in (1, 2, 3)])
        assert [one.success.annotators for one in found.rounds] == [12] * 3

    return told


MARKS, INTS = RIGHT.astype(int), (~RIGHT).astype(int)
COLLECTED = {"item": [f"c{k}" for k in range(90)], "round": np.repeat([1, 2, 3], 30)}
BOTH = {name: np.concatenate([TRIED[name], COLLECTED[name]]) for name in TRIED}
ALL = np.concatenate([PATH.ravel(), np.zeros(90, bool)])
TABLES = {
    "0 and 1": (wide(MARKS), {}, panel),
    "True and False": (wide(RIGHT), {}, panel),
    "right and wrong": (wide(np.where(RIGHT, "Right", "wrong")), {}, panel),
    "no item": ({"round": ROUND, **wide(np.where(RIGHT, "Correct", "Incorrect"))}, {"ignore": "item"}, panel),
    "answers beside gold": (wide(NAMES[SAID], gold=np.char.upper(NAMES[TRUE])), {}, panel),
    "answers beside label": (wide(NAMES[SAID], label=NAMES[TRUE]), {}, panel),
    "numbers beside y_true": (wide(SAID, y_true=TRUE), {}, panel),
    "letters beside answer": (wide(LETTERS[SAID], answer=LETTERS[TRUE]), {}, panel),
    "metadata": (wide(MARKS, topic=DRAW.choice(["law", "art"], N), length=DRAW.integers(20, 400, N), url=[f"x/{k}" for k in range(N)], date=CLOCK), {}, panel),
    "cached": (wide(MARKS, cached=DRAW.integers(0, 2, N)), {}, panel),
    "columns of wrong": (wide(INTS, [f"{m}_wrong" for m in MODELS]), {}, None),
    "columns of correct beside a truth": (wide(MARKS, [f"{m}_correct" for m in MODELS], label=TRUE % 2), {}, None),
    "rounds in columns": ({"item": ITEMS, **dict(zip(("model_r2", "model_r1", "model_r10"), MARKS[[1, 0, 4]], strict=True))}, {}, path),
    "base and rounds": ({"id": range(3 * N), **dict(zip(("round2", "base", "round1"), np.tile(MARKS[[4, 0, 1]], 3), strict=True))}, {}, thrice),
    "quarters": (wide(MARKS, round=np.array(["Q4 2023", "Q1 2024", "Q2 2024"])[ROUND - 1]), {}, panel),
    "dates": (wide(MARKS, round=np.array(["30/11/2023", "02/12/2023", "15/01/2024"])[ROUND - 1]), {}, panel),
    "item, round, correct": ({"item": ITEMS, "round": ROUND, "correct": MARKS[2]}, {}, own_items),
    "long": (long("correct", MARKS), {}, panel),
    "long, is_correct": ({"question_id": ITEMS * 5, "model_name": np.repeat(MODELS, N), "round": np.tile(ROUND, 5), "is_correct": RIGHT.ravel()}, {}, panel),
    "long, wrong": (long("wrong", INTS), {}, panel),
    "long, error": (long("error", np.where(RIGHT, "no", "yes")), {}, panel),
    "long, words in wrong": (long("wrong", np.where(RIGHT, "right", "wrong")), {}, panel),
    "long, answer and truth": (long("prediction", NAMES[SAID], truth=np.tile(NAMES[TRUE], 5)), {}, panel),
    "path": ({**TRIED, "correct": PATH.ravel()}, {}, path),
    "path, error": ({**TRIED, "error": ~PATH.ravel(), "held_out": [1] * 3 * N}, {}, path),
    "path, success": ({**TRIED, "success": PATH.ravel().astype(int)}, {}, path),
    "path, named models": ({**TRIED, "model": np.repeat(["bert-r1", "bert-r2", "bert-r3"], N), "correct": PATH.ravel()}, {}, path),
    "path, held_out": ({**BOTH, "correct": ALL, "held_out": [1] * 3 * N + [0] * 90}, {}, path),
    "path, split": ({**BOTH, "correct": ALL, "split": ["test"] * 3 * N + ["train"] * 90}, {"held_out": "split"}, path),
    "path, some items in one round": ({**BOTH, "correct": ALL}, {}, path),
    "fooled, validated": (tries(fooled=FOOLED.astype(int), validated=np.where(VALID, "yes", np.where(FOOLED, "no", ""))), {}, attempts(VALID)),
    "votes": (tries(model_wrong=FOOLED, votes_yes=2 * VALID, votes_no=2 * (FOOLED & ~VALID)), {}, attempts(VALID)),
    "lists of votes": (tries(model_wrong=FOOLED, validators=np.where(VALID, "correct,correct,incorrect", np.where(FOOLED, "incorrect;flagged", ""))), {}, attempts(VALID)),
    "retracted, cost": (tries(model_wrong=FOOLED, retracted=BACK, cost_usd=np.ones(N)), {}, attempts(FOOLED & ~BACK)),
    "red team": ({"attacker": WHO, "round": ROUND, "prompt": [f"text {k}" for k in range(N)], "attack_success": np.where(FOOLED, "yes", "no")}, {}, attempts(FOOLED)),
    "words for fooled": (tries(outcome=np.where(FOOLED, "jailbroken", "refused")), {}, attempts(FOOLED)),
    "names in time": (tries(round=np.array(["zero", "pilot", "final"])[ROUND - 1], time=CLOCK, fooled=FOOLED), {}, attempts(FOOLED)),
}  # fmt: skip
ASKED = {
    "cached",
    "long, score",
    "path, success",
}


def answered(table, **options):
    """Answer, pasting the first printed command where a question comes back."""
    try:
        return dynamic.evaluate(table, **options), False
    except AskError as error:
        words = shlex.split(error.calls[0])
        pasted = dict(
            zip((w.strip("-").replace("-", "_") for w in words[::2]), words[1::2], strict=True)
        )
    pasted = {k: v.split(",") if k == "models" else v for k, v in pasted.items()}
    return dynamic.evaluate(table, **options, **pasted), True


@pytest.mark.parametrize("name", TABLES)
def test_a_log_is_read_right_at_once_or_after_one_question(name):
    table, options, told = TABLES[name]
    found, asked = answered(table, **options)
    assert asked == (name in ASKED)
    if told is not None:
        told(found)
    else:
        assert found.rounds[-1].accuracy == pytest.approx(RIGHT[4, LAST].mean())
    body = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert body["reading"]["line"].startswith("read: ")
    assert any("says wrong" in note for note in found.notes) == (
        name in ("columns of wrong", "long, wrong", "long, error", "path, error")
    )


@pytest.mark.parametrize(
    ("names", "odd"),
    [(("Modell1", "Modell2", "Lösung"), "Lösung"), (("key", "model_a", "model_b"), "key")],
)
def test_one_column_with_a_name_unlike_the_others_may_be_the_truth(names, odd):
    """The latest model was the truth before: it is called like no model."""
    said = np.where(SAID[:3] > 0, "wahr", "falsch")
    others = [name for name in names if name != odd]
    with pytest.raises(AskError, match=f"is {odd} the truth, or one of the models") as asked:
        dynamic.evaluate(wide(said, names))
    first, second = (
        dict(zip(w[::2], w[1::2], strict=True)) for w in map(shlex.split, asked.value.calls)
    )
    assert first == {"--truth": odd, "--models": ",".join(others)}
    assert second == {"--models": ",".join(names)}
    found = dynamic.evaluate(wide(said, names), truth=odd, models=others)
    assert found.latest == others[-1]
    assert dynamic.evaluate(wide(said, names), models=names).latest == names[-1]


@pytest.mark.parametrize(
    "name", ["0 and 1", "path", "path, error", "fooled, validated", "answers beside gold"]
)
def test_neither_the_order_of_rows_nor_that_of_columns_changes_an_answer(name):
    table, options, _ = TABLES[name]
    order = np.random.default_rng(0).permutation(len(next(iter(table.values()))))
    mixed = {key: np.asarray(table[key])[order] for key in table}
    one, other = (dynamic.evaluate(rows, **options).to_dict() for rows in (table, mixed))
    assert {k: v for k, v in one.items() if k != "reading"} == {
        k: v for k, v in other.items() if k != "reading"
    }


def test_right_and_wrong_exchanged_turn_every_answer():
    one = dynamic.evaluate({**TRIED, "correct": PATH.ravel()})
    other = dynamic.evaluate({**TRIED, "wrong": PATH.ravel()})
    assert other.change.estimate == pytest.approx(-one.change.estimate)
    assert other.rounds[0].accuracy == pytest.approx(1 - one.rounds[0].accuracy)


def test_an_export_of_dynabench_counts_retracted_attempts_and_their_votes(tmp_path):
    rng = np.random.default_rng(7)
    votes = [["correct"] * int(a) + ["incorrect"] * int(b) for a, b in rng.integers(0, 4, (N, 2))]
    rows = [
        {
            "id": k, "metadata_json": json.dumps({"annotator_id": WHO[k]}), "target_pred": "1",
            "model_preds": "0.2|0.8", "target_model": "roberta-r1", "model_wrong": bool(FOOLED[k]),
            "retracted": bool(BACK[k]), "flagged": False, "time_elapsed": "0:01:30",
            "context": {"id": 7, "r_realid": 10 + int(ROUND[k])},
            "validations": [[vote, "user", f"v{j}"] for j, vote in enumerate(votes[k])],
        }
        for k in range(N)
    ]  # fmt: skip
    (tmp_path / "export.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    found = dynamic.evaluate(tmp_path / "export.jsonl")
    kept = np.array([one.count("correct") > one.count("incorrect") for one in votes])
    attempts(FOOLED & ~BACK & kept)(found)
    assert [one.round for one in found.rounds] == [11, 12, 13]
    assert found.rounds[0].cost == pytest.approx(60 * 90 / found.rounds[0].success.successes)


# What is said, and what is not, of order and time.


@pytest.mark.parametrize(
    ("table", "missing"),
    [
        (tries(round=np.array(["zero", "pilot", "final"])[ROUND - 1], fooled=FOOLED), "is not known"),
        ({"annotator": WHO, "time": CLOCK, "fooled": FOOLED}, ""),
        ({**TRIED, "round": np.repeat(["pilot", "main", "extra"], N), "correct": PATH.ravel()}, ""),
        (wide(MARKS, round=np.array(["pilot", "main", "extra"])[ROUND - 1]), ""),
        (tries(round=np.array(["a", "b", "c"])[ROUND - 1], fooled=FOOLED, date=["03/04/2024", "04/03/2024"] * 90), "is not known"),
    ],
    ids=["attempts", "no round", "path", "panel", "dates that say nothing"],
)  # fmt: skip
def test_without_an_order_no_change_is_claimed(table, missing):
    found = dynamic.evaluate(table)
    assert isinstance(found.change, Unknown)
    assert missing in found.verdict
    assert "The latest" not in found.verdict


@pytest.mark.parametrize(
    ("cells", "names", "codes"),
    [
        (["2", "10", "2"], (2, 10), [0, 1, 0]),
        ([3.0, 1.0], (1, 3), [1, 0]),
        (["R2", "R10"], ("R2", "R10"), [0, 1]),
        (["v1.10", "v1.9"], ("v1.9", "v1.10"), [1, 0]),
        (["Q1 2024", "Q4 2023"], ("Q4 2023", "Q1 2024"), [1, 0]),
        (["2024-02", "2023-11"], ("2023-11", "2024-02"), [1, 0]),
        (["2024-03-02T10:00:00", "2024-03-01"], ("2024-03-01", "2024-03-02"), [1, 0]),
        (["30/11/2023", "02/12/2023"], ("2023-11-30", "2023-12-02"), [0, 1]),
        (["2024-02-31", "2024-01-01"], ("2024-01-01", "2024-02-31"), [1, 0]),
    ],
)
def test_rounds_are_ordered_by_number_day_or_the_numbers_in_their_names(cells, names, codes):
    found = order_rounds(cells)
    assert (found.names, found.notes, found.ordered) == (names, (), True)
    assert found.codes.tolist() == codes


def test_names_without_an_order_stand_as_they_appear_and_that_is_said():
    for cells in (["pilot", "main"], ["03/02/2024", "01/03/2024", "02/01/2024"]):
        found = order_rounds(cells)
        assert (found.names, found.ordered) == (tuple(cells), False)
        assert found.notes[0].startswith(
            f"the names of the rounds do not say their order: {cells[0]}"
        )
    assert (round_name("round 12"), round_name(12)) == ("round 12", "round 12")


# What is asked about, refused, or left out and counted.


def test_a_cell_that_says_neither_is_asked_about_and_both_commands_read_it():
    cells = PATH.ravel().astype(int).astype(str)
    cells[5] = "timeout"
    with pytest.raises(AskError, match=r"row 6.*'timeout'") as asked:
        dynamic.evaluate({**TRIED, "correct": cells})
    assert asked.value.calls == ("--missing=timeout", "--never-true=timeout")
    assert dynamic.evaluate({**TRIED, "correct": cells}, missing="timeout").n_items == N - 1
    found = dynamic.evaluate({**TRIED, "correct": cells}, never_true="timeout")
    first = PATH[0].copy()
    first[5] = False
    assert found.rounds[0].accuracy == pytest.approx(first.mean())


@pytest.mark.parametrize(
    ("table", "options", "said"),
    [
        ({"item": ITEMS * 2, "round": [1] * 2 * N, "correct": [1, *MARKS[0][1:], *MARKS[1]]}, {}, "say different things"),
        (long("prediction", [*NAMES[SAID[:4]], NAMES[SAID[4]]], truth=np.tile(NAMES[TRUE], 5), model=["a"] * 5 * N), {}, "say different things"),
        ({**TRIED, "item": ITEMS * 3, "model": np.tile(["a", "b"], 270), "correct": PATH.ravel()}, {}, "keep the rows of one model"),
        ({"item": [*ITEMS, "q0", "q1"], "round": [*ROUND, 2, 2], "correct": [*MARKS[0], 1, 1]}, {}, "answered in every round"),
        ({"round": [1, 2, 3], "accuracy": [0.81, 0.84, 0.86]}, {}, "go from 0.81 to 0.86"),
        (wide(SCORE, ms=DRAW.integers(200, 900, N)), {}, "Write 1 where an answer is right"),
        ({**wide(MARKS), "item": ["q0"] * N}, {"models": list(MODELS)}, "has two rows"),
        ({"round": [1, 2], "text": ["a", "b"]}, {}, "no columns hold models' answers"),
        ({**BOTH, "correct": ALL, "held_out": [0] * (3 * N + 90)}, {"held_out": "held_out"}, "marks no item"),
        (long("correct", [MARKS[4]] * 5, prediction=NAMES[SAID].ravel(), truth=np.tile(NAMES[TRUE], 5)), {}, "is called"),
        (tries(fooled=["1", "0.73", *["0"] * 178]), {}, "which says neither yes nor no"),
        (tries(fooled=FOOLED, validators=["maybe,correct", *[""] * 179]), {}, "'maybe'"),
        (tries(fooled=FOOLED, round=[None, *ROUND[1:]]), {"round": "round"}, "'round' is blank"),
        ({**tries(fooled=FOOLED), "annotator": [None, *WHO[1:]]}, {"annotator": "annotator"}, "'annotator' is blank"),
        (tries(fooled=[""] * N), {"fooled": "fooled"}, "no attempt says"),
    ],
    ids=range(15),
)  # fmt: skip
def test_what_cannot_be_right_is_refused_by_name(table, options, said):
    with pytest.raises(InputError, match=said):
        dynamic.evaluate(table, **options)


def test_blanks_and_copies_are_left_out_and_counted():
    cells = MARKS.astype(object)
    cells[4, 130:133] = None
    found = dynamic.evaluate(wide(cells))
    assert (
        "3 of 900 answers are missing: models are compared on the items that they all answered"
        in found.notes
    )
    assert (found.rounds[2].items, found.vote.models) == (57, MODELS)
    twice = {
        name: np.concatenate([cells, cells[:3]])
        for name, cells in {**TRIED, "correct": PATH.ravel()}.items()
    }
    found = dynamic.evaluate(twice)
    assert "3 rows say the same as a row before and are left out" in found.notes
    path(found)
    gold = NAMES[TRUE].astype(object)
    gold[:4] = None
    found = dynamic.evaluate(wide(NAMES[SAID], gold=gold))
    assert "4 of 180 items have no true label and are left out" in found.notes
    assert found.rounds[0].items == 56
    some = dynamic.evaluate(tries(fooled=[None, *FOOLED[1:]], cost=[None, *[1] * 179]))
    assert "1 of 180 attempts have no outcome and are left out" in some.notes
    assert isinstance(some.rounds[0].success.interval, Interval)


def test_a_model_in_the_loop_has_no_vote_and_is_not_judged_by_its_own_round():
    loop = RIGHT[4] & ~LAST
    table = wide([*MARKS[:3], loop.astype(int)], ("bert", "xlnet", "big", "looped"))
    found = dynamic.evaluate(table, models=["bert", "xlnet", "big", "looped"])
    assert [one.by_design for one in found.rounds] == [False, False, True]
    assert (
        "of round 2" in found.verdict.partition(".")[2].partition("(")[0]
        or "round 2" in found.verdict
    )
    assert isinstance(found.change.estimate, float)
    assert found.change.estimate == pytest.approx(loop[60:120].mean() - loop[:60].mean())
    assert any("It has no vote" in text for text in found.warnings)
    turned = dynamic.evaluate(table, models=["looped", "bert", "xlnet", "big"])
    assert turned.vote.models == ("bert", "xlnet", "big")
    alone = dynamic.evaluate(wide([np.zeros(N, int)], ("looped",)), models="looped")
    assert "by design" in alone.verdict
