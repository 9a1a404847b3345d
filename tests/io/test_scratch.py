"""The scratch folder is private, goes with its process, and says when its disk is full."""

import errno
import os
import time

import pytest

from tallystick.errors import FileError
from tallystick.table import sources as module
from tallystick.table.sources import scratch, spooling


def test_the_folder_is_private_and_its_owner_holds_a_lock():
    folder = scratch()
    assert folder == scratch()
    assert (folder / "owner.lock").exists()
    if os.name == "posix":
        assert folder.stat().st_mode & 0o077 == 0


def test_only_old_folders_that_nobody_holds_are_removed(tmp_path):
    for name in ("tallystick-old", "tallystick-young", "tallystick-without", "other"):
        (tmp_path / name).mkdir()
        if name != "tallystick-without":
            (tmp_path / name / "owner.lock").touch()
    old = time.time() - 3600
    for name in ("tallystick-old", "other"):
        os.utime(tmp_path / name / "owner.lock", (old, old))
    module._remove_leftovers(tmp_path)
    left = {path.name for path in tmp_path.iterdir()}
    assert left == {"tallystick-young", "tallystick-without", "other"}


def test_a_full_disk_names_the_file_and_the_folder():
    told = r"v.csv cannot be read: the disk of .* is full.*TMPDIR"
    with pytest.raises(FileError, match=told), spooling("v.csv"):
        raise OSError(errno.ENOSPC, "No space left on device")
    with pytest.raises(PermissionError), spooling("v.csv"):
        raise PermissionError("no")
