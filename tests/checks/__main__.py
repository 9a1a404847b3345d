"""Keep the fields of every verb's JSON as they are now: ``python -m tests.checks``."""

import json

from tests.checks.checks import KEPT, Subject, shown

held = {
    verb: {"schema": known["schema"], "fields": sorted(known)}
    for verb in shown()
    for known in [Subject(verb).known]
}
KEPT.write_text(json.dumps(held, indent=1) + "\n", encoding="utf-8")
