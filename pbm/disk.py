"""Files: locks, files that appear only when they are complete, and what errors of the system mean."""

import errno
import fcntl
import os
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

COPY = "pbm-copy"
"""The hidden name of a file that is not complete yet ends with this: `.pbm.db.4711.pbm-copy`."""
LOOK_AGAIN_SECONDS = 0.05
"""How long `locked` waits before it tries again."""
ERROR_TEXTS: Mapping[int, str] = {
    errno.EACCES: "this user is not allowed to",
    errno.EADDRINUSE: "another program listens there",
    errno.EADDRNOTAVAIL: "this machine has no such address",
    errno.EBADF: "it is not open for that",
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
    errno.EPIPE: "nobody reads it",
    errno.EROFS: "the disk can only be read",
    errno.ETIMEDOUT: "there was no answer",
}
"""Our words for errors of the system."""


def reason(error: OSError) -> str:
    """What an error of the system means: in our words if there are some, or else in those of the system."""
    return ERROR_TEXTS.get(error.errno or 0) or (error.strerror or str(error)).lower()


def is_read_only(path: Path) -> bool:
    """Whether a file, or the folder for it, is on a disk that is mounted to be read only."""
    place = path if path.exists() else path.absolute().parent
    with suppress(OSError):
        return bool(os.statvfs(place).f_flag & os.ST_RDONLY)
    return False


def sync(path: Path) -> None:
    """Make sure that a file, or the names in a folder, are on the disk."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


@contextmanager
def locked(path: Path, patience: float = 0, until: Callable[[], object] = lambda: False) -> Iterator[None]:
    """Hold a lock on a file, which is made if there is none; only its owner can open it. It is kept, with its content.

    The system releases the lock if the process dies. A link is not followed. Raises OSError if the file cannot be
    opened, and BlockingIOError if another process still has the lock after *patience* seconds, or when *until* is true.
    """
    handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    try:
        with suppress(PermissionError):  # the file may belong to another user
            os.fchmod(handle, 0o600)
        end = time.monotonic() + patience
        while not _take(handle):
            if time.monotonic() >= end or until():
                raise BlockingIOError(f"Another process has locked {path}.")
            time.sleep(LOOK_AGAIN_SECONDS)
        yield
    finally:
        os.close(handle)


def _take(handle: int) -> bool:
    """Lock an open file. Returns False if another process has locked it."""
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


@contextmanager
def whole(file: Path) -> Iterator[Path]:
    """Make a new file with a hidden name, which the caller renames to *file* when it is complete. Raises OSError.

    A file that was not renamed is removed at the end. Files that killed processes have left in the folder are removed,
    too.
    """
    for left in left_behind(file.parent):
        left.unlink(missing_ok=True)
    copy = file.with_name(f".{file.name}.{os.getpid()}.{COPY}")
    handle = os.open(copy, os.O_CREAT | os.O_EXCL | os.O_RDWR | os.O_CLOEXEC, 0o600)
    try:
        _take(handle)
        yield copy
    finally:
        for part in _parts(copy):
            part.unlink()
        os.close(handle)


def left_behind(folder: Path) -> list[Path]:
    """The incomplete files in a folder on which no process works any more."""
    incomplete = []
    for copy in folder.glob(f".*.{COPY}"):
        with suppress(OSError):  # the file may just have been renamed or removed
            handle = os.open(copy, os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC)
            try:
                if _take(handle):
                    incomplete += _parts(copy)
            finally:
                os.close(handle)
    return incomplete


def _parts(copy: Path) -> list[Path]:
    """An incomplete file, if it is there, and the files that SQLite has put next to it."""
    parts = [copy.with_name(f"{copy.name}{ending}") for ending in ("-wal", "-shm", "-journal", "")]
    return [part for part in parts if part.exists()]
