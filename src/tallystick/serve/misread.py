"""What the decoder says of a body, in words that tell the sender what to write."""

from __future__ import annotations

import difflib
import re
from collections.abc import Mapping, Sequence

__all__ = ["misread"]

_KINDS = {
    "object": "an object",
    "array": "a list",
    "str": "text",
    "int": "a whole number",
    "float": "a number",
    "bool": "true or false",
    "null": "null",
}
_UNKNOWN = re.compile(r"Object contains unknown field `(.*)`", re.DOTALL)
_MISSING = re.compile(r"Object missing required field `(.*)`", re.DOTALL)
_EXPECTED = re.compile(r"Expected `(.*)`, got `(.*)`", re.DOTALL)


def misread(
    message: str,
    fields: Sequence[str],
    *,
    examples: Mapping[str, str] | None = None,
    also: Mapping[str, str] | None = None,
) -> tuple[str | None, str]:
    """Return the place of an error and the way out.

    Parameters
    ----------
    message
        What the decoder says.
    fields
        The fields that the body has.
    examples
        For each field, how it is written.
    also
        Names that people give to a field.

    Examples
    --------
    >>> misread("Object contains unknown field `truth`", ["item", "label"], also={"truth": "label"})
    (None, "there is no field 'truth': did you mean 'label'? There are item, label")
    >>> forms = {"label": '{"value": "pass"}'}
    >>> misread("Expected `object | null`, got `str` - at `$.label`", ["label"], examples=forms)
    ('label', 'this must be an object or null, and is text: write "label": {"value": "pass"}')
    """
    what, _, path = message.partition(" - at ")
    place = re.sub(r"^\$(\[\d+\])?\.?", "", path.strip("`")) or None
    field = re.split(r"[.\[]", place)[0] if place else ""
    example = (examples or {}).get(field)
    form = f': write "{field}": {example}' if example is not None else ""
    if unknown := _UNKNOWN.fullmatch(what):
        name = unknown[1][:64]
        if field:
            return place, f"{field!r} has no field {name!r}{form}"
        near = difflib.get_close_matches(name.lower(), fields, n=1)
        known = (also or {}).get(name.lower()) or (near[0] if near else None)
        hint = f" did you mean {known!r}?" if known is not None else ""
        return place, f"there is no field {name!r}:{hint} There are {', '.join(fields)}"
    if missing := _MISSING.fullmatch(what):
        lacks = f"{field!r} lacks" if field else "this lacks"
        return place, f"{lacks} the field {missing[1]!r}{form}"
    if expected := _EXPECTED.fullmatch(what):
        wanted = " or ".join(_KINDS.get(one, one) for one in expected[1].split(" | "))
        found = _KINDS.get(expected[2], expected[2])
        return place, f"this must be {wanted}, and is {found}{form}"
    return place, what
