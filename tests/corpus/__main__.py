"""``python -m tests.corpus write`` keeps the present answers, ``diff`` prints what differs."""

from __future__ import annotations

import argparse
import fnmatch
import sys
import time

from tests.corpus.kept import differences, load, save
from tests.corpus.pairs import PAIRS
from tests.corpus.run import Runner


def main() -> int:
    """Write or compare; ``diff`` leaves with 1 if something differs."""
    parser = argparse.ArgumentParser(prog="python -m tests.corpus", description=__doc__)
    parser.add_argument("do", choices=("write", "diff"))
    parser.add_argument("--only", default="*", metavar="PATTERN", help="names of pairs, as a glob")
    parser.add_argument("--slow", type=float, help="name the pairs that take more CPU seconds")
    given = parser.parse_args()
    kept = load()
    chosen = [pair for pair in PAIRS if fnmatch.fnmatch(pair.name, f"*{given.only}*")]
    began, differ = time.process_time(), 0
    with Runner() as runner:
        for pair in chosen:
            begun = time.process_time()
            found = runner.answer(pair)
            used = time.process_time() - begun
            if given.slow is not None and used > given.slow:
                sys.stdout.write(f"{used:.2f} s  {pair.name}\n")
            old = kept.get(pair.name)
            lines = ["new pair"] if old is None else differences(old, found)
            differ += bool(lines)
            if lines and given.do == "diff":
                sys.stdout.write(f"{pair.name}\n" + "".join(f"    {line}\n" for line in lines[:8]))
                if len(lines) > 8:
                    sys.stdout.write(f"    and {len(lines) - 8} more\n")
            kept[pair.name] = found
    used = time.process_time() - began
    sys.stdout.write(f"{len(chosen)} pairs, {differ} differ, {used:.1f} CPU s\n")
    if given.do == "write":
        # What was not run now, such as a pair on real data that is absent, stays as it was kept.
        save((pair.verb, kept[pair.name]) for pair in PAIRS if pair.name in kept)
        return 0
    return int(bool(differ))


if __name__ == "__main__":
    sys.exit(main())
