"""Whether a fuzzer that knows ``openapi.json`` finds an error of ours.

``python benchmarks/truth/serve_schema.py [CASES PER OPERATION] [--write]`` (about 600 give 10,000)
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from record import record
from tests.serve.schema import fuzzed


def main() -> None:
    numbers = [int(word) for word in sys.argv[1:] if word.isdecimal()]
    with tempfile.TemporaryDirectory() as folder:
        cases, failed = fuzzed(Path(folder), numbers[0] if numbers else 600)
    print(failed)
    row = {"cases": cases, "answers 500 and above, 503 apart": "some" if failed else "none"}
    record("serve-schema", "The service and a fuzzer", [row])


if __name__ == "__main__":
    main()
