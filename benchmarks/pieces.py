"""Long runs in pieces: ``--keep FILE`` holds what was measured, one JSON object per line."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any


def file_of_pieces() -> Path | None:
    """Return the file after ``--keep``; None where every call starts anew."""
    return Path(sys.argv[sys.argv.index("--keep") + 1]) if "--keep" in sys.argv else None


def pieces() -> list[dict[str, Any]]:
    """Return what earlier calls measured."""
    path = file_of_pieces()
    if path is None or not path.exists():
        return []
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def add_piece(piece: dict[str, Any]) -> None:
    """Keep what was just measured, so that the next call goes on after it."""
    path = file_of_pieces()
    if path is not None:
        with path.open("a", encoding="utf-8") as lines:
            lines.write(json.dumps(piece) + "\n")
