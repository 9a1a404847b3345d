"""``python -m tests.corpus write`` keeps the present answers, ``diff`` prints what differs."""

from __future__ import annotations

import argparse
import fnmatch
import sys
import time

from tests.corpus import real
from tests.corpus.kept import differences, load, save
from tests.corpus.pairs import PAIRS
from tests.corpus.run import Runner

MOST = 6
"""Lines that are shown of one pair."""


def main() -> int:
    """Write or compare, and print what differs; ``diff`` leaves with 1 if something does."""
    parser = argparse.ArgumentParser(prog="python -m tests.corpus", description=__doc__)
    parser.add_argument("do", choices=("write", "diff"))
    parser.add_argument("--only", default="*", metavar="PATTERN", help="names of pairs, as a glob")
    parser.add_argument("--slow", type=float, help="name the pairs that take more CPU seconds")
    given = parser.parse_args()
    kept = load()
    chosen = [pair for pair in PAIRS if fnmatch.fnmatch(pair.name, f"*{given.only}*")]
    chosen = [pair for pair in chosen if pair not in real.PAIRS or real.DATA.is_dir()]
    began, differ = time.process_time(), 0
    with Runner() as runner:
        for pair in chosen:
            begun = time.process_time()
            found = runner.answer(pair)
            used = time.process_time() - begun
            if given.slow is not None and used > given.slow:
                sys.stdout.write(f"{used:.2f} s  {pair.name}\n")
            old = kept.get(pair.name)
            lines = ["new"] if old is None else differences(old, found)
            differ += bool(lines)
            _show(pair.name, lines)
            kept[pair.name] = found
    used = time.process_time() - began
    sys.stdout.write(f"{len(chosen)} pairs, {differ} differ, {used:.1f} CPU s\n")
    if given.do == "write":
        # What was not run now, such as a pair on real data that is absent, stays as it was kept.
        save((pair.verb, kept[pair.name]) for pair in PAIRS if pair.name in kept)
        return 0
    return int(bool(differ))


def _show(name: str, lines: list[str]) -> None:
    """Print the first differences of a pair, as a commit message can quote them."""
    if lines:
        shown = [line if len(line) <= 240 else f"{line[:237]}..." for line in lines[:MOST]]
        more = [f"and {len(lines) - MOST} more"] if len(lines) > MOST else []
        sys.stdout.write("\n    ".join([name, *shown, *more]) + "\n")


if __name__ == "__main__":
    sys.exit(main())
