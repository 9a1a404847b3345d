"""Two hundred malformed tables of tests/fuzz, with the call that goes with each.

The sentence of a refusal is not kept: it may quote bytes, or the words of a reader of files.
"""

from __future__ import annotations

from pathlib import Path

from tests.corpus.run import Pair
from tests.fuzz.tables import Case, case

FILES = 200


def _pair(one: Case) -> Pair:
    def table(folder: Path) -> None:
        (folder / one.name).write_bytes(one.content)

    words = one.arguments
    if "--json" not in words and "--follow" not in words:
        words = (*words, "--json")
    return Pair(
        name=f"fuzz {one.number}",
        verb=words[0],
        steps=(words,),
        table=table,
        stdin=one.name,
        refusal=False,
    )


PAIRS = [_pair(case(number)) for number in range(FILES)]
