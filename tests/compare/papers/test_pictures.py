"""The chapter's pictures on the theory page are what the code draws today."""

from pathlib import Path

import pytest

from tallystick.report import Plot
from tallystick.verbs.compare import coin_figure, trade_off_figure

PICTURES = Path(__file__).resolve().parents[3] / "docs" / "pictures"
DRAWN = {
    "coins-1000": lambda: coin_figure(1000),
    "coins-10000": lambda: coin_figure(10_000),
    "trade-off": lambda: trade_off_figure(models=(2, 30, 1000)),
}


@pytest.mark.parametrize("name", DRAWN)
def test_the_pictures_of_the_chapter_are_fresh(name):
    committed = (PICTURES / f"compare-{name}.svg").read_text(encoding="utf-8")
    assert Plot(DRAWN[name]()).svg().strip() == committed.strip(), (
        "run: python -m benchmarks.truth.compare --write"
    )
