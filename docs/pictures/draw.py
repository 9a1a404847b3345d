"""Draw the pictures of README and documentation from the demonstrations: ``python
docs/pictures/draw.py``.
"""

from __future__ import annotations

from pathlib import Path

from tallystick.registry import capability
from tallystick.report import plot
from tallystick.results import Result
from tallystick.table import conclude, read

HERE = Path(__file__).resolve().parent
VERBS = {
    "score": "score",
    "compare": "compare",
    "judge": "judge",
    "bound": "bound",
    "shift": "shift",
    "dynamic": "dynamic analyse",
}
"""File name to verb."""


def result(name: str) -> Result:
    """Return what ``tallystick demo NAME`` finds."""
    shown = capability(VERBS[name])
    assert shown.demo is not None
    made = shown.demo(0)
    fields = [one for one in made.options if one in shown.question.__dataclass_fields__]
    question = shown.question(seed=0, **{one: made.options[one] for one in fields})
    roles = {one: value for one, value in made.options.items() if one not in fields}
    with read(made.table, shown.door, **roles) as data:
        return conclude(shown, data, question)


def picture(name: str) -> str:
    """Return the first picture of a demonstration as SVG, light or dark as the reader likes."""
    return plot(result(name), mode="auto").svg()


if __name__ == "__main__":
    for file in VERBS:
        (HERE / f"{file}.svg").write_text(picture(file) + "\n", encoding="utf-8")
