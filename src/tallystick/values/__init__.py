"""What a cell means: the one definition that readers, tallies and methods share.

``label`` says when two labels are the same, ``missing`` which cells hold no answer (in Python and
in SQL), ``spelling`` how labels are written alike, ``words`` which words stand for no answer, for
right and wrong, and for votes that can never be true. ``agree`` puts these rules together for one
table.
"""

from __future__ import annotations

from tallystick.values.label import MOST_LABELS, Label, identity, in_order, plain, whole
from tallystick.values.meaning import LabelRules, Meaning, agree
from tallystick.values.missing import (
    NUMBER,
    as_number,
    is_missing,
    is_nan,
    null_if_missing,
    numbers_among,
    without_missing,
)
from tallystick.values.spelling import LARGEST, check_vocabulary, spelling
from tallystick.values.sql import Kind, identifier, kind_of, literal
from tallystick.values.two_vocabularies import two_vocabularies
from tallystick.values.words import (
    NEVER_TRUE,
    NO_ANSWER,
    PASS_FAIL,
    TIES,
    as_pass_fail,
    is_never_true,
    is_no_answer,
    is_tie,
)

__all__ = [
    "LARGEST",
    "MOST_LABELS",
    "NEVER_TRUE",
    "NO_ANSWER",
    "NUMBER",
    "PASS_FAIL",
    "TIES",
    "Kind",
    "Label",
    "LabelRules",
    "Meaning",
    "agree",
    "as_number",
    "as_pass_fail",
    "check_vocabulary",
    "identifier",
    "identity",
    "in_order",
    "is_missing",
    "is_nan",
    "is_never_true",
    "is_no_answer",
    "is_tie",
    "kind_of",
    "literal",
    "null_if_missing",
    "numbers_among",
    "plain",
    "spelling",
    "two_vocabularies",
    "whole",
    "without_missing",
]
