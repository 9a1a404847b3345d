"""What the name of a column hints at. A hint never decides alone: the content of the column has to
agree.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Literal, TypeAlias

import numpy as np
import numpy.typing as npt

Sort: TypeAlias = Literal["any", "judges", "models"]

ITEM_NAMES = frozenset(
    [
        "item",
        "item_id",
        "itemid",
        "id",
        "uid",
        "task",
        "task_id",
        "question",
        "question_id",
        "example",
        "example_id",
        "doc_id",
        "sample_id",
        "prompt_id",
    ]
)
"""How people head the column of items."""

VOTER_NAMES = frozenset(
    [
        "judge",
        "judge_id",
        "worker",
        "worker_id",
        "annotator",
        "annotator_id",
        "rater",
        "rater_id",
        "labeler",
        "labeller",
        "coder",
        "performer",
        "lf",
        "lf_id",
        "lf_name",
        "labeling_function",
        "labelling_function",
        "model",
    ]
)
"""How people head the column that says who voted, in a table with one row per vote."""

VOTE_NAMES = frozenset(
    [
        "vote",
        "label",
        "answer",
        "response",
        "annotation",
        "verdict",
        "prediction",
        "decision",
        "judgment",
        "judgement",
    ]
)
"""How people head the column of votes, in a table with one row per vote."""

TRUTHS = frozenset(
    {
        "truth",
        "true",
        "true_label",
        "gold",
        "gold_label",
        "ground_truth",
        "groundtruth",
        "y_true",
        "y_test",
        "gt",
        "gt_label",
        "gold_standard",
        "gold_answer",
        "true_class",
        "true_answer",
        "correct_answer",
        "correct_label",
        "answer_key",
    }
)
"""Names that say nothing but truth."""

WEAK_TRUTHS = frozenset(
    {
        "y",
        "label",
        "labels",
        "class",
        "target",
        "answer",
        "expected",
        "reference",
        "actual",
        "outcome",
        "solution",
    }
)
"""Names that are given to a truth, and to other things too."""

CONSENSUS = frozenset(
    {
        "human",
        "humans",
        "expert",
        "oracle",
        "consensus",
        "majority",
        "final",
        "adjudicated",
        "verified",
        "audited",
        "winner",
        "resolved",
        "sme",
    }
)
"""Words for a column that could be the truth, or one more judge, or a vote over the others."""

_VOTE_WORDS = frozenset(
    {
        "annotation",
        "decision",
        "grade",
        "judgement",
        "judgment",
        "pref",
        "preference",
        "rating",
        "review",
        "score",
        "verdict",
    }
)

CONFIDENCES = frozenset(
    {
        "conf",
        "confidence",
        "confidences",
        "prob",
        "probs",
        "proba",
        "probability",
        "p",
        "score",
        "logit",
        "logprob",
    }
)
PREDICTIONS = frozenset(
    {"pred", "preds", "prediction", "predictions", "predicted", "yhat", "output", "classifier"}
)
MEASURES = frozenset(
    {
        "token",
        "tokens",
        "latency",
        "cost",
        "costs",
        "price",
        "time",
        "seconds",
        "duration",
        "length",
        "len",
        "chars",
        "characters",
        "bytes",
        "timestamp",
        "date",
        "year",
        "age",
        "count",
        "size",
        "ms",
        "usd",
    }
)
SPLITS = frozenset({"split", "fold", "partition"})
SLICES = frozenset(
    {
        "scenario",
        "dataset",
        "data_set",
        "task",
        "family",
        "api",
        "domain",
        "category",
        "subset",
        "group",
        "topic",
        "language",
        "lang",
        "source",
        "subject",
        "benchmark",
        "region",
        "segment",
        "cluster",
        "document",
        "user",
        "week",
        "month",
        "day",
    }
)
ROUNDS = frozenset({"round", "rounds"})
CRITERIA = frozenset(
    {
        "aspect",
        "attribute",
        "criteria",
        "criterion",
        "criterion_name",
        "dimension",
        "metric",
        "metric_name",
        "quality",
        "rubric",
        "rubric_name",
    }
)
"""How people head the column that says which of several questions a row answers."""
QUALITIES = frozenset(
    {
        "accuracy",
        "clarity",
        "coherence",
        "completeness",
        "conciseness",
        "consistency",
        "correctness",
        "depth",
        "factuality",
        "faithfulness",
        "fluency",
        "groundedness",
        "harmfulness",
        "harmlessness",
        "helpfulness",
        "honesty",
        "informativeness",
        "overall",
        "quality",
        "relevance",
        "safety",
        "style",
        "tone",
        "toxicity",
    }
)
"""Words for what is graded of an output."""
REPLICATE_NAMES = frozenset({"epoch", "replicate", "repeat", "trial", "seed", "run", "attempt"})
"""How people head the column that numbers the runs of an item."""
TEXTS = frozenset(
    {
        "text",
        "prompt",
        "premise",
        "hypothesis",
        "sentence",
        "comment",
        "content",
        "context",
        "question",
        "passage",
    }
)
_FEATURES = frozenset(
    {
        "x",
        "f",
        "q",
        "v",
        "feature",
        "feat",
        "var",
        "variable",
        "col",
        "column",
        "attr",
        "attribute",
        "dim",
        "symptom",
        "question",
        "has",
        "is",
        "was",
    }
)
_FLAGS = frozenset({"is", "has", "had", "was", "are", "contains", "flag", "flagged", "flags"})
_NUMBERS_OF = frozenset({"n", "num", "nb"})
_SUMMARIES = frozenset(
    {
        "agreement",
        "average",
        "avg",
        "delta",
        "diff",
        "difference",
        "entropy",
        "gap",
        "kappa",
        "margin",
        "max",
        "mean",
        "median",
        "min",
        "p_value",
        "pvalue",
        "sd",
        "similarity",
        "std",
        "stdev",
        "sum",
        "total",
        "variance",
    }
)
_FACTS = frozenset(
    {
        "attempt",
        "attempts",
        "batch",
        "complexity",
        "conf",
        "confidence",
        "difficulty",
        "epoch",
        "hardness",
        "importance",
        "level",
        "max_points",
        "max_score",
        "order",
        "points",
        "position",
        "prob",
        "probability",
        "rank",
        "repeat",
        "replicate",
        "retries",
        "row",
        "row_number",
        "run",
        "seed",
        "shots",
        "temperature",
        "timeout",
        "top_k",
        "top_p",
        "trial",
        "truncated",
    }
)
"""Names of what is known about a row before anybody votes or answers."""
_IDENTIFIERS = frozenset({"id", "ids", "uuid", "guid", "idx"})
_WEIGHTS = frozenset(
    {"sample_weight", "sampling_weight", "survey_weight", "importance_weight", "row_weight"}
)
_COUNTS = frozenset({"count", "counts", "n", "freq", "frequency"})
_ITEMS = ITEM_NAMES | {"uuid", "guid", "index", "key", "row_id", "qid"}
_JUDGES = frozenset(
    {
        "judge",
        "annotator",
        "rater",
        "worker",
        "coder",
        "labeler",
        "labeller",
        "reviewer",
        "grader",
        "crowd",
        "vote",
        "lf",
        "weak",
        "llm",
        "judges",
        "voter",
    }
)
_MODELS = frozenset(
    {
        "model",
        "gpt",
        "gpt2",
        "gpt3",
        "gpt4",
        "gpt35",
        "chatgpt",
        "claude",
        "llama",
        "llama2",
        "llama3",
        "gemini",
        "gemma",
        "mistral",
        "mixtral",
        "qwen",
        "falcon",
        "bert",
        "roberta",
        "deberta",
        "xlnet",
        "electra",
        "albert",
        "bart",
        "deepseek",
        "palm",
        "command",
        "phi",
        "vicuna",
        "alpaca",
        "t5",
        "davinci",
        "chatglm",
        "chatglm2",
        "pythia",
        "wizardlm",
        "grok",
        "oasst",
        "openbuddy",
        "baize",
        "hermes",
        "openhermes",
        "luminous",
        "yi",
        "nous",
        "fusechat",
        "ultralm",
        "minichat",
        "instruct",
        "svm",
        "xgboost",
        "resnet",
        "api",
    }
)
_MARKS = frozenset(
    {"correct", "right", "iscorrect", "accurate", "pass", "passed", "score", "acc", "ok", "hit"}
    | {"success", "solved", "em", "match", "won", "win"}
)
_ERAS = {
    **dict.fromkeys(("old", "before", "prev", "previous", "earlier"), (0, 0)),
    **dict.fromkeys(("new", "after", "curr", "current", "later"), (0, 1)),
}


def plain(name: str) -> str:
    """Return *name* in lower case with underscores for blanks and signs.

    >>> plain(" True-Label ")
    'true_label'
    """
    return re.sub(r"[^a-z0-9]+", "_", name.strip().lower()).strip("_")


def tokens(name: str) -> tuple[str, ...]:
    """Return the words and numbers of *name*.

    >>> tokens("pred_2020_real"), tokens("ChatGPT-0301/CoT")
    (('pred', '2020', 'real'), ('chatgpt', '0301', 'cot'))
    """
    return tuple(plain(name).split("_"))


def is_item(name: str) -> bool:
    """Return whether *name* is one that items are usually called by."""
    return plain(name) in _ITEMS


def is_identifier(name: str) -> bool:
    """Return whether *name* ends as names of keys do, whatever they are the keys of.

    >>> is_identifier("annotator_id"), is_identifier("idea")
    (True, False)
    """
    return tokens(name)[-1] in _IDENTIFIERS


def is_feature(name: str) -> bool:
    """Return whether *name* begins as the columns of facts often do: ``x1``, ``q_07``,
    ``has_link``.

    >>> is_feature("x1"), is_feature("has_link"), is_feature("w1"), is_feature("lf_x")
    (True, True, False, False)
    """
    return _without_digits(tokens(name)[0]) in _FEATURES


def fact(name: str) -> str | None:
    """Return what a column describes that is named like a fact about its row, None for any other.

    >>> fact("is_multilingual"), fact("n_shots"), fact("avg"), fact("Unnamed: 0"), fact("seed")
    ('a flag', 'a number of things', 'a summary', 'the index of a frame', 'a fact about the row')
    >>> fact("gpt_flagged"), fact("mean_pool_model"), fact("isabelle")
    (None, None, None)
    """
    first, *rest = tokens(name)
    if first == "unnamed":
        return "the index of a frame"
    if first in _FLAGS and (rest or first.startswith("flag")):
        return "a flag"
    if first in _NUMBERS_OF and rest:
        return "a number of things"
    if plain(name) in _SUMMARIES:
        return "a summary"
    if plain(name) in ("weight", "weights"):
        return "a weight: add --weight to use it"
    return "a fact about the row" if plain(name) in _FACTS else None


def is_truth(name: str) -> bool:
    """Return whether *name* says truth and nothing else."""
    return plain(name) in TRUTHS


def is_mark(name: str) -> bool:
    """Return whether *name* says that the column holds right or wrong, and no answer.

    >>> is_mark("bert_correct"), is_mark("bert")
    (True, False)
    """
    return bool(set(tokens(name)) & _MARKS)


def may_be_truth(name: str) -> bool:
    """Return whether *name* can mean the truth or one more judge: ``human_label``, ``expert``.

    >>> [may_be_truth(name) for name in ("human_label", "Expert", "label", "gpt_label", "human_2")]
    [True, True, True, False, False]
    """
    words = set(tokens(name))
    known = CONSENSUS | WEAK_TRUTHS
    return len(plain(name)) > 1 and bool(words & known) and words <= known | _VOTE_WORDS


def is_weight(name: str) -> bool:
    """Return whether *name* says that the column weighs rows (a plain ``weight`` may be a
    person's).
    """
    return plain(name) in _WEIGHTS


def is_count(name: str) -> bool:
    """Return whether *name* may say how many rows a row stands for.

    >>> is_count("n"), is_count("Count"), is_count("n_tokens")
    (True, True, False)
    """
    return plain(name) in _COUNTS


def count_question(name: str) -> str:
    """Return the question about a column that is named like a count."""
    return (
        f"does column {name!r} say how many identical rows a row stands for (--count {name}), is it"
        f" a sampling weight (--weight {name}), or a mere fact (--ignore {name})?"
    )


def are_voters(columns: tuple[str, ...], of: Sort = "any") -> bool:
    """Return whether three in four names are those of judges (annotators, labelling functions),
    models, or either.

    >>> are_voters(("lf_0", "lf_1")), are_voters(("smoker", "diabetic")), are_voters(("gpt-4", "claude"))
    (True, False, True)
    >>> are_voters(("gpt-4", "claude"), "judges"), are_voters(("pred_a", "pred_b"), "models")
    (False, False)
    """
    known = {
        "any": _JUDGES | _MODELS | PREDICTIONS,
        "judges": _JUDGES,
        "models": _MODELS - _JUDGES,
    }[of]
    other = {"any": frozenset[str](), "judges": frozenset[str](), "models": _JUDGES | PREDICTIONS}[
        of
    ]
    hits = 0
    for name in columns:
        words = {*tokens(name), *map(_without_digits, tokens(name))}
        hits += bool(words & known) and not words & other
    return 4 * hits >= 3 * len(columns) > 0


def family(name: str) -> str:
    """Return what columns of one family have in common in their names.

    >>> family("w07"), family("lr_f22+f9"), family("lf_terms_any"), family("gpt-4")
    ('w#', 'lr_', 'lf_', 'gpt-')
    """
    head = re.match(r"[^\W\d_]+[_\-./:]", name)
    return head[0] if head else re.sub(r"\d+", "#", name)


def era(name: str) -> tuple[int, int] | None:
    """Return the kind of time that *name* speaks of and its place in it, or None.

    >>> era("pred_old") < era("pred_new"), era("pred_2020_real") < era("pred_2021_simulated"), era("gpt-4")
    (True, True, None)
    """
    found = {_ERAS[word] for word in tokens(name) if word in _ERAS}
    found |= {(1, int(word)) for word in tokens(name) if re.fullmatch(r"(19|20)\d\d", word)}
    return found.pop() if len(found) == 1 else None


def _without_digits(word: str) -> str:
    return word.rstrip("0123456789")


# Which way a score is better, by its name: of a loss, a cost or a rank less is better.
#
# A table says ``nll``, ``wer`` or ``rank_A`` and nobody says which way is better. Read the wrong
# way round, the worst model is named the best. One rule serves every verb: the words of a name are
# looked at one by one, a word that turns the meaning round (``error_free``,
# ``neg_mean_squared_error``, ``tokens_per_second``, ``toxicity_detection_f1``) is heeded, and the
# caller says in a note what was taken from which name.


Floats = npt.NDArray[np.float64]


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_LOWER = _words(
    # what it takes
    "latency delay lag duration time runtime elapsed walltime ttft tpot cost costs price prices"
    " spend expense expenses fee fees emissions energy kwh wh"
    # how far off
    " error errors err loss losses logloss entropy perplexity ppl bpb bpc nll nlls wer cer ter"
    " eer mae mse"
    " rmse nrmse rmsle msle mape smape brier ece crps fid lpips distance distances divergence kl"
    " kld jsd wasserstein regret residual residuals deviation penalty penalties fpr fnr"
    # what should not happen
    " toxicity toxic hallucination hallucinations hallucinated hallucinates hallucinating"
    " hallucinate violation violations violated violates fail fails failed failing failure failures"
    " mistake mistakes mistaken bug bugs defect defects crash crashes crashed timeout timeouts"
    " harm harms harmful harmfulness unsafe incorrect wrong inaccurate misclassified inaccuracies"
    " complaint complaints escalation escalations jailbreak jailbreaks jailbroken leak leaks leaked"
    " fabricated fabrication fabrications contradiction contradictions omission omissions"
    " flagged issue issues problem problems severity pii bias biased miss misses missed retry"
    " retries anomaly anomalies offensive hateful plagiarism plagiarised plagiarized ungrounded"
    " unsupported unfaithful irrelevant nonsense gibberish vulnerability vulnerabilities"
)
"""Words of which less is better, wherever they stand in a name."""

_UNITS = _words("ms msec sec secs seconds minutes usd eur dollars cents mb mib gb gib joules")
"""Units of what an answer costs; not after ``per`` (tokens per second), nor before a name."""

_PLACES = _words("rank ranks ranked place position")
"""Words for a place in an order, of which 1 is the best; first or last in a name."""

_LIKELIHOODS = _words(
    "likelihood loglikelihood loglik ll logprob logprobs logp log_likelihood probability"
)
"""More is better, but less of their negative."""

_TURNED = _words("neg negative minus inverse inverted inv")
"""Words before a measure that turn it round, with what is between them (`_BETWEEN`)."""
_BETWEEN = _words("mean avg average median max root squared absolute log rms relative")
_NOT = _words("no non not without anti zero never")
"""Words that turn the next one round."""

_MORE = _words(
    # measures of how well something is done, whatever it is done about
    "accuracy acc f1 auc auroc auprc precision recall kappa correlation corr agreement coverage"
    " reciprocal percentile correct correctness success successes pass passed right safe quality"
    " robustness resistance safety compliance"
    # the thing is prevented, found or spared
    " free avoided avoidance avoids prevented prevention detection detected detector detecting"
    " found caught fixed resolved solved solving corrected correction recovery"
    " reduction reduced saved saving savings"
    " handling tolerance efficiency effective effectiveness throughput series"
    # money and time that are wanted
    " revenue profit profits earnings income sales gain gains reward rewards win wins engagement"
    " watch dwell uptime"
)
"""Words beside which a name no longer says that less is better."""

_FALSE = _words("positive positives negative negatives alarm alarms discovery acceptance rejection")
_BITS_OF = _words("byte bytes char chars character characters token tokens word words dim")
_AFTER_A_PLACE = _words("score scores quality eval gpt zephyr llama vicuna bias biserial")
_FEWEST = 5
"""Rows that all hold the same places, from which on this is no accident."""


def lower_word(name: str | None) -> str | None:
    """Return the words in *name* of which less is better, None if it does not say so.

    Examples
    --------
    >>> [lower_word(name) for name in ("model_a_nll", "p95 latency (ms)", "logLoss", "exact_match")]
    ['nll', 'latency', 'loss', None]
    >>> [lower_word(name) for name in ("error_free", "neg_mean_squared_error", "tokens_per_second")]
    [None, None, None]
    >>> lower_word("negative log-likelihood"), lower_word("false_positive_rate")
    ('negative log likelihood', 'false positive')
    """
    if not name:
        return None
    # A capital inside a word begins a new one: errorRate, logLoss.
    words = tokens(re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name))
    if set(words) & _MORE:
        return None
    for k, word in enumerate(words):
        before, after = words[max(0, k - 1) : k], words[k + 1 : k + 2]
        if word == "false" and set(after) & _FALSE:
            return f"false {after[0]}"
        turn = _turned(words, k)
        if word in _LIKELIHOODS and turn is not None:
            return " ".join(words[turn : k + 1])
        if word == "bits" and after == ("per",) and set(words[k + 2 : k + 3]) & _BITS_OF:
            return "bits per " + words[k + 2]
        unit = word in _UNITS and before != ("per",) and after != ("marco",)
        if word in _LOWER or unit:
            return word if turn is None else None
        if _is_place(words, k):
            return word
    return None


def _turned(words: Sequence[str], k: int) -> int | None:
    """Return the place of the word that turns word *k* round, as in ``neg_mean_squared_error``."""
    if k and words[k - 1] in _NOT:
        return k - 1
    while k and words[k - 1] in _BETWEEN:
        k -= 1
    return k - 1 if k and words[k - 1] in _TURNED else None


def _is_place(words: Sequence[str], k: int) -> bool:
    """Say whether word *k* means a place in an order, and not ``re-rank`` or ``low_rank_a``."""
    if words[k] not in _PLACES or k not in (0, len(words) - 1):
        return False
    beside = {*words[:k], *words[k + 1 :]}
    return not beside & (_AFTER_A_PLACE | _TURNED | _NOT | {"re", "low", "to", "market"})


def shared_lower_word(names: Sequence[str]) -> str | None:
    """Return the word by which less is better in every one of *names*, None if one lacks it.

    >>> shared_lower_word(["old latency (ms)", "new latency (ms)"])
    'latency'
    >>> shared_lower_word(["gpt_errors", "claude_error"]), shared_lower_word(["gpt", "claude_error"])
    ('errors', None)
    """
    found = [lower_word(name) for name in names]
    return found[0] if found and all(found) else None


def names_place(word: str | None) -> bool:
    """Say whether *word* is one for a place in an order (`lower_word` returned it).

    >>> names_place("rank"), names_place("latency")
    (True, False)
    """
    return word in _PLACES


def are_places(scores: Floats, *, first: int = 1) -> bool:
    """Say whether every row of *scores* holds the places first, first + 1, … of its columns.

    Ties share the mean of their places, so that each row adds up to the same sum; a row with a
    blank decides nothing. Fewer than five such rows decide nothing either.

    Examples
    --------
    >>> are_places(np.array([[1, 3, 2], [2, 1, 3], [1, 2, 3], [3, 2, 1], [1.5, 1.5, 3]]))
    True
    >>> are_places(np.array([[1, 3, 3], [2, 1, 3], [1, 2, 3], [3, 2, 1], [1, 2, 3]]))
    False
    """
    whole = np.asarray(scores, dtype=float)
    whole = whole[~np.isnan(whole).any(axis=1)]
    if len(whole) < _FEWEST or whole.shape[1] < 2:
        return False
    k = whole.shape[1]
    last = first + k - 1
    if whole.min() < first or whole.max() > last:
        return False
    halves = bool((2 * whole == np.round(2 * whole)).all())
    return halves and bool((whole.sum(axis=1) == k * (first + last) / 2).all())
