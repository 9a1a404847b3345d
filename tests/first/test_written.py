"""Tables whose meaning was written down before they were tried: what a first command makes of them."""

from __future__ import annotations

from collections import Counter

import pytest

from tests.first.outcomes import ASKED, PASTED, REFUSED, RIGHT, WRONG, outcome
from tests.first.written import FILES, written


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_tables_of_known_meaning_are_read_right_or_asked_about(path, tmp_path) -> None:
    found: dict[str, tuple[str, str]] = {}
    for k, table in enumerate(written(path)):
        folder = tmp_path / str(k)
        folder.mkdir()
        found[table.name] = outcome(table, folder)
    counts = Counter(kind for kind, _ in found.values())
    odd = {name: said for name, said in found.items() if said[0] in (WRONG, REFUSED, ASKED)}
    assert counts[WRONG] <= 0.012 * len(found), odd
    assert counts[REFUSED] <= 0.02 * len(found), odd
    assert counts[RIGHT] >= 0.60 * len(found), counts
    assert counts[RIGHT] + counts[PASTED] >= 0.93 * len(found), odd
