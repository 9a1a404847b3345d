"""What columns are taken for: the right roles on ordinary tables, a named question on every
look-alike."""

import numpy as np
import pyarrow as pa
import pytest

from tallystick.errors import InputError
from tallystick.table import scan
from tallystick.verbs.audit import audit
from tests.data.detect.seen import seen

N = 400


def read(columns, **said):
    return seen(columns, **said)


def asked(columns, **said):
    """The options that are asked for."""
    return " ".join(question.option for question in read(columns, **said).questions)


def noisy(truth, accuracy, seed, labels=None):
    """Copy *truth*, wrong with probability 1 - accuracy."""
    draw = np.random.default_rng(seed)
    pool = np.array(sorted(set(truth)) if labels is None else labels)
    other = pool[
        (np.searchsorted(pool, truth) + draw.integers(1, len(pool), len(truth))) % len(pool)
    ]
    return np.where(draw.random(len(truth)) < accuracy, truth, other)


@pytest.fixture
def truth():
    return np.random.default_rng(0).choice(["ham", "spam"], N, p=[0.6, 0.4])


@pytest.fixture
def bits():
    return np.random.default_rng(1).integers(0, 2, N)


def judges(truth, names=("ann", "bob", "eve")):
    return {name: noisy(truth, 0.85, seed) for seed, name in enumerate(names)}


def test_a_named_truth_finds_the_columns_that_use_its_labels(truth):
    reading = read(
        {"id": range(N), "gold": truth, **judges(truth), "text": [f"mail {i}" for i in range(N)]}
    )
    assert (reading.item, reading.truth, reading.votes) == ("id", "gold", ("ann", "bob", "eve"))
    assert not reading.questions
    said = {column: part.role for part in reading.taken for column in part.columns}
    assert said == {
        "id": "item",
        "gold": "truth",
        "ann": "votes",
        "bob": "votes",
        "eve": "votes",
        "text": "text",
    }


def test_a_partly_blank_truth_is_a_truth_and_says_how_much_of_it_is_known(truth):
    part = np.where(np.arange(N) % 4 == 0, truth, None)
    reading = read({"gold": part, **judges(truth)})
    assert reading.truth == "gold"
    assert any("known on 100 of 400" in taken.why for taken in reading.taken)


@pytest.mark.parametrize(
    ("spelled", "code"), [(("ABSTAIN", "ABSTAIN"), "ABSTAIN"), (("Abstain", "ABSTAIN "), None)]
)
def test_a_code_for_no_vote_is_missing_as_it_is_written(truth, spelled, code):
    places = np.arange(N) % 4
    votes = {
        name: np.where(places == j, spelled[j % 2], column)
        for j, (name, column) in enumerate(judges(truth).items())
    }
    reading = read({"gold": truth, **votes})
    assert reading.missing == ((code,) if code else ("ABSTAIN", "Abstain"))
    assert not any("counts as wrong" in note for note in reading.notes)
    table = scan(pa.table({"gold": truth, **votes}))
    [graded] = [part for part in audit(table).sections if part.verb == "judge"]
    assert [row["votes"] for row in graded.rows()] == [300, 300, 300]


def test_a_numeric_code_for_no_vote_is_missing_however_text_writes_it(bits):
    words = bits.astype(str)
    votes = {
        f"lf_{j}": np.where(np.arange(N) % 4 == j, "-1.0", noisy(words, 0.85, j)) for j in range(3)
    }
    table = scan(pa.table({"gold": words, **votes}))
    [graded] = [part for part in audit(table).sections if part.verb == "judge"]
    assert [row["votes"] for row in graded.rows()] == [300, 300, 300]


def test_a_question_about_missing_names_every_token_as_it_is_written(truth):
    votes = judges(truth)
    odd = {**votes, "ann": np.where(np.arange(N) % 4 == 0, "Refused", votes["ann"])}
    odd["bob"] = np.where(np.arange(N) % 4 == 1, "ERROR", votes["bob"])
    odd["eve"] = np.where(np.arange(N) % 4 == 2, "Abstain", votes["eve"])
    [question] = read({"gold": truth, **odd}).questions
    assert "'ERROR' in 'bob' and 'Refused' in 'ann'" in question.text
    assert "(--missing=Abstain,ERROR,Refused)" in question.text
    assert "(--missing=Abstain)" in question.text


