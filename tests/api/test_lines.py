"""Lines of source end at column 100, so that two files fit side by side."""

from __future__ import annotations

from pathlib import Path

SOURCE = Path(__file__).parents[2] / "src"
LIMIT = 100


def test_no_line_of_source_is_longer_than_the_limit() -> None:
    too_long = []
    for path in sorted(SOURCE.rglob("*.py")):
        in_example = False
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
            stripped = line.strip()
            # What a doctest prints, a formula and a row of a table cannot be broken.
            in_example = bool(stripped) and (in_example or stripped.startswith(">>>"))
            unbreakable = in_example or "\\" in stripped or stripped.startswith("|")
            if len(line) > LIMIT and not unbreakable:
                too_long.append(f"{path.relative_to(SOURCE)}:{number}: {stripped[:60]}")

    assert not too_long, "\n".join(too_long)
