import numpy as np

from tallystick.verbs.dynamic import evaluate
from tests.dynamic_tables import attempts


def test_the_first_line_has_the_rate_who_tried_and_whether_labels_were_checked():
    found = evaluate(attempts())
    assert "of the 180 attempts by 12 annotators of round 2 fooled the model" in found.verdict
    assert "that validators confirmed" in found.verdict
    bare = {k: v for k, v in attempts().items() if k != "validated"}
    assert "(no column of validation was read)" in evaluate(bare).verdict


def test_few_annotators_unchecked_items_and_logs_of_successes_are_warned_of():
    few = evaluate(attempts(annotators=4))
    assert any(text.startswith("Fewer than 10 annotators") for text in few.warnings)
    table = attempts()
    table["validated"] = ["" for _ in table["validated"]]
    assert any("are not validated yet" in text for text in evaluate(table).warnings)
    hits = {**attempts(), "fooled": [1] * 360}
    assert any("If the log holds only successes" in text for text in evaluate(hits).warnings)


def test_without_names_there_is_no_interval_and_the_way_out_is_named():
    table = {k: v for k, v in attempts().items() if k != "annotator"}
    found = evaluate(table)
    assert found.decision == "unknowable"
    assert any("--annotator" in text for text in found.warnings)
    assert found.annotators is None
    assert "[" not in found.verdict


def test_a_change_of_the_rate_is_said_not_to_be_the_model_alone():
    table = attempts(tries=60)
    rng = np.random.default_rng(1)
    table["fooled"] = [int(rng.random() < (0.6 if r == 1 else 0.1)) for r in table["round"]]
    table.pop("validated")
    text = evaluate(table).summary()
    assert "From round 1 to 2 the rate fell" in text
    assert "That is not the model alone" in text
    assert "A falling rate does not show that the model improved" in text