def test_words_for_no_answer_that_the_truth_never_has_are_missing(truth):
    votes = judges(truth)
    odd = {**votes, "ann": np.where(np.arange(N) % 4 == 0, "NA", votes["ann"])}
    odd["bob"] = np.where(np.arange(N) % 4 == 1, "?", votes["bob"])
    reading = read({"gold": truth, **odd})
    assert (reading.questions, set(reading.missing)) == ((), {"NA", "?"})


def test_none_in_several_columns_may_be_a_label_where_there_is_no_truth(truth):
    odd = {
        f"judge_{name}": np.where(np.arange(N) % 4 == 0, "none", column)
        for name, column in judges(truth).items()
    }
    [question] = read(odd).questions
    assert "'none' in" in question.text


def test_a_label_that_never_is_the_truth_is_told_as_it_is_written(truth):
    votes = judges(truth)
    reading = read(
        {"gold": truth, **votes, "eve": np.where(np.arange(N) % 50 == 2, "Maybe", votes["eve"])}
    )
    assert any("say --missing=Maybe" in note for note in reading.notes)


@pytest.mark.parametrize("word", ["NA", "?", "None"])
def test_a_word_for_no_answer_in_the_truth_alone_is_no_truth(truth, word):
    part = np.where(np.arange(N) < 60, truth, word)
    reading = read({"gold": part, **judges(truth)})
    assert (reading.questions, reading.missing) == ((), (word,))


def test_a_word_that_may_be_a_label_is_asked_about(truth):
    part = np.where(np.arange(N) < 60, truth, "Unknown")
    [question] = read({"gold": part, **judges(truth)}).questions
    assert question.option == "--missing"
    assert "'Unknown' in 'gold' mean no answer (--missing=Unknown)" in question.text
    assert read({"gold": part, **judges(truth)}, missing=("Unknown",)).questions == ()


def test_judges_without_a_truth_are_found_by_their_agreement(truth):
    reading = read({"item": range(N), **judges(truth)})
    assert (reading.truth, reading.votes, reading.questions) == (None, ("ann", "bob", "eve"), ())


def test_weak_labels_abstain_with_a_code_that_is_never_true(bits):
    rules = {
        f"lf_{k}": np.where(np.arange(N) % 3 == k % 3, noisy(bits, 0.9, k), -1) for k in range(4)
    }
    reading = read({"id": range(N), "y": bits, **rules})
    assert (reading.truth, reading.missing, reading.weak) == ("y", ("-1",), tuple(rules))
    assert read(rules).missing == ("-1",)


def test_minus_one_is_a_label_where_the_truth_has_it():
    truth = np.random.default_rng(3).choice([-1, 0, 1], N)
    reading = read({"truth": truth, **{name: noisy(truth, 0.8, k) for k, name in enumerate("ab")}})
    assert (reading.missing, reading.questions) == ((), ())


def test_minus_one_and_one_are_two_labels(bits):
    signs = 2 * bits - 1
    reading = read({f"judge_{k}": noisy(signs, 0.85, k) for k in range(3)})
    assert (len(reading.votes), reading.missing, reading.questions) == (3, (), ())


def test_a_sparse_judge_belongs_to_the_family_of_its_name(truth):
    few = {
        f"w{k}": np.where(np.arange(N) < N - 3 * k, noisy(truth, 0.9, k), None) for k in range(3)
    }
    few["w3"] = np.array([truth[0]] + [None] * (N - 1), dtype=object)
    assert read({"truth": truth, **few}).votes == ("w0", "w1", "w2", "w3")


def test_two_versions_and_the_confidence_of_the_old_one_are_found_by_name(truth):
    columns = {
        "true": truth,
        "pred_2020_real": noisy(truth, 0.9, 1),
        "pred_2021_api": noisy(truth, 0.88, 2),
    }
    reading = read(
        {**columns, "conf_2020": np.linspace(0, 1, N), "latency_2020": np.linspace(1, 9, N)}
    )
    assert (reading.old, reading.new, reading.confidence) == (
        "pred_2020_real",
        "pred_2021_api",
        "conf_2020",
    )


