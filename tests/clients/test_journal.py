import pytest

from tallystick.clients import Journal, JournalEntry, read_journal
from tallystick.errors import FormatError

API = {"kind": "http", "url": "u", "headers": {"Authorization": "$KEY", "api-version": "1"}}
HEAD = {"api": API, "plan": "p"}


@pytest.fixture
def path(tmp_path):
    journal = Journal(tmp_path / "j", head=HEAD)
    journal.note_sent("1:i7")
    journal.note_sent("1:i8")
    journal.note_answer("1:i7", JournalEntry("i7", 2, "yes"))
    journal.note_unbilled("1:i8")
    journal.note_sent("1:i8")
    journal.close()
    return tmp_path / "j"


def test_what_was_written_is_read_back(path):
    journal = Journal(path, head=HEAD)
    assert journal.answers == {"1:i7": JournalEntry("i7", 2, "yes")}
    assert journal.billed == 2
    assert journal.in_flight == 1  # i8 was sent again and has no answer
    journal.close()
    assert read_journal(path)[1] == {"1:i7": JournalEntry("i7", 2, "yes")}


def test_another_api_is_refused_and_another_plan_goes_on(path):
    """Another plan was refused before: answers are kept by item now."""
    before = path.read_bytes()
    with pytest.raises(FormatError, match="the API, its template or its prompt changed"):
        Journal(path, head={**HEAD, "api": {**API, "url": "x"}})
    assert path.read_bytes() == before
    Journal(path, head={**HEAD, "plan": "x"}).close()
    # Who pays is not what is asked: a journal is read without its key.
    Journal(path, head={**HEAD, "api": {**API, "headers": {"api-version": "1"}}}).close()
    with pytest.raises(FormatError, match="changed"):
        Journal(path, head={**HEAD, "api": {**API, "headers": {"api-version": "2"}}})


def test_an_answer_to_another_question_is_refused(path):
    journal = Journal(path, head=HEAD)
    journal.note_answer("1:i9", JournalEntry("i9", 1, "no", asked="abc"))
    assert journal.find("i9", 1, "abc").text == "no"
    with pytest.raises(FormatError, match="item 'i9' was asked something else"):
        journal.find("i9", 1, "xyz")
    assert journal.find("i9", 2, "xyz") is None
    journal.close()


def test_whole_answers_are_kept_and_what_failed_is_asked_again(tmp_path):
    journal = Journal(tmp_path / "j", head=HEAD)
    journal.note_answer("1:a", JournalEntry("a", 0, "x" * 3000, asked="q"))
    journal.note_answer("1:b", JournalEntry("b", None, "HTTP 500", asked="q"))
    journal.close()
    again = Journal(tmp_path / "j", head=HEAD)
    assert len(again.answers["1:a"].text) == 3000
    assert "1:b" not in again.answers
    again.close()


def test_requests_paid_twice_are_counted_over_all_resumes(tmp_path):
    for _ in range(3):  # killed twice while the answer was on its way
        journal = Journal(tmp_path / "j", head=HEAD)
        journal.note_sent("1:a", 0.5)
        journal.close()
    journal = Journal(tmp_path / "j", head=HEAD)
    assert journal.in_flight == 3
    journal.note_answer("1:a", JournalEntry("a", 0, "x", facts={"cost": 0.2}))
    assert journal.paid_twice == 2
    assert journal.spent == pytest.approx(1.2)
    journal.close()
    again = Journal(tmp_path / "j", head=HEAD)
    assert (again.paid_twice, again.spent) == (2, pytest.approx(1.2))
    again.close()


def test_secrets_are_struck_out(tmp_path):
    journal = Journal(tmp_path / "j", head=HEAD, secrets=("sk-1",))
    journal.note_answer("1:i", JournalEntry("i", None, "refused sk-1"))
    journal.close()
    assert "sk-1" not in (tmp_path / "j").read_text()
    assert journal.answers["1:i"].text == "refused ***"


def test_a_bit_flipped_in_the_last_line_is_said_on_resume(tmp_path):
    first = Journal(tmp_path / "j", head=HEAD)
    assert first.notes == ()
    first.note_sent("1:i7")
    first.note_answer("1:i7", JournalEntry("i7", 2, "yes"))
    first.close()
    whole = (tmp_path / "j").read_bytes()
    (tmp_path / "j").write_bytes(whole.replace(b"yes", b"yEs"))
    again = Journal(tmp_path / "j", head=HEAD)
    again.close()
    assert again.answers == {}
    [note] = again.notes
    assert "was not whole" in note
    assert "asked again" in note
