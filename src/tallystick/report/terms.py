"""What the words on a page mean, for those that a reader may not know."""

from __future__ import annotations

from collections.abc import Mapping

__all__ = ["TERMS", "terms_in"]

TERMS: Mapping[str, str] = {
    "interval": (
        "A range for a number that is not known exactly. Of 100 such 95 % intervals, about 95"
        " contain the true value."
    ),
    "settled": (
        "The interval of the difference does not contain zero, after adjusting for all pairs."
    ),
    "corrected": (
        "What people would say of all outputs: the judges' votes on all of them, corrected by those"
        " that people graded."
    ),
    "exact": (
        "The interval contains the true value at least as often as it says, for any amount of data."
    ),
    "approximate": (
        "The interval contains the true value about as often as it says. How often was measured in"
        " simulations, and is published."
    ),
    "anytime": (
        "The interval holds at every moment at once: you may look and stop whenever you like."
    ),
    "tier": "Neighbours on the board, cut only where everyone above beats everyone below.",
    "rank": "The places that a model may truly hold, for all models at once.",
    "points": "Differences between percentages: from 80 % to 84 % is 4 points.",
    "threshold": "The score from which on the classifier says yes.",
    "label model": "A way to turn weak votes into a probability for each label.",
    "prevalence": "How common a label truly is.",
    "alarm": "A test that fired. It proves what it says and nothing more.",
    "stratum": "A part of the items that is sampled on its own.",
}
"""Term to meaning, in the order of a page."""


def terms_in(text: str) -> dict[str, str]:
    """Return the terms that occur in *text*, with their meaning.

    >>> list(terms_in("86.3 % [84.9, 87.6], an exact interval"))
    ['interval', 'exact']
    """
    low = text.lower()
    return {term: meaning for term, meaning in TERMS.items() if term in low}
