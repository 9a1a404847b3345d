"""Draw the pictures of README and documentation from generated data: ``python
docs/pictures/draw.py``.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

from tests.generated import generate

from tallystick import io, plot
from tallystick.cli.demo import DemoVerb, answer

HERE = Path(__file__).resolve().parent
VERBS = ("compare", "judge", "bound", "shift", "dynamic")


def picture(verb: str) -> str:
    """Return the first picture of what `tallystick demo VERB` finds, as SVG."""
    with tempfile.TemporaryDirectory() as folder:
        data = Path(folder) / f"{verb}.csv"
        io.write_csv(data, generate(verb, rng=0))
        with io.scan(data) as table:
            return plot(answer(DemoVerb(verb), table, data, 0)).svg()


if __name__ == "__main__":
    for name in VERBS:
        (HERE / f"{name}.svg").write_text(picture(name) + "\n", encoding="utf-8")
