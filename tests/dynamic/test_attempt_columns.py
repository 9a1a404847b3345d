import pyarrow as pa
import pytest

from tallystick.table import Roles, scan
from tallystick.verbs.dynamic.attempt_reading import find_attempts, is_attempt_table


@pytest.mark.parametrize(
    ("columns", "found"),
    [
        (["WorkerId", "Round", "model_wrong"], {"annotator": "WorkerId", "fooled": "model_wrong"}),
        (["red_teamer", "jailbroken", "model"], {"annotator": "red_teamer", "model": "model"}),
        (["user", "attack_success", "payment"], {"annotator": "user", "cost": "payment"}),
        (["annotator", "gold", "model_prediction"], {"truth": "gold"}),
        (["annotator_id", "fooled", "votes_yes", "votes_no"], {"yes": "votes_yes"}),
        (["participant", "success", "verified"], {"validated": "verified"}),
        (["annotator", "fooled", "timestamp", "seconds"], {"time": "timestamp", "cost": "seconds"}),
    ],
)
def test_columns_are_found_by_the_names_people_use(columns, found):
    taken = find_attempts(columns, Roles()).found()
    assert taken.items() >= found.items()


def test_what_the_caller_names_comes_first():
    columns = ["who", "annotator", "ok", "fooled"]
    found = find_attempts(columns, Roles(annotator="who", correct="ok"))
    assert (found.annotator, found.correct, found.fooled) == ("who", "ok", None)
    named = find_attempts(["a", "valid", "votes_yes", "votes_no"], Roles(validated="valid"))
    assert (named.validated, named.yes) == ("valid", None)


def table(**columns):
    return scan(pa.table(columns))


def test_attempts_are_told_by_structure():
    once = {"item": ["a", "b"], "model": ["m", "n"], "correct": [1, 0]}
    assert is_attempt_table(table(**once))
    assert not is_attempt_table(table(**{**once, "item": ["a", "a"]}))
    assert not is_attempt_table(table(**once), Roles(models=("x",)))
    assert not is_attempt_table(table(**once, held_out=[1, 1]))
    assert is_attempt_table(table(who=["a"], ok=[1]), Roles(annotator="who", correct="ok"))
    wide = {"uid": [1], "annotator": ["w"], "gold": ["x"], "bert": ["x"], "xlnet": ["y"]}
    assert not is_attempt_table(table(**wide))
