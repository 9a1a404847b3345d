"""Warnings and alarms of judge: what was seen, and what to do about it."""

from tallystick.verbs.judge.verdict import (
    fitted_to_part,
    misfit_alarm,
    proved,
    stray_labels,
)


def test_stray_labels_name_the_judge_the_words_and_the_option():
    said = stray_labels("gpt", ["no idea", "n", "x", "y"], ["safe", "unsafe"])
    assert said.startswith("only gpt ever says 'no idea', 'n', 'x' and others")
    assert said.endswith("--labels safe,unsafe")


def test_misfit_says_what_it_does_not_prove():
    alarm = misfit_alarm(2.5)
    assert "2.5 times" in proved(alarm)
    assert "which judges are at fault" in alarm.does_not_prove


def test_a_model_of_a_part_says_how_large_it_is():
    assert "4,000 of 200,000 items" in fitted_to_part(4_000, 200_000)
