import pytest

from tallystick.clients.journal import Entry, Journal, read_journal
from tallystick.errors import FileError, FormatError

HEAD = {"data": "d", "client": "c", "plan": "p"}


@pytest.fixture
def path(tmp_path):
    journal = Journal(tmp_path / "j", head=HEAD)
    journal.note_sent("q0")
    journal.note_sent("q1")
    journal.note_answer("q0", Entry("i7", 2, "yes"))
    journal.note_unbilled("q1")
    journal.note_sent("q1")
    journal.close()
    return tmp_path / "j"


def test_what_was_written_is_read_back(path):
    journal = Journal(path, head=HEAD)
    assert journal.answers == {"q0": Entry("i7", 2, "yes")}
    assert journal.billed == 2
    assert journal.in_flight == 1  # q1 was sent again and has no answer
    journal.close()
    assert read_journal(path)[1] == {"q0": Entry("i7", 2, "yes")}


def test_a_file_cut_anywhere_in_its_last_line_loses_that_line_only(path):
    whole = path.read_bytes()
    last = whole.rstrip(b"\n").rfind(b"\n") + 1
    for cut in range(last, len(whole)):
        path.write_bytes(whole[:cut])
        journal = Journal(path, head=HEAD)
        assert journal.in_flight == 0
        assert path.read_bytes() == whole[:last]
        journal.note_sent("q1")
        journal.close()
        assert path.read_bytes() == whole


def test_a_changed_line_is_refused(path):
    lines = path.read_bytes().split(b"\n")
    for number in range(len(lines) - 2):
        changed = list(lines)
        changed[number] = changed[number].replace(b'"', b"'", 1)
        path.write_bytes(b"\n".join(changed))
        with pytest.raises(FormatError, match=f"line {number + 1}"):
            Journal(path, head=HEAD)


def test_a_missing_line_is_refused(path):
    lines = path.read_bytes().split(b"\n")
    path.write_bytes(b"\n".join(lines[:2] + lines[3:]))
    with pytest.raises(FormatError, match="damaged"):
        Journal(path, head=HEAD)


@pytest.mark.parametrize(
    ("name", "word"), [("data", "other data"), ("client", "template"), ("plan", "budget")]
)
def test_another_run_is_refused_with_the_reason(path, name, word):
    before = path.read_bytes()
    with pytest.raises(FormatError, match=word):
        Journal(path, head={**HEAD, name: "x"})
    assert path.read_bytes() == before


def test_a_file_that_is_no_journal_is_left_alone(tmp_path):
    file = tmp_path / "notes.txt"
    file.write_text("dear diary")
    with pytest.raises(FormatError, match="not a journal"):
        Journal(file, head=HEAD)
    assert file.read_text() == "dear diary"


def test_secrets_are_struck_out(tmp_path):
    journal = Journal(tmp_path / "j", head=HEAD, secrets=("sk-1",), durable=True)
    journal.note_answer("q0", Entry("i", None, "refused sk-1"))
    journal.close()
    assert "sk-1" not in (tmp_path / "j").read_text()
    assert journal.answers["q0"].text == "refused ***"


def test_a_folder_that_is_not_there_is_named(tmp_path):
    with pytest.raises(FileError, match="cannot be opened"):
        Journal(tmp_path / "no" / "j", head=HEAD)
