"""Import every benchmark, so that none rots unseen: ``python -m benchmarks``, part of ``make check``.

A benchmark whose peer is not installed is named and passed over; mypy has seen its imports.
"""

from __future__ import annotations

import importlib
import sys
import traceback
from pathlib import Path

FOLDER = Path(__file__).resolve().parent
OURS = ("benchmarks", "tallystick", "tests")


def main() -> None:
    failed = 0
    for path in sorted(FOLDER.rglob("*.py")):
        name = ".".join(path.relative_to(FOLDER.parent).with_suffix("").parts)
        try:
            importlib.import_module(name)
        except Exception as error:  # noqa: BLE001
            absent = error.name if isinstance(error, ModuleNotFoundError) else None
            if absent is not None and absent.partition(".")[0] not in OURS:
                print(f"{name} not imported: {absent} is not installed")
                continue
            failed += 1
            print(f"{name} cannot be imported:")
            traceback.print_exc()
    sys.exit(f"{failed} benchmarks cannot be imported" if failed else 0)


if __name__ == "__main__":
    main()
