"""What an answer rests on: fixed sentences, each said once."""

from tallystick.results import Unknown
from tallystick.verbs.judge import verdict as verdict_grounds


def test_grounds_are_sentences_that_differ_and_can_be_joined():
    texts = [
        held
        for name, held in vars(verdict_grounds).items()
        if name.isupper() and not name.startswith("_") and isinstance(held, str)
    ]
    assert len(texts) > 10
    assert len(set(texts)) == len(texts)


def test_what_is_not_known_has_a_reason():
    assert isinstance(verdict_grounds.NO_INTERVAL, Unknown)
    assert "20 random labels" in str(verdict_grounds.NOT_CALIBRATED)
