"""A number of labels as a range of two digits."""

from tallystick.stats.certified import label_range


def test_a_range_is_capped_by_the_items_and_reads_in_two_digits():
    assert (label_range(95.0, 240.0, 100).low, label_range(95.0, 240.0, 100).high) == (95, 100)
    assert str(label_range(1234, 5678, 10_000)) == "1,200 to 5,700 of 10,000"
    assert str(label_range(0.3, 9.1, 50)) == "1 to 10 of 50"