def test_three_versions_are_models_and_a_note_names_the_options(truth):
    columns = {f"pred_{year}": noisy(truth, 0.9, year) for year in (2020, 2021, 2022)}
    reading = read({"true": truth, **columns})
    assert reading.old is None
    assert any("--old" in note for note in reading.notes)


def test_a_classifier_beside_weak_labels_is_found_by_name(truth):
    rules = {
        f"lf_{k}": np.where(np.arange(N) % 2 == k % 2, noisy(truth, 0.9, k), "") for k in range(3)
    }
    reading = read({**rules, "prediction": noisy(truth, 0.9, 9)})
    assert (reading.prediction, reading.votes, reading.weak) == (
        "prediction",
        tuple(rules),
        tuple(rules),
    )
    assert read({**rules, "score": np.linspace(0, 1, N)}).score == "score"


def test_rounds_and_validators_of_a_dynamic_benchmark(truth):
    short = np.where(truth == "ham", "h", "s")
    columns = {"round": np.repeat([1, 2], N // 2), "gold": short, "model_a": noisy(short, 0.8, 1)}
    reading = read(
        {**columns, "model_b": noisy(short, 0.7, 2), "validator_labels": [s + "h" for s in short]}
    )
    assert (reading.round, reading.validators, reading.votes) == (
        "round",
        "validator_labels",
        ("model_a", "model_b"),
    )


def test_scores_between_zero_and_one_are_models_only_if_named_so():
    draw = np.random.default_rng(2)
    assert read({"id": range(N), "gpt-4": draw.random(N), "claude": draw.random(N)}).scores == (
        "gpt-4",
        "claude",
    )
    assert asked({"id": range(N), "height": draw.random(N), "width": draw.random(N)}) == "--judges"


def test_an_item_repeated_over_splits_is_no_question_but_one_repeated_over_data_sets_is(truth):
    columns = {"id": [i // 2 for i in range(N)], "gold": truth, **judges(truth)}
    half = ["a", "b"] * (N // 2)
    assert not read({**columns, "split": half}).questions
    assert asked({**columns, "dataset": half}) == "--item"
    assert not read({**columns, "dataset": half}, rows_are_items=True).questions


def test_what_never_is_true_is_said(truth):
    reading = read(
        {
            "truth": truth,
            "pred_a": noisy(truth, 0.9, 1),
            "pred_b": np.where(truth == "ham", truth, "empty"),
        }
    )
    assert any("'empty' never is the truth" in note for note in reading.notes)


def facts(names, seed=5):
    draw = np.random.default_rng(seed)
    return {name: draw.choice(["yes", "no"], N) for name in names}


def mushroom():
    draw = np.random.default_rng(4)
    kinds = {
        "odor": "acfm",
        "ring": "eflp",
        "gill": "bn",
        "veil": "wy",
        "cap": "kxs",
        "bruises": "tz",
    }
    above = draw.choice(list("fyks"), N)
    columns = {name: draw.choice(list(letters), N) for name, letters in kinds.items()}
    return {**columns, "stalk-above": above, "stalk-below": noisy(above, 0.9, 1)}


def rated():
    stars = np.random.default_rng(6).integers(1, 6, N)
    return {"judge_a": noisy(stars, 0.7, 1), "judge_b": noisy(stars, 0.7, 2), "truth": stars}


LOOK_ALIKES = {
    "facts about people with the same answers": lambda t, b: (
        facts(["smoker", "diabetic", "retired"]),
        "--judges",
    ),
    "two columns of facts that agree": lambda t, b: (
        {"left": t, "right": noisy(t, 0.9, 1)},
        "--judges",
    ),
    "features of one kind of mushroom": lambda t, b: (mushroom(), "--judges"),
    "binary features and a target": lambda t, b: (
        {"label": b, **{f"f{k}": noisy(b, 0.65, k) for k in range(9)}},
        "--truth",
    ),
    "features scaled to one, and a class": lambda t, b: (
        {"class": b, **{f"gpt{k}": np.linspace(0, 1, N) for k in range(3)}},
        "--judges",
    ),
    "marks of right and wrong without a truth": lambda t, b: (
        {"gpt": noisy(b, 0.9, 1), "claude": noisy(b, 0.8, 2)},
        "--models or --judges",
    ),
    "marks of right and wrong beside the labels": lambda t, b: (
        {
            "truth": b,
            **{f"m{k}": (np.random.default_rng(k).random(N) < 0.8).astype(int) for k in range(3)},
        },
        "--judges",
    ),
    "a majority that is called label": lambda t, b: (
        {**(j := judges(t, ("judge_a", "judge_b", "judge_c"))), "label": majority(j)},
        "--truth",
    ),
    "a person among language models": lambda t, b: (
        {**judges(t, ("gpt", "claude", "human"))},
        "--truth",
    ),
    "a column that is mostly blank": lambda t, b: (
        {**judges(t, ("gpt", "claude", "llama")), "checked": np.where(np.arange(N) < 40, t, None)},
        "--truth",
    ),
    "two truths": lambda t, b: ({"gold": t, "true": noisy(t, 0.95, 1), **judges(t)}, "--truth"),
    "a truth in other words": lambda t, b: ({"truth": b, **judges(t)}, "--judges"),
    "a truth that is a number": lambda t, b: (
        {"truth": np.linspace(0, 9, N), **judges(t)},
        "--truth",
    ),
    "a fact that uses the labels of the truth": lambda t, b: (
        {
            "truth": b,
            "ann": noisy(b, 0.9, 1),
            "bob": noisy(b, 0.8, 2),
            "urgent": np.random.default_rng(8).permutation(b),
        },
        "--judges",
    ),
    "stars": lambda t, b: (rated(), "--judges"),
    "numbers that could be labels or scores": lambda t, b: (
        {f"gpt{k}": noisy(np.arange(N) % 3, 0.8, k) for k in range(3)},
        "--judges or --models",
    ),
    "NA as an answer": lambda t, b: (
        {"gold": t, **judges(t), "gpt": np.where(np.arange(N) % 9 == 0, "NA", t)},
        "--missing",
    ),
    "minus one without a truth": lambda t, b: (
        {"gpt": noisy(b, 0.9, 1), "claude": np.where(np.arange(N) % 2 == 0, noisy(b, 0.9, 2), -1)},
        "--missing",
    ),
    "a weight that may be a person's": lambda t, b: (
        {"weight": np.linspace(50, 90, N), "gold": t, **judges(t)},
        "--weight",
    ),
    "predicted probabilities": lambda t, b: (
        {f"pred_{k}": np.random.default_rng(k).random(N) for k in range(3)},
        "--judges",
    ),
    "ratings of judges between 0 and 1": lambda t, b: (
        {f"judge_{k}": np.random.default_rng(k).random(N) for k in range(3)},
        "--judges",
    ),
    "a stranger among judges": lambda t, b: (
        {
            **judges(t, ("judge_a", "judge_b", "judge_c")),
            "shift": np.random.default_rng(8).permutation(t),
        },
        "--judges",
    ),
    "one model beside a fact": lambda t, b: (
        {"gpt": t, "sender": np.random.default_rng(8).permutation(t)},
        "--judges",
    ),
    "nothing but text": lambda t, b: ({"text": [f"a {i}" for i in range(N)]}, "--judges"),
    "one label column": lambda t, b: (
        {"text": [f"a {i}" for i in range(N)], "label": t},
        "--judges",
    ),
}


def majority(votes):
    table = np.stack(list(votes.values()))
    return np.where((table == "spam").sum(axis=0) >= 2, "spam", "ham")


@pytest.mark.parametrize("name", LOOK_ALIKES)
def test_a_look_alike_is_asked_about_by_the_name_of_the_option(name, truth, bits):
    columns, option = LOOK_ALIKES[name](truth, bits)
    reading = read(columns)
    assert asked(columns) == option
    assert not reading.votes
    assert not reading.scores
    with pytest.raises(InputError, match="--"):
        reading.ask("the table")


def test_what_is_said_is_obeyed_and_not_asked(truth, bits):
    people = facts(["smoker", "diabetic", "retired"])
    assert read(people, judges=("smoker,diabetic",)).votes == ("smoker", "diabetic")
    assert (
        read(
            {"weight": np.linspace(50, 90, N), "gold": truth, **judges(truth)}, ignore=("weight",)
        ).weight
        is None
    )
    assert (
        read(
            {"weight": np.linspace(1, 2, N), "gold": truth, **judges(truth)}, weight="weight"
        ).weight
        == "weight"
    )
    marks = {"item": range(N), "gpt": noisy(bits, 0.9, 1), "claude": noisy(bits, 0.8, 2)}
    assert read(marks, models=("*",)).scores == ("gpt", "claude")
    assert read(marks, judges=("*",)).votes == ("gpt", "claude")
    assert read(rated(), judges=("judge_*",)).truth == "truth"
    assert read({"gpt": truth, "claude": truth, "human": truth}, truth="human").votes == (
        "gpt",
        "claude",
    )
    assert (
        read(
            {"gold": truth, **judges(truth), "gpt": np.where(bits == 0, "NA", truth)},
            missing=("NA",),
        ).questions
        == ()
    )
    rules = {name: noisy(truth, 0.9, k) for k, name in enumerate(("judge_a", "judge_b", "mine"))}
    bounded = read(rules, prediction="mine")
    assert (bounded.prediction, bounded.weak, bounded.votes) == (
        "mine",
        ("judge_a", "judge_b"),
        ("judge_a", "judge_b"),
    )
    assert asked({"name": ["x"] * N, **judges(truth)}, item="name") == "--item"
    was = read(
        {"truth": truth, "june": noisy(truth, 0.9, 1), "march": noisy(truth, 0.9, 2)},
        old="march",
        new="june",
    )
    assert (was.old, was.new, was.truth, set(was.votes)) == (
        "march",
        "june",
        "truth",
        {"march", "june"},
    )


@pytest.mark.parametrize(
    ("said", "words"),
    [
        ({"truth": "golf"}, "did you mean 'gold'"),
        ({"truth": "gold", "item": "gold"}, "given as item and as truth"),
        ({"judges": ("nobody",)}, "has no column 'nobody'"),
        ({"truth": "a*"}, "--truth names one column"),
        ({"truth": "ann", "judges": ("ann", "bob")}, "given as truth and in a group of columns"),
    ],
)
def test_a_wrong_option_is_refused_by_name(said, words, truth):
    with pytest.raises(InputError, match=words.replace("*", r"\*")):
        read({"gold": truth, **judges(truth)}, **said)


def test_odd_columns_do_no_harm(truth):
    columns = {
        "nothing": pa.nulls(N),
        "blank": [""] * N,
        "same": ["x"] * N,
        "endless": [float("inf"), 1.5] * (N // 2),
        "": truth,
        "<b>": truth,
    }
    reading = read(
        {"gold": truth, **judges(truth), **{f"{name} ": values for name, values in columns.items()}}
    )
    assert {"ann", "bob", "eve"} <= set(reading.votes)
    assert not read({"gold": ["a", "b"], "x": ["a", "b"], "y": ["a", "a"]}).votes


def test_the_same_rows_in_any_order_are_read_alike(truth):
    order = np.random.default_rng(7).permutation(N)
    columns = {"id": np.arange(N), "gold": truth, **judges(truth)}
    shuffled = {name: values[order] for name, values in columns.items()}
    assert read(columns).taken == read(shuffled).taken


def test_columns_at_random_never_crash_and_are_asked_about():
    """Names promise a lot here and the values keep nothing of it."""
    draw = np.random.default_rng(0)
    names = [
        "id",
        "truth",
        "label",
        "round",
        "weight",
        "conf_a",
        "pred_old",
        "lf_0",
        "gpt",
        "text",
        "score",
        "x",
        "class",
    ]
    makers = [
        lambda n: draw.integers(0, 2, n),
        lambda n: draw.choice(["a", "b"], n),
        lambda n: draw.random(n),
        lambda n: draw.integers(-1, 3, n),
        lambda n: draw.choice(["a", "NA", ""], n),
        lambda n: draw.choice([np.inf, 1.0, np.nan, -1], n),
        lambda n: np.full(n, None, dtype=object),
    ]
    for _ in range(60):
        n = int(draw.choice([0, 1, 7, 60]))
        chosen = draw.choice(names, 5, replace=False)
        columns = {
            str(name): pa.array(list(makers[draw.integers(len(makers))](n))) for name in chosen
        }
        reading = read(columns)
        assert reading.questions or reading.votes or reading.scores
