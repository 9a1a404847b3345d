"""How good is a classifier, with weak labels and few true labels or none? Start from here."""

# %% A table of weak votes and predictions; yours comes from a file: bound("messages.csv", ...)
from typing import Any

from tallystick import bound
from tallystick.verbs.bound.question import spam

rows = spam(2000, rng=1)

# %% Between what the accuracy and the F1 of spam lie, if one of two label models is right
asked: dict[str, Any] = {"metrics": ("accuracy", "f1"), "positive": 1, "at_least": 0.6}
print(bound(rows, prediction="classifier", **asked).summary())

# %% A few labels decide, whatever the weak labels are worth
some = spam(2000, rng=1, labelled=150)
print(bound(some, prediction="classifier", truth="truth", **asked).summary())
