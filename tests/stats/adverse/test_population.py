"""These items or new ones."""

from __future__ import annotations

import pytest

from tallystick.errors import InputError
from tallystick.stats.adverse_binary import check_population


def test_other_words_are_refused():
    with pytest.raises(InputError, match="'these' or 'new', got 'items'"):
        check_population("items")
