"""``python -m tallystick`` is ``tallystick``."""

from tallystick.cli import main

main()
