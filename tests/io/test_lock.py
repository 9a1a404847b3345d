"""One writer at a time, on every system."""

import os
import sys
from types import SimpleNamespace

import pytest

from tallystick.errors import FileError
from tallystick.table import lock


def opened(path):
    return os.open(path, os.O_RDWR | os.O_CREAT)


def test_a_second_owner_is_refused_until_the_first_lets_go(tmp_path):
    path = tmp_path / "file"
    first, second = opened(path), opened(path)
    assert lock(first, path, "busy") is None
    with pytest.raises(FileError, match="busy"):
        lock(second, path, "busy")
    os.close(first)
    assert lock(second, path, "busy") is None
    os.close(second)


def test_without_any_lock_of_the_system_a_file_stands_for_it(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "fcntl", None)
    monkeypatch.setitem(sys.modules, "msvcrt", None)
    path = tmp_path / "file"
    handle = opened(path)
    beside = lock(handle, path, "busy")
    with pytest.raises(FileError, match=r"busy. If nobody does, remove .*file\.lock"):
        lock(handle, path, "busy")
    beside.unlink()
    assert lock(handle, path, "busy") == beside
    os.close(handle)


def test_windows_locks_a_byte_behind_the_end(tmp_path, monkeypatch):
    calls = []

    def locking(handle, mode, size):
        calls.append((os.lseek(handle, 0, os.SEEK_CUR), mode, size))
        if len(calls) > 1:
            raise OSError("taken")

    monkeypatch.setitem(sys.modules, "fcntl", None)
    monkeypatch.setitem(sys.modules, "msvcrt", SimpleNamespace(locking=locking, LK_NBLCK=2))
    path = tmp_path / "file"
    handle = opened(path)
    assert lock(handle, path, "busy") is None
    assert calls == [(1 << 40, 2, 1)]
    with pytest.raises(FileError, match="busy"):
        lock(handle, path, "busy")
    os.close(handle)
