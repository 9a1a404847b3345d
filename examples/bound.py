"""Bound a classifier without a test set: start from here."""

# %% A table of weak votes and predictions; yours comes from a file: Tally.of("messages.csv", columns=[...])
from tallystick import Tally, bound
from tallystick.verbs.bound.question import spam

rows = spam(2000, rng=1)
tally = Tally.of(rows)

# %% Between what the accuracy and the F1 of spam lie, under two label models
question = bound.BoundTarget(metrics=("accuracy", "f1"), positive=1, at_least=0.6)
result = bound.bound(
    tally, prediction="classifier", label_models=("dawid-skene", "triplet"), target=question, rng=0
)
print(result.summary())

# %% A few labels correct the label model and estimate the accuracy directly
some = Tally.of(spam(2000, rng=1, labelled=150))
print(
    bound.bound(
        some, prediction="classifier", truth="truth", label_models=("dawid-skene", "labels")
    ).summary()
)
