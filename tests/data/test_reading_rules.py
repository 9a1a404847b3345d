"""Which column has which role: by name and content, as the only candidate, or asked about."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tallystick.errors import AskError, InputError
from tallystick.registry import capability
from tallystick.table import Data, read

Columns = dict[str, list[Any]]


def opened(verb: str, columns: Columns, **options: Any) -> Data:
    """Read a table as a verb does."""
    return read(columns, capability(verb).door, **options)


def asked(verb: str, columns: Columns, **options: Any) -> AskError:
    """Return the question that a verb asks about a table."""
    with pytest.raises(AskError) as caught:
        opened(verb, columns, **options)
    return caught.value


def voted(n: int = 200, words: tuple[Any, Any] = (0, 1), **judges: float) -> Columns:
    """A truth of which a third is known, and judges that are right as often as they say."""
    rng = np.random.default_rng(3)
    truth = (rng.random(n) < 0.6).astype(int)
    found: Columns = {"id": [f"q{k}" for k in range(n)]}
    for name, right in (judges or {"gpt": 0.9, "claude": 0.85}).items():
        said = np.where(rng.random(n) < right, truth, 1 - truth)
        found[name] = [words[one] for one in said]
    found["gold"] = [words[one] if k % 3 == 0 else None for k, one in enumerate(truth)]
    return found


def flags(n: int = 200, share: float = 0.4, seed: int = 4) -> list[int]:
    return (np.random.default_rng(seed).random(n) < share).astype(int).tolist()


@pytest.mark.parametrize("verb", ["judge", "compare", "score"])
@pytest.mark.parametrize("name", ["gold", "human", "truth", "Human "])
def test_gold_human_and_truth_are_the_truth_in_every_verb(verb: str, name: str) -> None:
    columns = voted()
    columns[name] = columns.pop("gold")
    roles = opened(verb, columns).roles
    assert roles.truth == name
    assert {*roles.judges, *roles.models} == {"gpt", "claude"}


def test_a_flag_that_agrees_with_nothing_is_asked_about_first_without_it() -> None:
    question = asked("judge", {**voted(), "cached": flags()})
    assert question.calls[0].startswith("--judges gpt,claude ")
    assert "cached" in question.calls[1]


def test_a_flag_in_another_writing_that_agrees_with_nothing_is_left_out_and_shown() -> None:
    data = opened("judge", {**voted(words=("fail", "pass")), "cached": flags()})
    assert data.roles.judges == ("gpt", "claude")
    assert "cached" in (data.unused or {})


@pytest.mark.parametrize("name", ["level", "order", "source", "week", "weight", "judge", "id2"])
def test_a_judge_is_taken_whatever_it_is_called(name: str) -> None:
    columns = voted()
    columns[name] = columns.pop("claude")
    assert {*opened("judge", columns).roles.judges} == {"gpt", name}


@pytest.mark.parametrize(
    "column",
    [list(range(200)), [1] * 200, [f"2024-03-{1 + k % 28:02d}" for k in range(200)]],
    ids=["counter", "constant", "dates"],
)
def test_counters_constants_and_dates_are_nobodys_votes(column: list[Any]) -> None:
    scores: Columns = {"old": flags(), "new": flags(share=0.7, seed=5)}
    assert opened("compare", {"Satz": column, **scores}).roles.models == ("old", "new")


def test_several_truths_are_asked_about_all_together_first() -> None:
    columns = voted()
    columns["human_a"], columns["human_b"] = columns["gold"], flags()
    del columns["gold"]
    assert asked("judge", columns).calls[0] == "--truth human_a,human_b"


def test_the_majority_of_several_truths_is_the_label_and_a_tie_is_none() -> None:
    columns: Columns = {
        "gpt": ["yes", "no", "yes", "no"] * 10,
        "a": ["yes", "no", "yes", "no"] * 10,
        "b": ["yes", "yes", "yes", None] * 10,
    }
    data = opened("judge", columns, truth="a,b", judges="gpt")
    assert data.cells("a,b")["a,b"][:4] == ["yes", None, "yes", "no"]
    assert any("disagree on 10 of 40" in note for note in data.notes)


def test_a_third_word_beside_pass_and_fail_is_asked_about_by_value() -> None:
    columns = voted(words=("fail", "pass"))
    columns["claude"][:12] = ["ERROR"] * 12
    question = asked("judge", columns)
    assert question.calls == ("--missing=ERROR", "--never-true=ERROR")
    named = opened("judge", columns, missing=("ERROR",))
    assert named.roles.judges == ("gpt", "claude")


def test_a_class_that_voters_and_truth_have_is_never_doubted() -> None:
    truth = [k % 7 for k in range(210)]
    votes = {"gpt": [*truth], "claude": [(one + (k % 5 == 0)) % 7 for k, one in enumerate(truth)]}
    assert opened("judge", {**votes, "gold": truth}).roles.truth == "gold"


def test_words_of_several_pairs_for_pass_and_fail_are_one() -> None:
    columns = voted(words=("no", "yes"))
    columns["claude"] = [{"yes": "Y", "no": "N"}[one] for one in columns["claude"]]
    data = opened("judge", columns)
    assert {*data.cells("claude")["claude"]} == {"yes", "no"}


def long_votes(**names: str) -> Columns:
    columns = voted(gpt=0.9, claude=0.85)
    rows = [
        (columns["id"][k], who, columns[column][k])
        for k in range(len(columns["id"]))
        for who, column in (("gpt", "gpt"), ("claude", "claude"), ("human", "gold"))
        if columns[column][k] is not None
    ]
    heads = [names.get(one, one) for one in ("item", "judge", "vote")]
    return {head: [row[k] for row in rows] for k, head in enumerate(heads)}


def test_a_person_among_the_judges_of_a_long_table_is_the_truth() -> None:
    roles = opened("judge", long_votes()).roles
    assert roles.truth == "human"
    assert {*roles.judges} == {"gpt", "claude"}


def test_right_or_wrong_is_compared_and_not_what_was_answered() -> None:
    rng = np.random.default_rng(6)
    rows = [
        (f"q{k}", m, int(rng.integers(4)), int(rng.random() < p))
        for k in range(60)
        for m, p in (("a", 0.5), ("b", 0.8))
    ]
    heads = ("id", "model", "answer", "correct")
    data = opened("compare", {h: [row[k] for row in rows] for k, h in enumerate(heads)})
    assert data.roles.models == ("a", "b")
    assert data.table.long == ("model", "correct")


def test_one_row_per_system_holds_averages() -> None:
    table = {"system": ["a", "b", "c"], "score": [0.5, 0.6, 0.7]}
    with pytest.raises(InputError, match="averages"):
        opened("score", table, system="system")


def test_named_columns_are_taken_as_they_are() -> None:
    columns = voted()
    columns["Relevance.0"], columns["Relevance.1"] = columns.pop("gpt"), columns.pop("claude")
    columns["Clarity.0"] = columns["Relevance.1"]
    data = opened("score", columns, judges=("Relevance.0", "Relevance.1"), truth="gold")
    assert data.roles.judges == ("Relevance.0", "Relevance.1")


def test_a_glob_leaves_out_the_id_that_it_catches() -> None:
    columns = voted(lf_a=0.9, lf_b=0.8, h=0.9)
    columns["lf_id"] = columns.pop("id")
    data = opened("bound", columns, prediction="h", weak=("lf_*",))
    assert data.roles.weak == ("lf_a", "lf_b")


def weakly(**more: Any) -> Columns:
    """Answers of a classifier called h beside three weak labels, and a count of links."""
    columns = voted(words=("ham", "spam"), h=0.9, lf_a=0.85, lf_b=0.8, lf_c=0.75)
    del columns["gold"]
    links = np.random.default_rng(5).integers(0, 13, 200).tolist()
    return {**columns, "n_links": links, **more}


def test_a_column_called_prediction_is_what_is_bounded() -> None:
    columns = weakly()
    columns["Prediction"] = columns.pop("h")
    data = opened("bound", columns)
    assert data.roles.prediction == ("Prediction",)
    assert data.roles.weak == ("lf_a", "lf_b", "lf_c")
    assert data.how["prediction"] == "by name"


def test_the_caller_wins_over_a_column_called_prediction() -> None:
    columns = weakly()
    columns["prediction"] = columns.pop("lf_a")
    data = opened("bound", columns, prediction="h")
    assert data.roles.prediction == ("h",)
    assert data.roles.weak == ("lf_b", "lf_c", "prediction")


@pytest.mark.parametrize("name", ["prediction", "links"])
def test_without_a_prediction_the_weak_labels_of_a_command_share_its_labels(name: str) -> None:
    columns = weakly()
    columns[name] = columns.pop("n_links")
    question = asked("bound", columns)
    assert question.role == "prediction"
    assert question.candidates == ("h", "lf_a", "lf_b", "lf_c")
    assert question.calls[0] == "--prediction h --weak lf_a,lf_b,lf_c"


def test_three_answers_without_a_truth_are_asked_about() -> None:
    words = [{"m1": "a", "m2": "b"}.get(name, "c") for name in ("m1", "m2", "m3")]
    columns = dict.fromkeys(("gpt", "claude", "llama"), words * 20)
    assert asked("compare", columns).role == "truth"


def test_a_question_names_at_most_two_commands_and_eight_columns() -> None:
    columns = {**voted(), **{f"flag{k}": flags(seed=10 + k) for k in range(12)}}
    question = asked("judge", columns)
    assert len(question.calls) <= 2
    assert "and 4 more" in question.question


def compared(vote: str, words: tuple[Any, Any], key: str) -> Columns:
    """One row per model and item: what was answered, and what is right under some name."""
    rng = np.random.default_rng(8)
    truth = rng.integers(0, 2, 150)
    found: Columns = {"id": [], "model": [], vote: [], key: []}
    for model, right in (("old", 0.7), ("new", 0.85)):
        said = np.where(rng.random(150) < right, truth, 1 - truth)
        found["id"] += [f"q{k}" for k in range(150)]
        found["model"] += [model] * 150
        found[vote] += [words[one] for one in said]
        found[key] += [words[one] for one in truth]
    return found


def test_a_key_with_a_name_of_its_own_is_asked_about_in_a_long_comparison() -> None:
    question = asked("compare", compared("score", ("fail", "pass"), "soll"))
    assert question.calls == ("--truth soll", "--ignore soll")
    assert opened("compare", compared("score", (0, 1), "soll"), truth="soll").roles.truth == "soll"
    assert opened("compare", compared("correct", (0, 1), "soll")).roles.truth is None


def test_answers_in_words_are_held_against_the_truth_whatever_their_column_is_called() -> None:
    assert opened("compare", compared("score", ("ham", "spam"), "truth")).roles.truth == "truth"
    assert opened("compare", compared("correct", (0, 1), "truth")).roles.truth is None


def test_a_score_that_says_what_the_truth_says_is_asked_about() -> None:
    question = asked("compare", compared("score", (0, 1), "truth"))
    assert question.calls == ("--truth truth", "--ignore truth")


def test_one_column_of_votes_beside_numbers_and_names_is_asked_about() -> None:
    columns = {**long_votes(judge="who", vote="says")}
    columns["tier"] = [k % 7 / 10 for k in range(len(columns["says"]))]
    question = asked("judge", columns)
    assert question.calls == ("--judge who --vote says", "--judges says")


def test_true_and_1_are_one_word_in_files_of_text() -> None:
    columns = voted(words=("0", "1"), gpt=0.9, claude=0.85)
    columns["claude"] = ["True" if cell == "1" else "False" for cell in columns["claude"]]
    data = opened("judge", columns)
    assert data.roles.judges == ("gpt", "claude")
    assert set(data.labels("claude", "gold").labels) == {"0", "1"}


def test_of_columns_that_may_all_vote_the_one_that_agrees_best_may_be_the_truth() -> None:
    columns = voted(600, gpt=0.85, claude=0.8, llama=0.75)
    rng = np.random.default_rng(3)
    columns["soll"] = (rng.random(600) < 0.6).astype(int).tolist()  # the truth of `voted`
    del columns["gold"]
    columns["zuletzt"] = columns.pop("llama")
    question = asked("score", columns)
    assert question.calls[1].startswith("--truth soll --judges gpt,claude,zuletzt")


def test_a_command_for_a_sparse_truth_leaves_out_what_agrees_with_nothing() -> None:
    columns = {**voted(600, words=("no", "yes")), "cached": flags(600)}
    columns["soll"] = columns.pop("gold")
    assert asked("judge", columns).calls[0] == "--truth soll --judges gpt,claude"


def test_a_sparse_truth_is_asked_about_before_numbers_beside_marks() -> None:
    columns = {
        **voted(600),
        "system": ["a", "b"] * 300,
        "seconds": [k % 90 / 10 for k in range(600)],
    }
    columns["Mensch"] = columns.pop("gold")
    question = asked("score", columns)
    assert question.calls[0] == "--truth Mensch --judges gpt,claude"
