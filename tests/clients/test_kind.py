import pytest

from tallystick.clients import ClientQuestion, text_or_file
from tallystick.errors import InputError


def test_an_option_is_its_own_text_or_the_content_of_a_file(tmp_path):
    (tmp_path / "prompt").write_text("Is {review} good?", encoding="utf-8")
    assert text_or_file("Is {review} good?") == text_or_file(f"@{tmp_path / 'prompt'}")
    with pytest.raises(InputError, match="none cannot be read"):
        text_or_file(f"@{tmp_path / 'none'}")


def test_headers_are_split_at_the_first_colon():
    assert ClientQuestion(header=("X-Url: http://a",)).headers == {"X-Url": "http://a"}


def test_a_header_that_cannot_be_read_is_refused_without_showing_it():
    with pytest.raises(InputError, match=r"header \(--header\)") as error:
        _ = ClientQuestion(header=("sk-very-secret",)).headers
    assert "sk-very-secret" not in str(error.value)


def test_a_prompt_file_that_does_not_exist_is_refused_not_sent():
    """``--prompt judge.txt`` with a misspelt name was sent as the prompt before."""
    with pytest.raises(InputError, match=r"the file nofile\.txt does not exist"):
        text_or_file("nofile.txt")
    assert text_or_file("Translate.") == "Translate."
