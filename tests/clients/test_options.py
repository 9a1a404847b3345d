from pathlib import Path

import pytest

from tallystick.clients import ClientQuestion
from tallystick.errors import InputError


def test_a_path_may_be_text():
    assert ClientQuestion(journal="a.journal").journal == Path("a.journal")


def test_prices_are_one_option():
    prices = ClientQuestion(price="2.5,10 USD", max_cost=5, max_tokens=9).prices
    assert (prices.input, prices.output, prices.currency) == (2.5, 10, "USD")
    assert ClientQuestion(price=0.1).prices.call == 0.1
    with pytest.raises(InputError, match="price"):
        ClientQuestion(price="cheap")


def test_headers_are_lines_or_a_mapping():
    lines = ClientQuestion(header=("A: $KEY",))
    assert lines.headers == ClientQuestion(header={"A": "$KEY"}).headers


def test_a_way_of_reading_that_does_not_exist_is_refused_before_anything_is_asked():
    with pytest.raises(InputError, match="answer"):
        ClientQuestion(answer="lastletter")
