"""Results that are hard to draw."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

import pytest

from tallystick.results import Figure, Interval, Result, Unknown
from tests.report.browser import ABSENT, CHROMIUM, Browser

HOSTILE = (
    "<script>alert(1)</script>",
    "</title><img src=x onerror=alert(1)>",
    "=HYPERLINK('http://x')",
    "'\"&<>{{ 7*7 }}{% raw %}",
    "evil‮txt.exe",
    "w" * 10_000,
    "",
    "a\x00b\x1b[31mc",
    "datum['x'].y\\.z",
)


@dataclass(frozen=True, kw_only=True)
class Drawn(Result):
    verb: ClassVar[str] = "drawn"
    models: tuple[dict[str, Any], ...] = ()

    def rows(self) -> list[dict[str, Any]]:
        return list(self.models)

    def figures(self) -> tuple[Figure, ...]:
        if any("name" not in row for row in self.models) or not self.models:
            return ()
        names = [str(row["name"]) for row in self.models]
        known = [isinstance(row["interval"], Interval) for row in self.models]
        columns = {
            "model": names,
            "score": [
                row["score"] if isinstance(row["score"], float) else None for row in self.models
            ],
            "lo": [
                row["interval"].low if ok else None
                for row, ok in zip(self.models, known, strict=True)
            ],
            "hi": [
                row["interval"].high if ok else None
                for row, ok in zip(self.models, known, strict=True)
            ],
        }
        roles = {"name": "model", "x": "score", "low": "lo", "high": "hi"}
        grid = {"r": names, "c": names, "v": [0.1 * (-1) ** i for i in range(len(names))]}
        curve = {
            "round": list(range(len(names))),
            "risk": [float("nan"), *(0.1 * i for i in range(1, len(names)))],
        }
        return (
            Figure("forest", HOSTILE[0], columns, roles),
            Figure("matrix", "m", grid, {"row": "r", "column": "c", "value": "v"}),
            Figure("rounds", "r", curve, {"x": "round", "y": "risk"}),
        )


def result(names: Any, **more: Any) -> Drawn:
    rows = [
        {"name": name, "score": 0.5, "interval": Interval(0.4, 0.6, guarantee="exact")}
        for name in names
    ]
    rows[-1] = {
        "name": rows[-1]["name"],
        "score": Unknown("no votes"),
        "interval": Unknown("no votes"),
    }
    return Drawn(verdict=f"{names[0]} leads", n_items=3, models=tuple(rows), **more)


@pytest.fixture
def hostile() -> Drawn:
    return result(HOSTILE, assumptions=HOSTILE[:2], warnings=(HOSTILE[3],))


@pytest.fixture(scope="session")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    """One Chromium for all pages; where there is none the test is skipped and says how to get
    one."""
    if CHROMIUM is None:
        pytest.skip(ABSENT)
    running = Browser(tmp_path_factory.mktemp("profile"))
    yield running
    running.close()
