"""How the tests of this folder write a table."""

import csv
from pathlib import Path


def write(path, columns):
    """Write columns as CSV; an empty text is a blank cell."""
    with Path(path).open("w", newline="", encoding="utf-8") as stream:
        writer = csv.writer(stream)
        writer.writerow(columns)
        writer.writerows(zip(*columns.values(), strict=True))
