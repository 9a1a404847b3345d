"""One verdict over all that applies, from tables that were generated for each question."""

import json

import pyarrow as pa
import pytest

from tallystick.errors import InputError
from tallystick.registry import summary
from tallystick.report import page_of
from tallystick.results import Figure, Needed, Result, to_json
from tallystick.table import scan
from tallystick.verbs.audit import AuditResult, audit
from tallystick.verbs.audit.answer import Skipped, concluded
from tallystick.verbs.compare.ranking import SHARES
from tests.generated import generate


def table_of(question, seed=0):
    return scan(
        pa.table(
            {name: pa.array(list(values)) for name, values in generate(question, rng=seed).items()}
        )
    )


@pytest.mark.parametrize(
    ("question", "verbs"),
    [
        ("compare", ["compare", "judge"]),
        ("judge", ["compare", "judge"]),
        ("bound", ["compare", "judge"]),
        ("shift", ["compare", "judge"]),
    ],
)
def test_all_that_applies_is_run_and_nothing_else(question, verbs):
    result = audit(table_of(question))
    assert [part.verb for part in result.sections] == verbs
    assert result.skipped == ()
    assert all(part.opening.answer in result.verdict for part in result.sections)
    assert [row["answer"] for row in result.rows()] == [part.verdict for part in result.sections]
    assert json.loads(to_json(result.to_dict()))["sections"][0]["verb"] == verbs[0]
    assert result.figures()[: len(verbs)] == tuple(part.figures()[0] for part in result.sections)


def test_what_seemed_to_apply_but_cannot_answer_says_why():
    votes = {
        "w1": ["a", "b", None, None] * 30,
        "w2": [None, None, "a", "b"] * 30,
        "gold": ["a", "b"] * 60,
    }
    result = audit(scan(pa.table(votes)), judges=("w1", "w2"))
    assert [part.verb for part in result.sections] == ["judge"]
    assert [part.verb for part in result.skipped] == ["compare"]
    assert "no item has an answer of every model" in result.skipped[0].reason
    assert [row["decision"] for row in result.rows()][-1] == "not answered"


