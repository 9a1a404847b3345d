import pytest

from tallystick.errors import FileError, InputError
from tallystick.verbs.shift.question import read_matrix


def test_commas_and_tabs_separate_numbers(tmp_path):
    (tmp_path / "m").write_text("1,2\n3\t4\n")
    assert read_matrix(tmp_path / "m").tolist() == [[1, 2], [3, 4]]
    assert read_matrix(str(tmp_path / "m")).tolist() == [[1, 2], [3, 4]]


def test_what_is_not_a_matrix_is_refused(tmp_path):
    (tmp_path / "words").write_text("a,b\n1,2\n")
    with pytest.raises(InputError, match="numbers only"):
        read_matrix(tmp_path / "words")
    (tmp_path / "ragged").write_text("1,2\n3\n")
    with pytest.raises(InputError, match="equal length"):
        read_matrix(tmp_path / "ragged")
    with pytest.raises(FileError, match="cannot be read"):
        read_matrix(tmp_path / "none")
