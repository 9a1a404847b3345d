"""Photograph the pages of the demonstrations: ``python docs/pictures/screens.py``.

Needs Chromium, and the repository on the path (its tests drive the browser).
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

from tests.report.browser import Browser

HERE = Path(__file__).resolve().parent
VERBS = ("score", "compare", "judge", "bound", "shift", "dynamic", "audit")
SIZES = {"wide": (1280, 800, False), "phone": (390, 844, True)}
"""Window to width, height and whether it is a phone."""


def pages(folder: Path) -> None:
    """Write the page of each demonstration."""
    for verb in VERBS:
        command = [sys.executable, "-m", "tallystick", "demo", verb, "--json"]
        command += ["-o", str(folder)]
        subprocess.run(command, check=True, capture_output=True)


def photograph(folder: Path) -> None:
    """Write the first screen of every page; that of score in all four looks, others in one more."""
    browser = Browser(folder / "profile")
    wanted = [(verb, "wide", "light") for verb in VERBS]
    wanted += [("score", "wide", "dark"), ("score", "phone", "light"), ("score", "phone", "dark")]
    wanted += [("judge", "phone", "dark"), ("audit", "phone", "light")]
    for verb, size, mode in wanted:
        width, height, phone = SIZES[size]
        with browser.visit(folder / f"{verb}.html") as visit:
            visit.prefer(color_scheme=mode)
            screen = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": phone}
            visit.send("Emulation.setDeviceMetricsOverride", **screen)
            visit.screenshot(HERE / f"page-{verb}-{size}-{mode}.png", whole=False)
    browser.close()


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as made:
        pages(Path(made))
        photograph(Path(made))
