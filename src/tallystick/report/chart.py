"""From a figure to a chart, through the registry of kinds."""

from __future__ import annotations

from typing import TypeAlias

import altair as alt

from tallystick.report.kinds import kind_of
from tallystick.report.shorten import shorten
from tallystick.report.theme import THEMES, Mode
from tallystick.results import Figure

__all__ = ["Chart", "chart"]

Chart: TypeAlias = alt.TopLevelMixin


def chart(figure: Figure, *, mode: Mode = "light") -> Chart:
    """Draw *figure*; of a leaderboard of thousands the first rows, and the title says so.

    Examples
    --------
    >>> from tallystick.results import Figure
    >>> columns = {"model": ["a", "b"], "score": [0.7, 0.6], "lo": [0.6, 0.5], "hi": [0.8, 0.7]}
    >>> roles = {"name": "model", "x": "score", "low": "lo", "high": "hi"}
    >>> chart(Figure("forest", "Scores", columns, roles)).to_dict()["title"]["text"]
    'Scores'
    """
    theme = THEMES[mode]
    kind = kind_of(figure)
    drawn, note = kind.thin(figure)
    made = kind.draw(drawn, theme)
    words = [text for text in ("; ".join(kind.key(drawn)), note) if text]
    heading = alt.TitleParams(
        text=shorten(figure.title, 110),
        subtitle=words,
        subtitleColor=theme.ink,
        subtitleFontSize=12,
    )
    finished: Chart = made.properties(title=heading).configure(**theme.config())
    return finished
