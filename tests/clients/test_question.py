from pathlib import Path

import pytest

from tallystick.clients import ClientQuestion, text_or_file
from tallystick.clients.client import request_of
from tallystick.errors import InputError


def test_an_option_is_its_own_text_or_the_content_of_a_file(tmp_path):
    (tmp_path / "prompt").write_text("Is {review} good?", encoding="utf-8")
    assert text_or_file("Is {review} good?") == text_or_file(f"@{tmp_path / 'prompt'}")
    assert text_or_file("Translate.") == "Translate."
    # ``--prompt judge.txt`` with a misspelt name was sent as the prompt before.
    for wrong, said in ((f"@{tmp_path / 'none'}", "none cannot be read"), ("no.txt", r"no\.txt")):
        with pytest.raises(InputError, match=said):
            text_or_file(wrong)


def test_options_are_taken_in_the_forms_that_people_write():
    assert ClientQuestion(journal="a.journal").journal == Path("a.journal")
    prices = ClientQuestion(price="2.5,10 USD", max_cost=5, request={"max_tokens": 9}).prices
    assert (prices.input, prices.output, prices.currency) == (2.5, 10, "USD")
    assert ClientQuestion(price=0.1).prices.call == 0.1
    lines = ClientQuestion(header=("A: $KEY", "X-Url: http://a"))
    assert lines.headers == ClientQuestion(header={"A": "$KEY", "X-Url": "http://a"}).headers


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"price": "cheap"}, "price"),
        ({"price": "2.5,10", "max_cost": 5.0}, "longest reply"),
        ({"answer": "lastletter"}, "answer"),
        ({"header": ("sk-very-secret",)}, r"header \(--header\)"),
    ],
)
def test_what_cannot_be_read_is_refused_by_name_without_showing_a_key(options, said):
    with pytest.raises(InputError, match=said) as refused:
        _ = ClientQuestion(**options).headers
    assert "sk-very-secret" not in str(refused.value)


@pytest.mark.parametrize(("text", "said"), [("{", "line 1 column"), ('{"x": NaN}', "NaN")])
def test_a_template_that_is_not_json_is_refused_with_its_place(text, said):
    with pytest.raises(InputError, match=said):
        request_of(text)