def test_items_named_like_others_but_split_in_parts_do_not_stop_a_comparison():
    answers = {
        "gold": ["a", "b"] * 60,
        "gpt": ["a", "b", "b", "b"] * 30,
        "claude": ["a", "b", "b", "a"] * 30,
    }
    parts = {"id": [i // 2 for i in range(120)], "split": ["train", "test"] * 60}
    found = audit(scan(pa.table({**parts, **answers})))
    assert [part.verb for part in found.sections] == ["judge"]
    assert "claude" in found.skipped[0].reason


def test_an_open_question_is_an_error_that_names_the_option():
    three = {"gpt": [0, 1] * 50, "claude": [0, 0, 1, 1] * 25, "llama": [1, 1, 1, 0] * 25}
    with pytest.raises(InputError, match="--models gpt,claude,llama"):
        audit(scan(pa.table(three)))


def test_nothing_to_say_is_an_error_with_the_reasons():
    with pytest.raises(InputError, match="judge: too few"):
        concluded([], [Skipped("judge", "too few")])


class Answer(Result):
    verb = "judge"

    def figures(self):
        return (Figure("curve", self.verdict, {"x": [1], "y": [1]}, {"x": "x", "y": "y"}),) * 2


@pytest.mark.parametrize(
    ("decisions", "decision"),
    [
        (["decided", "decided"], "decided"),
        (["decided", "unknowable"], "undecided"),
        (["unknowable"], "unknowable"),
        (["undecided", "decided"], "undecided"),
    ],
)
def test_it_is_decided_only_if_every_section_is(decisions, decision):
    needs = [Needed(None, "rounds"), Needed(40, "labels")]
    parts = [
        Answer(verdict="So.", decision=d, n_items=7, needed=n)
        for d, n in zip(decisions, needs, strict=False)
    ]
    result = concluded(parts, [])
    assert result.decision == decision
    assert result.verdict == " ".join(["So."] * len(parts))
    if decision == "undecided":
        assert result.needed == needs[1]
    assert len(result.figures()) == 2 * len(parts)


def test_what_was_read_on_top_then_the_verdict_then_sections():
    result = audit(table_of("compare"))
    assert isinstance(result, AuditResult)
    lines = result.summary().splitlines()
    assert lines[0] == result.verdict
    assert str(result).splitlines()[0] == result.reading.line()
    assert lines.index(summary("compare")) < lines.index(summary("judge"))
    assert "(truth)" in lines[0] or "(truth)" in result.reading.line()


def test_equal_weights_change_no_section_and_counts_change_all():
    few = {name: list(values[:400]) for name, values in generate("shift", rng=0).items()}
    plain, heavy = (audit(scan(pa.table({**few, **more}))) for more in ({}, {"weight": [2] * 400}))
    judge, same = (next(p for p in one.sections if p.verb == "judge") for one in (plain, heavy))
    assert {**judge.to_dict(), "reading": {}} == {**same.to_dict(), "reading": {}}
    table = scan(pa.table({**few, "n": [2] * 400}))
    twice = audit(table, count="n")
    assert next(p for p in twice.sections if p.verb == "judge").n_items == 800
    with pytest.raises(InputError, match="--count n"):
        audit(table)


def test_bounds_that_only_the_data_suggest_are_an_assumption():
    scores = {"gpt": [0.2, 0.5, 0.9, 0.4] * 30, "claude": [0.3, 0.4, 1.0, 0.1] * 30}
    [part] = audit(scan(pa.table(scores)), models=("*",)).sections
    assert SHARES in part.assumptions
    marks = {"gpt": [0, 1, 1, 0] * 30, "claude": [1, 1, 0, 0] * 30}
    [part] = audit(scan(pa.table(marks)), models=("*",)).sections
    assert SHARES not in part.assumptions


def test_every_question_is_a_part_with_its_own_table_on_the_page():
    result = concluded(
        audit(table_of("compare")).sections,
        [Skipped("shift", "no <old> answers")],
    )
    assert [(part.name, part.result is None) for part in result.result_parts()] == [
        ("compare", False),
        ("judge", False),
        ("shift", True),
    ]
    text = page_of(result).replace("\xa0", " ")
    assert (
        text.index(">large is the best of four models", text.index("<h1"))
        < text.index(result.result_parts()[0].short.replace("\xa0", " "))
        < text.index('<section class="section"')
    )
    parts = text.split('<section class="section" aria-labelledby="')[1:]
    assert [("<table" in part) for part in parts] == [True, True, False]
    assert "Not answered: no &lt;old&gt; answers" in text
    assert [
        text.index(part.heading, text.index('<section class="section"'))
        for part in result.result_parts()
    ] == sorted(
        text.index(part.heading, text.index('<section class="section"'))
        for part in result.result_parts()
    )


def test_rounds_are_read_in_the_spelling_that_coercion_gives():
    gold = ["yes", "no", "no", "yes"] * 10
    table = {
        "round": [1] * 20 + [2] * 20,
        "gold": gold,
        "model_a": gold,
        "model_b": ["Yes", "NO"] * 20,
    }
    told = audit(
        scan(pa.table(table)),
        truth="gold",
        round="round",
        models=("model_a", "model_b"),
        coerce=True,
    )
    rounds = next(part for part in told.sections if part.verb == "dynamic").rounds
    # one model never errs, the other on half of the items
    assert [each.accuracy for each in rounds] in ([0.5, 0.5], [1.0, 1.0])


def test_slices_are_answered_only_if_a_column_of_slices_is_named():
    votes = {
        "a": [0, 1, 1, 0] * 40,
        "b": [0, 1, 0, 0] * 40,
        "gold": [0, 1, 1, 1] * 40,
        "lang": ["en", "de"] * 80,
    }
    roles = {"truth": "gold", "judges": ("a", "b")}
    sliced, plain = audit(votes, by="lang", **roles), audit(votes, ignore=["lang"], **roles)
    assert [part.label for part in sliced.sections[0].slices] == ["de", "en"]
    assert plain.sections[0].slices == ()


def attempts(**more):
    """A log as a campaign keeps it: who tried what in which round, and what came of it."""
    people, rounds = [f"w{k % 12}" for k in range(120)], [1 + k // 60 for k in range(120)]
    return {
        "annotator": people,
        "round": rounds,
        "model": [f"bert-{r}" for r in rounds],
        "item": [f"i{k}" for k in range(120)],
        **more,
        "validated": ["yes" if k % 4 == 0 else "" for k in range(120)],
    }


def test_a_log_of_attempts_is_answered_by_the_verb_that_reads_it():
    found = audit(attempts(model_wrong=[int(k % 3 == 0) for k in range(120)]))
    assert [part.verb for part in found.sections] == ["dynamic"]


def test_attempts_without_an_outcome_are_refused_with_the_option_that_names_it():
    with pytest.raises(InputError, match="call it fooled"):
        audit(attempts(answer=["x", "y", "z"] * 40))


def test_columns_that_the_caller_names_are_not_overruled_by_the_names_of_others():
    log = attempts(model_wrong=[int(k % 3 == 0) for k in range(120)])
    votes = {"a": [k % 2 for k in range(120)], "b": [k % 3 // 2 for k in range(120)]}
    result = audit({**log, **votes}, judges=("a", "b"), ignore=("model", "annotator"))
    assert "judge" in [part.verb for part in result.sections]
