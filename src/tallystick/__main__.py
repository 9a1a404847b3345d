"""``python -m tallystick`` is ``tallystick``."""

from tallystick.cli import main

__all__: list[str] = []

if __name__ == "__main__":
    main()
