"""The site is built: whatever page is made of other things than when it was written last is written again."""

import json
from collections.abc import Callable, Iterable, Mapping
from hashlib import blake2b
from pathlib import Path
from typing import NamedTuple

MANIFEST = ".pbm-site.json"
"""Where in its folder a site keeps what its pages are made of."""


class Gone(LookupError):
    """What a page is about was removed while the page was made."""


class Page(NamedTuple):
    """A file of the site."""

    path: str
    """Within the folder of the site, such as ``symple/101.html``."""
    key: str
    """What it is made of, digested: as long as this stays the same, so does the file."""
    content: Callable[[], str | bytes]
    """Makes it. Raises Gone if there is nothing any more to make it of."""


class Built(NamedTuple):
    """What a build has done."""

    pages: int
    """How many files the site has."""
    written: int
    removed: int


def digested(*parts: object) -> str:
    """A short text that is another one as soon as any of these parts is."""
    return blake2b(repr(parts).encode(), digest_size=9).hexdigest()


def build(folder: Path, pages: Iterable[Page], version: str, watch: Callable[[list[Page]], Iterable[Page]]) -> Built:
    """Write the pages that have changed, and remove what was written once and is no page any more.

    *version* is digested of what all pages have in common. *watch* hands on the pages that are to be made, and may
    show how far that is. Raises OSError if the folder cannot be written.
    """
    folder.mkdir(parents=True, exist_ok=True)
    known = _known(folder, version)
    keys = {page.path: page for page in pages}
    stale = [page for path, page in keys.items() if known.get(path) != page.key]
    written = 0
    for page in watch(stale):
        try:
            written += _write(folder / page.path, page.content())
        except Gone:
            del keys[page.path]
    gone = known.keys() - keys.keys()
    for path in gone:
        (folder / path).unlink(missing_ok=True)
    if stale or gone:
        manifest = {"version": version, "pages": {path: page.key for path, page in keys.items()}}
        _write(folder / MANIFEST, json.dumps(manifest))
    return Built(len(keys), written, len(gone))


def _known(folder: Path, version: str) -> Mapping[str, str]:
    """What the pages in a folder were made of; nothing if another version of pbm has written them.

    Names that lead out of the folder are left alone, whoever has put them there.
    """
    try:
        manifest = json.loads((folder / MANIFEST).read_text())
    except (OSError, ValueError):
        return {}
    if not isinstance(manifest, dict) or not isinstance(manifest.get("pages"), dict):
        return {}
    same = manifest.get("version") == version
    inside = {
        path: key for path, key in manifest["pages"].items() if not path.startswith("/") and ".." not in path.split("/")
    }
    return inside if same else dict.fromkeys(inside, "")


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
