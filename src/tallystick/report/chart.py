"""Figure to chart: one small function a kind, by the roles of its columns alone."""

from __future__ import annotations

from typing import TypeAlias

import altair as alt

from tallystick.report.forest import forest
from tallystick.report.lines import lines
from tallystick.report.matrix import matrix
from tallystick.report.shorten import shorten, thin
from tallystick.report.theme import THEMES, Mode
from tallystick.report.words import key
from tallystick.results import Figure

__all__ = ["Chart", "chart"]

Chart: TypeAlias = alt.TopLevelMixin

_DRAW = {"forest": forest, "bands": lines, "rounds": lines, "curve": lines, "matrix": matrix}


def chart(figure: Figure, *, mode: Mode = "light") -> Chart:
    """Draw *figure*; a leaderboard of thousands is drawn by its first rows, and the title says so.

    Examples
    --------
    >>> from tallystick.results import Figure
    >>> columns = {"model": ["a", "b"], "score": [0.7, 0.6], "lo": [0.6, 0.5], "hi": [0.8, 0.7]}
    >>> roles = {"name": "model", "x": "score", "low": "lo", "high": "hi"}
    >>> chart(Figure("forest", "Scores", columns, roles)).to_dict()["title"]["text"]
    'Scores'
    """
    theme = THEMES[mode]
    drawn, note = thin(figure)
    made = _DRAW[figure.kind](drawn, theme)
    words = [text for text in (key(drawn), note) if text]
    heading = alt.TitleParams(
        text=shorten(figure.title, 110),
        subtitle=words,
        subtitleColor=theme.ink,
        subtitleFontSize=12,
    )
    finished: Chart = made.properties(title=heading).configure(**theme.config())
    return finished
