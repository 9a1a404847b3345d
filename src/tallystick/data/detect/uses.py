"""What only some capabilities need: versions of one API, confidences, a classifier beside weak
labels, validators.
"""

from __future__ import annotations

from collections.abc import Mapping

from tallystick.data.detect.names import CONFIDENCES, PREDICTIONS, are_voters, era, plain, tokens
from tallystick.data.detect.profile import Profile
from tallystick.data.detect.reading import Notebook, listed
from tallystick.data.detect.voters import Voters
from tallystick.data.roles import Roles

__all__ = ["find_confidences", "find_prediction", "find_validators", "find_versions"]

Profiles = Mapping[str, Profile]

_SCORES = frozenset(
    {"score", "prob", "proba", "probability", "p_hat", "confidence", "y_score", "y_prob"}
)
_CLASSIFIERS = PREDICTIONS | {
    "y_pred",
    "y_hat",
    "pred_label",
    "predicted_label",
    "model_prediction",
}
_VALIDATORS = frozenset({"verifier", "verifiers", "validator", "validators"})


def find_versions(voters: Voters, named: Roles, book: Notebook) -> dict[str, str]:
    """Find the two votes that are one API before and after, by their names."""
    if named.old is not None or named.new is not None:
        return {}
    dated = {name: era(name) for name in voters.votes}
    times = sorted((when, name) for name, when in dated.items() if when is not None)
    if len(times) != 2 or times[0][0][0] != times[1][0][0] or times[0][0] == times[1][0]:
        if len(times) > 2:
            book.notes.append(
                f"{listed([n for _, n in times])} look like versions; name two of them (--old,"
                " --new)"
            )
        return {}
    (_, old), (_, new) = times
    rests = [[word for word in tokens(name) if era(word) is None] for name in (old, new)]
    if any(rests) and not set(rests[0]) & set(rests[1]):  # new_york is no version of old_town
        return {}
    book.take([old], "old", f"a vote whose name says that it came before {new!r}")
    book.take([new], "new", f"a vote whose name says that it came after {old!r}")
    return {"old": old, "new": new}


def find_confidences(
    profiles: Profiles, voters: Voters, roles: Mapping[str, str], book: Notebook
) -> dict[str, str]:
    """Find the numbers that go with a vote by name (conf_X with pred_X); that of the old version is
    used.
    """
    owners: dict[str, str] = {}
    for name in book.free:
        if profiles[name].low is None or not set(tokens(name)) & CONFIDENCES:
            continue
        rest = set(tokens(name)) - CONFIDENCES
        mine = [vote for vote in voters.votes if rest and rest <= set(tokens(vote))]
        if len(mine) == 1:
            owners[name] = mine[0]
    used = next((name for name, vote in owners.items() if vote == roles.get("old")), None)
    if used is not None and "confidence" not in roles:
        book.take([used], "confidence", f"numbers that go with {owners[used]!r} by name")
    book.take(
        [name for name in owners if name != used],
        "not used",
        "confidences that go with votes; no method here needs them",
    )
    return {"confidence": used} if used is not None and "confidence" not in roles else {}


def find_prediction(
    profiles: Profiles, voters: Voters, named: Roles, weak: bool, book: Notebook
) -> dict[str, str]:
    """Find the classifier whose bounds the weak labels give: its predictions, or its score between
    0 and 1.
    """
    if named.prediction or named.score is not None:
        return {}
    others = tuple(name for name in voters.votes if plain(name) not in _CLASSIFIERS)
    said = [name for name in voters.votes if plain(name) in _CLASSIFIERS]
    if not others or not (weak or voters.missing or are_voters(others, "judges")):
        return {}
    if len(said) == 1:
        book.take(said, "prediction", f"its name, beside the weak labels {listed(others)}")
        return {"prediction": said[0]}
    scores = [
        name
        for name in book.free
        if plain(name) in _SCORES
        and profiles[name].low is not None
        and (profiles[name].low or 0) >= 0
        and (profiles[name].high or 0) <= 1
        and profiles[name].nature == "numbers"
    ]
    if len(scores) == 1 and not said:
        book.take(
            scores,
            "score",
            f"its name, and numbers between 0 and 1 beside the weak labels {listed(others)}",
        )
        return {"score": scores[0]}
    return {}


def find_validators(
    profiles: Profiles, voters: Voters, named: Roles, book: Notebook
) -> dict[str, str]:
    """Find the cell of validators' labels (``cnc``), made of nothing but labels of the truth."""
    if named.validators is not None or voters.truth is None:
        return {}
    labels = {str(value) for value in profiles[voters.truth].values}
    for name in book.free:
        if not set(tokens(name)) & _VALIDATORS:
            continue
        cells = [str(value) for value in profiles[name].values]
        if cells and all(set(cell) <= labels or set(cell.split(",")) <= labels for cell in cells):
            book.take(
                [name],
                "validators",
                f"its name, and cells made of the labels of {voters.truth!r} only",
            )
            return {"validators": name}
    return {}
