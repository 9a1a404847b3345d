"""The items behind the first answer of an audit that has any."""

from __future__ import annotations

from dataclasses import fields, replace

from tallystick.audit.result import AuditResult
from tallystick.data import Cases, Data, read
from tallystick.registry import capabilities

__all__ = ["cases_of"]


def cases_of(result: AuditResult, data: Data, *, texts: bool = True) -> Cases | None:
    """Return the items of the first section that lists some, said with its question."""
    by_verb = {one.verb: one for one in capabilities()}
    for part in result.sections:
        verb, options = result.asked.get(part.verb, (part.verb, None))
        one = by_verb.get(verb)
        if one is None or one.cases is None or options is None:
            continue
        own = {field.name for field in fields(one.question)}
        reading = {name: value for name, value in options.items() if name not in own}
        # The whole table, since texts have no role and were left out of the answer's columns.
        found = one.cases(part, read(data.table, one.door, **reading), texts=texts)
        if found is not None and found.cases:
            return replace(found, line=f"{part.verb.capitalize()}: {found.line}")
    return None
