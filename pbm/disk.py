"""The disk, beneath files and databases."""

import errno
import fcntl
import os
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

COPY = "pbm-copy"
"""What the hidden name of a file that is not whole yet ends with."""
LOOK_AGAIN = 0.05
"""Seconds after which it is looked again whether a lock is free."""
SAID: Mapping[int, str] = {
    errno.EACCES: "this user is not allowed to",
    errno.EADDRINUSE: "another program listens there",
    errno.EADDRNOTAVAIL: "this machine has no such address",
    errno.ECONNREFUSED: "nobody listens there",
    errno.EHOSTUNREACH: "that machine cannot be reached",
    errno.EEXIST: "there is one already",
    errno.EIO: "the disk is broken",
    errno.EISDIR: "that is a folder",
    errno.ELOOP: "it is a link that must not be followed",
    errno.EMFILE: "too many files are open",
    errno.ENAMETOOLONG: "the name is too long",
    errno.ENETUNREACH: "that machine cannot be reached",
    errno.ENOENT: "there is no such file or folder",
    errno.ENOSPC: "the disk is full",
    errno.ENOTDIR: "a part of the path is no folder",
    errno.EPERM: "this user is not allowed to",
    errno.EROFS: "the disk can only be read",
    errno.ETIMEDOUT: "there was no answer",
}
"""What the errors of the system are called here."""


def reason(error: OSError) -> str:
    """What an error of the system means, in our words, as far as we have some."""
    return SAID.get(error.errno or 0) or (error.strerror or str(error)).lower()


def sync(path: Path) -> None:
    """Make sure that a file, or the names in a folder, are on the disk."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


@contextmanager
def locked(path: Path, patience: float = 0, until: Callable[[], bool] = lambda: False) -> Iterator[None]:
    """Hold a lock, which goes with the process at the latest; only its owner can open the file.

    Raises BlockingIOError if somebody else has it for so many seconds, or *until* told to give up, and OSError if there
    can be no such file. What is in the file stays, and what it may be a link to is not touched.
    """
    handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    try:
        with suppress(PermissionError):  # it may be another's
            os.fchmod(handle, 0o600)
        end = time.monotonic() + patience
        while not _take(handle):
            if time.monotonic() >= end or until():
                raise BlockingIOError(f"Another process has locked {path}.")
            time.sleep(LOOK_AGAIN)
        yield
    finally:
        os.close(handle)


def _take(handle: int) -> bool:
    """Lock an open file; False if somebody else has."""
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


@contextmanager
def whole(file: Path) -> Iterator[Path]:
    """A new file, under a hidden name, for what is to become *file* only when all of it is there.

    Whatever goes wrong, nothing of it stays; what a killed process has left in the folder goes, too. Raises OSError.
    """
    for left in left_behind(file.parent):
        left.unlink(missing_ok=True)
    copy = file.with_name(f".{file.name}.{os.getpid()}.{COPY}")
    handle = os.open(copy, os.O_CREAT | os.O_EXCL | os.O_RDWR | os.O_CLOEXEC, 0o600)
    try:
        _take(handle)
        yield copy
    finally:
        for each in (*_companions(copy), copy):
            each.unlink(missing_ok=True)
        os.close(handle)


def left_behind(folder: Path) -> list[Path]:
    """The files in a folder that were never whole, and on which nobody works any more."""
    found = []
    for copy in folder.glob(f".*.{COPY}"):
        with suppress(OSError):  # it may have just become whole
            handle = os.open(copy, os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC)
            try:
                if _take(handle):
                    found += [*_companions(copy), copy]
            finally:
                os.close(handle)
    return found


def _companions(copy: Path) -> list[Path]:
    """The files that SQLite puts beside a database."""
    return [
        each for ending in ("-wal", "-shm", "-journal") if (each := copy.with_name(f"{copy.name}{ending}")).exists()
    ]
