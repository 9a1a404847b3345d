"""Grades of which less is better: hallucinated yes/no, the number of errors.

Everything in ``score`` calls the higher score better. Such grades are therefore turned round as
they are read, and a note says so: 22 % hallucinated becomes 78 % not hallucinated.
"""

from __future__ import annotations

from collections.abc import Sequence

from tallystick.data import Data
from tallystick.data.detect.names import tokens
from tallystick.data.direction import lower_word
from tallystick.io import Table, identifier
from tallystick.score.grades import number_of
from tallystick.score.usual_scale import spoken_cells
from tallystick.values import Label

__all__ = ["less_is_better", "turned_note", "unclear_measure", "unclear_note"]

_NEUTRAL = frozenset(("yes", "no", "y", "n", "true", "false", "t", "f"))
"""Words that are good or bad by the name of their column alone. Pass and unsafe speak for
themselves."""


_CRITERION = frozenset(("criterion", "criteria", "metric", "dimension", "aspect", "rubric"))

_CLEAR = frozenset(
    {
        *("score", "scores", "grade", "grades", "rating", "ratings", "rate", "rated", "stars"),
        *("label", "labels", "vote", "votes", "judge", "judges", "judgement", "judgment"),
        *("verdict", "eval", "evaluation", "evaluator", "result", "results", "answer", "answers"),
        *("response", "output", "human", "annotator", "gold", "llm", "model", "system", "value"),
        *("pass", "passed", "passes", "correct", "correctness", "right", "accurate", "accuracy"),
        *("good", "ok", "quality", "overall", "success", "solved", "resolved", "win", "wins"),
        *("helpful", "helpfulness", "safe", "safety", "relevant", "relevance", "faithful"),
        *("faithfulness", "grounded", "groundedness", "coherent", "coherence", "fluent"),
        *("fluency", "complete", "completeness", "clarity", "clear", "consistent", "consistency"),
        *("honest", "honesty", "harmless", "harmlessness", "useful", "usefulness", "style"),
        *("tone", "polite", "politeness", "factual", "factuality", "truthful", "truthfulness"),
        *("approved", "accept", "accepted", "acceptable", "supported", "compliant", "compliance"),
        *("is", "was", "has", "of", "the", "a", "by", "on", "for", "per", "v1", "v2", "1", "2"),
        *("thumbs", "up", "like", "liked", "likes", "preference", "preferred", "f1", "bleu"),
        *("satisfaction", "satisfied", "instruction", "following", "adherence", "match", "em"),
    }
)
"""Words of which everybody knows that more is better, or that say nothing about it."""


def less_is_better(data: Data) -> str | None:
    """Return the word by which less is better; None where no name says so.

    The name of the human grades decides. Where it is silent, all judges have to agree.

    Examples
    --------
    >>> from tallystick.data import read
    >>> table = {"system": ["a", "b"], "gpt": ["yes", "no"], "hallucinated": ["no", "yes"]}
    >>> less_is_better(read(table, judges=("gpt",), truth="hallucinated", system="system"))
    'hallucinated'
    >>> table["hallucinated"] = ["fail", "pass"]  # a pass is a pass, whatever the column is called
    >>> less_is_better(read(table, judges=("gpt",), truth="hallucinated", system="system")) is None
    True
    """
    truth = data.roles.truth
    named = {name: lower_word(name) for name in data.roles.columns("judges", "truth")}
    word = named.pop(truth, None) if truth is not None else None
    if word is None and named and all(named.values()):
        word = next(iter(named.values()))
    if word is None:
        word = lower_word(_only_criterion(data))
    return word if word is not None and _are_neutral(data) else None


def unclear_measure(data: Data) -> str | None:
    """Return what all columns of grades are named after, if it does not say which way is better.

    Examples
    --------
    >>> from tallystick.data import read
    >>> table = {"system": ["a", "b"], "refusal_gpt": ["yes", "no"], "refusal_human": ["no", None]}
    >>> unclear_measure(
    ...     read(table, judges=("refusal_gpt",), truth="refusal_human", system="system")
    ... )
    'refusal'
    """
    columns = data.roles.columns("judges", "truth")
    if len(columns) < 2:
        return None
    shared = [
        word
        for word in tokens(columns[0])
        if word not in _CLEAR and all(word in tokens(name) for name in columns[1:])
    ]
    named = " ".join(shared) or _only_criterion(data)
    if named and not set(tokens(named)) <= _CLEAR and _are_neutral(data):
        return named
    return None


def unclear_note(measure: str) -> str:
    """Say which way is taken for the better one, and how to say otherwise."""
    return (
        f"a higher grade is taken for the better one; if less {measure!r} is better, add"
        " --lower-is-better"
    )


def _only_criterion(data: Data) -> str | None:
    """Return the criterion by which a table grades, if a column names one and the same for all."""
    if not isinstance(data.held, Table):
        return None
    for name in data.held.columns:
        if name.strip().casefold() in _CRITERION and name not in data.roles.columns():
            cell = identifier(name)
            found = data.held.query(
                f"select distinct {cell} from rows where {cell} is not null limit 2"
            )
            return str(found[0][0]) if len(found) == 1 else None
    return None


def _are_neutral(data: Data) -> bool:
    cells = spoken_cells(data, data.roles.columns("judges", "truth"))
    return all(_is_neutral(labels) for labels in cells.values())


def turned_note(word: str | None) -> str:
    """Say that grades were turned round, by which word, and how to say otherwise."""
    if word is None:
        return "all grades are turned round, because lower is better: a higher score is better here"
    return (
        f"lower is better, by the name {word!r}: all grades are turned round, so that a higher"
        f" score means less {word!r}. Add --higher-is-better if it is not so"
    )


def _is_neutral(labels: Sequence[Label]) -> bool:
    return all(
        isinstance(label, bool)
        or str(label).strip().casefold() in _NEUTRAL
        or number_of(label) is not None
        for label in labels
    )
