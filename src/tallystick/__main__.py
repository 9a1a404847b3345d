"""``python -m tallystick`` is ``tallystick``."""

from __future__ import annotations

from tallystick.cli import main

__all__: list[str] = []

if __name__ == "__main__":
    main()
