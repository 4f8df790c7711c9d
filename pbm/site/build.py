"""The site is built: in a folder that remembers how far it has seen the database, only what has changed since then."""

import json
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from hashlib import blake2b
from io import FileIO
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple, Protocol

from pbm.store import Unusable
from pbm.store.changes import Seen

MANIFEST = ".pbm-site.json"
"""Where in its folder a site keeps what it remembers."""
NAMES = ".pbm-site.pages"
"""Where it keeps the names of all its pages, each on a line; one that is made is added before it is there."""


class Gone(LookupError):
    """What a page is about is not there, or no longer."""


class Faulty(Exception):
    """A page cannot be made. The text says why."""


class Page(NamedTuple):
    """A file of the site that has to be made, or to go."""

    path: str
    """Within the folder of the site, such as ``symple/101.html``."""
    content: Callable[[], str | bytes]
    """Makes it. Raises Gone if there is nothing to make it of."""
    part: str = ""
    """Of a page of a list: what stands on it, digested."""


class Memory(NamedTuple):
    """What a folder remembers of the site in it."""

    seen: Seen | None = None
    """How far its pages show what is in the database; None if that cannot be known, and all are to be made."""
    parts: Mapping[str, str] = MappingProxyType({})
    """What stands on the pages of lists, digested, by their paths."""
    pages: int = 0
    """How many it has."""
    has: Callable[[str], bool] = lambda _: False
    """Whether it has the page of that path."""


class Source(Protocol):
    """What the pages are made of."""

    seen: Seen
    """How far the database is seen before any page is made."""

    @property
    def version(self) -> str:
        """Another one as soon as all pages have to be made again."""

    def remembers(self, seen: Seen) -> bool:
        """Whether it is known what has changed since then."""

    def pages(self, memory: Memory) -> Sequence[Page]:
        """The pages that are to be made, as far as they are not as remembered."""


class Built(NamedTuple):
    """What a build has done."""

    pages: int
    """How many files the site has."""
    written: int
    removed: int
    failed: Mapping[str, str]
    """Why pages could not be made, by their paths; they are as they were."""


def digested(*parts: object) -> str:
    """A short text that is another one as soon as any of these parts is."""
    return blake2b(repr(parts).encode(), digest_size=9).hexdigest()


def build(
    folder: Path, source: Source, watch: Callable[[Sequence[Page]], Iterable[Page]], *, is_whole: bool = False
) -> Built:
    """Write the pages that have changed, and remove those about what is no longer there.

    *watch* hands on the pages that are to be made, and may show how far that is. All pages are made if the whole is
    asked for, or if it is not known what has changed. One that cannot be made keeps no other from being made. Raises
    OSError if the folder cannot be written, and Unusable if the database cannot be read.
    """
    folder.mkdir(parents=True, exist_ok=True)
    memory = _remembered(folder, source.version)
    if is_whole or memory.seen is None or not source.remembers(memory.seen):
        memory = Memory(has=memory.has)
    made: dict[str, str] = {}
    failed: dict[str, str] = {}
    gone, written, new = set[str](), 0, 0
    with _appended(folder / NAMES) as names:
        for page in watch(source.pages(memory)):
            if not _is_inside(page.path):
                continue
            try:
                content = _content(page)
            except Gone:
                gone.add(page.path)
                continue
            except Faulty as why:
                failed[page.path] = str(why)
                continue
            file = folder / page.path
            before = _read(file)
            if before is None:
                names.write(f"{page.path}\n".encode())
                new += 1
            written += _write(file, content, before)
            made[page.path] = page.part
    if memory.seen is None:
        gone |= _names(folder) - made.keys() - failed.keys()
    removed = sum(_remove(folder / path) for path in gone)
    pages = memory.pages + new - removed
    if memory.seen is None:
        left = [*made, *(path for path in failed if memory.has(path))]
        pages = len(left)
        names_now = "".join(f"{path}\n" for path in left).encode()
        _write(folder / NAMES, names_now, _read(folder / NAMES))
    if memory.seen != source.seen:
        parts = {path: part for path, part in {**memory.parts, **made}.items() if part and path not in gone}
        what = {"version": source.version, "seen": source.seen, "parts": parts, "pages": pages}
        _write(folder / MANIFEST, json.dumps(what).encode())
    return Built(pages, written, removed, failed)


def _content(page: Page) -> bytes:
    """What stands on a page. Raises Gone, Faulty and, if the database cannot be read, Unusable."""
    try:
        content = page.content()
        return content.encode() if isinstance(content, str) else content
    except (Gone, OSError, Unusable):
        raise
    except Exception as why:  # a game that has a fault must not take the pages of all others along
        raise Faulty(f"{type(why).__name__}: {why}") from why


def _remembered(folder: Path, version: str) -> Memory:
    """What a folder remembers, unless another version of pbm has written it."""

    def has(path: str) -> bool:
        return (folder / path).is_file()

    try:
        manifest = json.loads((folder / MANIFEST).read_text())
        number, event, *times = manifest["seen"]
        seen = Seen(int(number), int(event), *map(str, times))
        memory = Memory(seen, dict(manifest["parts"]), int(manifest["pages"]), has)
    except (OSError, ValueError, TypeError, KeyError, AttributeError):
        return Memory(has=has)
    return memory if manifest.get("version") == version else Memory(has=has)


def _appended(file: Path) -> FileIO:
    """A file to which lines are added, unless somebody has put a link in its place."""
    return FileIO(os.open(file, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW, 0o666), "ab")


def _names(folder: Path) -> set[str]:
    """The pages that a folder has; names that lead out of it are left alone, whoever has put them there."""
    names = (folder / NAMES).read_text(errors="replace").split("\n")
    with suppress(OSError, ValueError, TypeError, KeyError):  # earlier versions had them in the manifest
        listed = json.loads((folder / MANIFEST).read_text())["pages"]
        names += map(str, listed if isinstance(listed, list) else ())
    return {name for name in names if name and _is_inside(name)}


def _is_inside(path: str) -> bool:
    """Whether a name leads to nothing outside the folder of the site, whoever has put it into the database or there."""
    return path.isprintable() and path[:1] != "/" and not (".." in path and ".." in path.split("/"))


def _remove(file: Path) -> bool:
    """Remove a file; False if there is none."""
    is_there = file.is_file()
    if is_there:
        file.unlink()
    return is_there


def _read(file: Path) -> bytes | None:
    """What stands in a file; None if there is none."""
    with suppress(FileNotFoundError), FileIO(file) as there:
        return there.readall()
    return None


def _write(file: Path, data: bytes, before: bytes | None = None) -> bool:
    """Write a file that is there as a whole or not at all; False if that stood in it *before*."""
    if data == before:
        return False
    copy = file.with_name(f".{file.name}.new")
    with _new(copy) as made:
        made.write(data)
    copy.replace(file)
    return True


def _new(file: Path) -> FileIO:
    """A file that was not there."""
    try:
        return FileIO(file, "xb")
    except FileNotFoundError:
        file.parent.mkdir()
    except FileExistsError:
        file.unlink()  # of a build that was killed; or a link that somebody has put there
    return FileIO(file, "xb")
