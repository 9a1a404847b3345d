"""What an answer of `judge` rests on: assumptions, and reasons for what is not known.

Each is a fixed sentence without a number of the table at hand.
"""

from __future__ import annotations

from tallystick.results import Unknown

__all__ = [
    "ALWAYS_LOOKS_RIGHT",
    "BETTER_THAN_CHANCE",
    "CONFUSED",
    "COULD_NOT_BE_FITTED",
    "COUNTED_ROWS",
    "GIVEN_RANGE",
    "INDEPENDENCE",
    "LEFT_ASIDE",
    "MAJORITY",
    "MISSING_SAY_NOTHING",
    "NEVER_RIGHT",
    "NEW_SAMPLE",
    "NOT_CALIBRATED",
    "NO_INTERVAL",
    "OFF_THE_MODEL",
    "RANDOM",
    "RANGE_HELD",
    "SAMPLE",
    "SENSIBLE",
    "SHARED_BIAS",
    "STREAM",
    "UNREADABLE",
]

INDEPENDENCE = "judges err independently given the true label"
MAJORITY = "the majority is right on every item"
STREAM = "errors are independent over the whole stream, whatever the label"
RANDOM = "labelled items were drawn at random, whatever their votes"
SAMPLE = "labelled items are a fair sample of those that matter"
NEW_SAMPLE = "items are a random sample of those that matter"
COUNTED_ROWS = (
    "a row of weight w stands for w items that were seen alike: these are not sampling weights"
)
SHARED_BIAS = (
    "a bias that all judges share leaves no trace in their votes: no label-free method can see it"
)
ALWAYS_LOOKS_RIGHT = (
    "majority vote always returns sensible numbers, right or wrong: it grades judges by agreement"
    " with one another and cannot warn when they err together"
)
NO_INTERVAL = Unknown(
    "no interval is valid without labels: a bias that all judges share fits the votes perfectly."
    " The range says where the truth lay on comparable panels"
)
RANGE_HELD = (
    "the error rate is estimated in several ways, and the range runs from twice the largest to half"
    " of the smallest. In simulations it held for 99 % of the judges (68 % in the worst case); it"
    " fails where items were built to fool judges, where weak judges copy one another, or where all"
    " share a bias"
)
NOT_CALIBRATED = Unknown(
    "fewer than 20 random labels: the support of an item is not a probability. On 19 real panels"
    " its calibration error was 12 points on average and 28 at worst"
)
UNREADABLE = (
    "judges err independently on items that can be read, and follow their own habits on the others"
)
COULD_NOT_BE_FITTED = "no model could be fitted: "
CONFUSED = "agreement rates confuse independence of errors with independence given the label"
SENSIBLE = "a sensible trio is no evidence of independence"
GIVEN_RANGE = "the prevalence lies in the given range"
BETTER_THAN_CHANCE = "the judges, taken together, are better than chance"
MISSING_SAY_NOTHING = "a vote is not missing because it would be right or wrong"
OFF_THE_MODEL = "off the model these intervals fail, however narrow they are"
NEVER_RIGHT = "votes that can never be true count as votes, and as not right"
LEFT_ASIDE = "votes that can never be true count as no vote in this method"
