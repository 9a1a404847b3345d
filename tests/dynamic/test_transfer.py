import csv
import gzip
import os
from pathlib import Path

import numpy as np
import pytest

from tallystick.errors import InputError
from tallystick.results import Unknown
from tallystick.verbs.dynamic.attempts import Attempts
from tallystick.verbs.dynamic.clusters import clustered_rate
from tallystick.verbs.dynamic.experiment import transfer

DATA = Path(os.environ.get("TALLYSTICK_DATA", Path(__file__).parents[3] / "shared" / "data"))
ANLI = DATA / "dynamic" / "anli_dev_rounds_8models.csv.gz"


def log(**columns):
    base = {
        "annotator": np.array([1, 1, 2, 2, 3, 3]),
        "round": np.array([1, 1, 1, 1, 2, 2]),
        "fooled": np.array([1, 1, 1, 0, 1, 1]),
        "model": np.array(["a", "a", "a", "a", "b", "b"]),
        "valid": np.array([1, 1, 0, 1, 1, 1]),
    }
    return Attempts(**{**base, **columns})


def test_models_are_left_out_of_their_own_round():
    wrong = {"a": np.ones(6), "b": np.ones(6), "c": np.ones(6)}
    assert [(each.round, each.model) for each in transfer(log(), wrong)] == [
        (1, "b"),
        (1, "c"),
        (2, "a"),
        (2, "c"),
    ]


def test_only_validated_and_answered_items_count():
    wrong = {"c": np.array([1, 0, 1, 1, np.nan, -1])}
    first, second = transfer(log(), wrong)
    assert first.rate == clustered_rate([1], [2])
    assert isinstance(second.rate, Unknown)


def test_a_log_without_models_in_the_loop_is_refused():
    with pytest.raises(InputError, match="model in the loop"):
        transfer(log(model=None), {"c": np.ones(6)})
    with pytest.raises(InputError, match="one entry per attempt"):
        transfer(log(), {"c": np.ones(3)})


@pytest.mark.skipif(not ANLI.exists(), reason="the real data is not here: set TALLYSTICK_DATA")
def test_anli_transfers_as_the_page_says():
    """In-loop 1.00 by design; others .24-.33, .43-.72 and .43-.78 in rounds 1, 2 and 3."""
    with gzip.open(ANLI, "rt", encoding="utf-8") as lines:
        rows = list(csv.DictReader(lines))
    models = list(rows[0])[4:]
    loop = {"1": "bert-r1", "2": "roberta-from-r2", "3": "roberta-from-r3"}
    wrong = {m: np.array([row[m] != row["gold"] for row in rows], float) for m in models}
    seen = Attempts(
        annotator=np.array([row["uid"] for row in rows]),  # annotators are not in the release
        round=np.array([int(row["round"]) for row in rows]),
        fooled=np.ones(len(rows)),
        model=np.array([loop[row["round"]] for row in rows]),
        valid=np.ones(len(rows)),
    )
    found = transfer(seen, wrong)
    for number, low, high in ((1, 0.24, 0.33), (2, 0.43, 0.72), (3, 0.43, 0.78)):
        rates = [each.rate.rate for each in found if each.round == number]
        assert len(rates) == 7
        assert (round(min(rates), 2), round(max(rates), 2)) == (low, high)
