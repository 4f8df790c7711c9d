"""The site is built: in a folder that remembers how far it has seen the database, only what has changed since then."""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from hashlib import blake2b
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple, Protocol

from pbm.store import Seen

MANIFEST = ".pbm-site.json"
"""Where in its folder a site keeps what it remembers."""


class Gone(LookupError):
    """What a page is about is not there, or no longer."""


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
    paths: frozenset[str] = frozenset()
    """All its pages."""


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


def digested(*parts: object) -> str:
    """A short text that is another one as soon as any of these parts is."""
    return blake2b(repr(parts).encode(), digest_size=9).hexdigest()


def build(
    folder: Path, source: Source, watch: Callable[[Sequence[Page]], Iterable[Page]], *, is_whole: bool = False
) -> Built:
    """Write the pages that have changed, and remove those about what is no longer there.

    *watch* hands on the pages that are to be made, and may show how far that is. All pages are made if the whole is
    asked for, or if it is not known what has changed. Raises OSError if the folder cannot be written.
    """
    folder.mkdir(parents=True, exist_ok=True)
    memory = _remembered(folder, source.version)
    if is_whole or memory.seen is None or not source.remembers(memory.seen):
        memory = Memory(paths=memory.paths)
    made, gone, written = {}, set(), 0
    for page in watch(source.pages(memory)):
        if not _is_inside(page.path):
            continue
        try:
            written += _write(folder / page.path, page.content())
            made[page.path] = page.part
        except Gone:
            gone.add(page.path)
    if memory.seen is None:
        gone |= memory.paths - made.keys()
    removed = sum(_remove(folder / path) for path in gone)
    paths = (memory.paths | made.keys()) - gone
    if memory.seen != source.seen:
        parts = {**memory.parts, **made}
        kept = {path: part for path, part in parts.items() if part and path in paths}
        what = {"version": source.version, "seen": source.seen, "parts": kept, "pages": [*paths]}
        _write(folder / MANIFEST, json.dumps(what))
    return Built(len(paths), written, removed)


def _remembered(folder: Path, version: str) -> Memory:
    """What a folder remembers; of what another version of pbm has written there only what its pages are.

    Names that lead out of the folder are left alone, whoever has put them there.
    """
    try:
        manifest = json.loads((folder / MANIFEST).read_text())
        names, parts, (number, event, *times) = manifest["pages"], dict(manifest["parts"]), manifest["seen"]
        seen = Seen(int(number), int(event), *map(str, times))
        inside = frozenset(filter(_is_inside, names))
    except (OSError, ValueError, TypeError, KeyError, AttributeError):
        return Memory()
    return Memory(seen, parts, inside) if manifest.get("version") == version else Memory(paths=inside)


def _is_inside(path: str) -> bool:
    """Whether a name leads to nothing outside the folder of the site, whoever has put it into the database or there."""
    return path[:1] != "/" and not (".." in path and ".." in path.split("/"))


def _remove(file: Path) -> bool:
    """Remove a file; False if there is none."""
    is_there = file.is_file()
    if is_there:
        file.unlink()
    return is_there


def _write(file: Path, content: str | bytes) -> bool:
    """Write a file that is there as a whole or not at all; False if it has that content already."""
    data = content.encode() if isinstance(content, str) else content
    try:
        if file.read_bytes() == data:
            return False
    except FileNotFoundError:
        file.parent.mkdir(exist_ok=True)
    copy = file.with_name(f".{file.name}.new")
    copy.unlink(missing_ok=True)  # of a build that was killed; or a link that somebody has put there
    with copy.open("xb") as made:
        made.write(data)
    copy.replace(file)
    return True
