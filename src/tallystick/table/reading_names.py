"""Names of columns that decide a role in the rules of reading: the whole list.

A name decides only together with what the column holds (`tallystick.table.reading_rules`). Tables
of battles, preferences and attempts, and files that are matched by what was asked, have names of
their own still.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from tallystick.table.words import PASS_FAIL

ROW_NAMES = ("id", "uid")
"""Names of items that are as often those of rows."""

ROLE_NAMES: Mapping[str, tuple[str, ...]] = {
    "item": (
        *("item", "id", "item_id", "question", "question_id", "prompt_id", "example_id"),
        *("task_id", "doc_id", "uid"),
    ),
    "system": ("system", "model", "model_name", "variant", "run"),
    "judge": ("judge", "rater", "annotator", "worker", "rater_id", "annotator_id", "worker_id"),
    "weight": ("weight", "sample_weight"),
    "old": ("old", "before", "baseline"),
    "new": ("new", "after"),
    "probability": ("probability", "propensity"),
    "round": ("round",),
    "replicate": ("seed", "epoch", "replicate", "attempt", "trial"),
}
"""Role to the whole names, in lower case, that a column of it usually has."""

COUNT_NAMES = ("count", "n", "freq")
"""Names that are asked about: such a column may count the rows, weigh them, or do neither."""

VOTE_TIERS = (
    ("correct", "is_correct", "passed", "score"),
    ("vote", "label", "grade", "rating", "verdict"),
    ("answer", "response", "prediction"),
)
"""Names of the one column of votes of a long table; right or wrong before what was said."""

VOTE_NAMES = frozenset(name for tier in VOTE_TIERS for name in tier)

TRUTH = ("truth", "gold", "human")
"""The truth, always, as a whole name; as a part of one if the labels fit."""

TRUTH_IF_FITTING = (
    *("y", "y_true", "y_test", "gt", "true_label", "label", "answer", "target", "expected"),
    *("actual", "reference", "class", "expert", "reviewer", "annotator"),
)
"""The truth if labels fit and nothing is named like a judge."""

_LOWER = frozenset(
    (
        *("loss", "err", "error", "errors", "wer", "cer", "mae", "mse", "rmse", "perplexity"),
        *("ppl", "latency", "time", "duration", "elapsed", "ms", "seconds", "cost", "rank"),
        *("toxicity", "toxic", "hallucination", "hallucinations", "hallucinated", "regret"),
        *("wrong", "fooled", "unsafe"),
        *(w for pair in PASS_FAIL for w, worth in pair.items() if worth == 0 and len(w) > 2),
    )
)
_NOT_LOWER = frozenset(
    {"free", "no", "non", "not", "without", "reduction", "savings", "saved", "gain"}
)
_PIECE = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[^\W\d_a-zA-Z]+|\d+")


def plain(name: str) -> str:
    """Return a name in lower case, blanks around it left out: how names are compared.

    >>> plain(" Question_ID ")
    'question_id'
    """
    return name.strip().lower()


def parts(name: str) -> tuple[str, ...]:
    """Return the parts of a name: split at signs, blanks and capitals.

    >>> parts("p95 latency (ms)"), parts("logLoss"), parts("GPT-4.human")
    (('p', '95', 'latency', 'ms'), ('log', 'loss'), ('gpt', '4', 'human'))
    """
    return tuple(piece.lower() for piece in _PIECE.findall(name))


def is_truth_name(name: str, *, whole: bool = False) -> bool:
    """Say whether a name says truth, gold or human, as a whole or in one of its parts.

    >>> is_truth_name("Human"), is_truth_name("gold_label"), is_truth_name("humanity")
    (True, True, False)
    """
    return plain(name) in TRUTH or (not whole and bool({*parts(name)} & {*TRUTH}))


def are_alike(names: Sequence[str]) -> bool:
    """Say whether all parts of the names but one are equal.

    >>> are_alike(["gpt_score", "claude_score"]), are_alike(["m1", "m2", "m3"])
    (True, True)
    >>> are_alike(["gpt", "claude"]), are_alike(["gpt_score", "claude"])
    (False, False)
    """
    split = [parts(name) for name in names]
    if len({len(one) for one in split}) != 1 or len(split[0]) < 2 or len(split) < 2:
        return False
    return sum(len({*column}) > 1 for column in zip(*split, strict=True)) == 1


def unlike_name(names: Sequence[str]) -> str | None:
    """Return the one name that is not like the others, which are like one another.

    >>> unlike_name(["Modell1", "Modell2", "answer"]), unlike_name(["gpt_a", "gpt_b", "gpt_c"])
    ('answer', None)
    >>> unlike_name(["gpt", "claude", "llama"]) is None
    True
    """
    if are_alike(names):
        return None
    for odd in names:
        rest = [name for name in names if name != odd]
        if len(rest) > 1 and are_alike(rest):
            return odd
    return None


def lower_word(name: str | None) -> str | None:
    """Return the part of a name by which less is better, None if it does not say so.

    >>> [lower_word(name) for name in ("model_a_loss", "p95 latency (ms)", "exact_match")]
    ['loss', 'latency', None]
    >>> lower_word("error_free"), lower_word("not_toxic"), lower_word("failed")
    (None, None, 'failed')
    """
    words = parts(name or "")
    if {*words} & _NOT_LOWER:
        return None
    return next((word for word in words if word in _LOWER), None)


def shared_lower_word(names: Sequence[str]) -> str | None:
    """Return the word by which less is better in every one of *names*, None if one lacks it.

    >>> shared_lower_word(["old latency (ms)", "new latency (ms)"])
    'latency'
    >>> shared_lower_word(["gpt", "claude_error"]) is None
    True
    """
    found = [lower_word(name) for name in names]
    return found[0] if found and all(found) else None


def is_mark(name: str) -> bool:
    """Say whether a name says that the column holds right or wrong, and no answer.

    >>> is_mark("bert_correct"), is_mark("bert")
    (True, False)
    """
    return bool({*parts(name)} & {"correct", "passed", "score"})


def says_direction(name: str) -> bool:
    """Say whether a part of a name is that of a vote, or says that less is better.

    >>> says_direction("is_correct"), says_direction("wer"), says_direction("depth")
    (True, True, False)
    """
    known = {piece for one in VOTE_NAMES for piece in parts(one)} - {"is"}
    known |= {"accuracy", "acc", "f1", "reward", "win", "pass", "success", "match"}
    return lower_word(name) is not None or bool({*parts(name)} & known)
