"""Draw the pictures of README and documentation from generated data: ``python
docs/pictures/draw.py``.
"""

from __future__ import annotations

from pathlib import Path

from tallystick import plot
from tallystick.data import answered
from tallystick.registry import capability

HERE = Path(__file__).resolve().parent
VERBS = {
    "score": "score",
    "compare": "compare",
    "judge": "judge",
    "bound": "bound",
    "shift": "shift",
    "dynamic": "dynamic analyse",
}


def picture(verb: str) -> str:
    """Return the first picture of what `tallystick demo VERB` finds, as SVG."""
    shown = capability(VERBS[verb])
    if shown.demo is None:
        raise SystemExit(f"{verb} has no demonstration")
    made = shown.demo(0)
    return plot(answered(shown, dict(made.table), {**made.options, "seed": 0})).svg()


if __name__ == "__main__":
    for name in VERBS:
        (HERE / f"{name}.svg").write_text(picture(name) + "\n", encoding="utf-8")
