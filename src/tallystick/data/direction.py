"""Which way a score is better, by its name: of a loss, a cost or a rank less is better.

A table says ``nll``, ``wer`` or ``rank_A`` and nobody says which way is better. Read the wrong way
round, the worst model is named the best. One rule serves every verb: the words of a name are looked
at one by one, a word that turns the meaning round (``error_free``, ``neg_mean_squared_error``,
``tokens_per_second``, ``toxicity_detection_f1``) is heeded, and the caller says in a note what was
taken from which name.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from tallystick.data.detect.names import tokens

__all__ = ["are_places", "lower_word", "names_place", "shared_lower_word"]

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
