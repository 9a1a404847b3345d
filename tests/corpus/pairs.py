"""Every pair, by where it comes from."""

from __future__ import annotations

from tests.corpus import documented, first, formats, fuzzed, options, real
from tests.corpus.run import Pair, question

__all__ = ["PAIRS"]

# The service that is stored in tests/corpus/stored: three streams, a queue of labels half done.
SERVICE = [
    question(f"/v1/streams/{path}")
    for path in (
        "support/results/judge",
        "support/results/judge?by=lang",
        "support/results/judge?slice=lang:de",
        "support/results/judge?window=last:100",
        "support/results/judge?method=majority",
        "support/windows",
        "bots/results/score",
        "bots/results/compare",
        "bots/frames",
        "mail/results/bound",
    )
]

PAIRS: list[Pair] = [
    *first.PAIRS,
    *documented.PAIRS,
    *formats.PAIRS,
    *options.PAIRS,
    *real.PAIRS,
    *SERVICE,
    *fuzzed.PAIRS,
]
