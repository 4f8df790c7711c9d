"""Fixtures that many tests take, and what pytest is told; what the fixtures are made of stands in helpers/."""

import asyncio
import gc
import os
import signal
from collections.abc import Callable, Coroutine, Iterator
from functools import lru_cache
from itertools import compress, count
from pathlib import Path
from typing import Any
from weakref import WeakKeyDictionary

import hypothesis
import pytest

import games
from pbm.drawing import images
from pbm.operator.events import EVENT_KINDS
from pbm.passwords import Passwords
from pbm.site.pages import Pages

pytest.register_assert_rewrite("helpers")  # so that an assertion of theirs that fails says what it compared

from helpers.browsers import Browser
from helpers.clocks import VirtualTime
from helpers.club import Club, begin_symple, hash_cheaply, pair_up
from helpers.examples import IS_QUICK, examples
from helpers.fixtures import set_up
from helpers.leagues import League
from helpers.members import Members, found
from helpers.packages import install
from helpers.relays import NAMES
from helpers.servers import Certificate, new_certificate
from helpers.shell import Shell, two_players

hypothesis.settings.register_profile("pbm", examples())
hypothesis.settings.load_profile("pbm")
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)  # processes of the tests start as users' do: compiled already
os.environ["PBM_SETTINGS"] = ""  # no file of whoever runs the tests counts
# as robots have it; else numpy, which sqlite-utils may have imported before, computes with all cores
os.environ["OPENBLAS_NUM_THREADS"] = "1"


NUMBERS = count()
"""Of the folders of tests."""


def pytest_configure() -> None:
    """Let the processes that tests start be interrupted, also where this was started in the background of a script.

    And know our own games alone, and keep the priority of this process: nobody gets theirs back.
    """
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    # games that other packages have brought here are none of those that these tests are about
    pytest.MonkeyPatch().setattr("games._entry_points", dict)
    pytest.MonkeyPatch().setattr(os, "setpriority", lambda *_: None)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out what takes long, but for ``bin/test --all``, which begins with it, lest it run alone at the end."""
    is_long = [item.get_closest_marker("long") is not None for item in items]
    if not IS_QUICK:
        items[:] = [*compress(items, is_long), *(item for item, first in zip(items, is_long, strict=True) if not first)]
    else:
        config.hook.pytest_deselected(items=[*compress(items, is_long)])
        items[:] = [item for item, left_out in zip(items, is_long, strict=True) if not left_out]


def pytest_collection_finish() -> None:
    """Never look for garbage in what there is before the first test: that is most of all, and none."""
    gc.collect()
    gc.freeze()


@pytest.fixture(autouse=True, scope="session")
def trusted_disk() -> Iterator[None]:
    """Wait for no disk in this process, whose plug nobody pulls: others write a lot to it."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("os.fsync", lambda _: None)
        yield


@pytest.fixture(autouse=True, scope="session")
def cheap_hashes() -> Iterator[pytest.MonkeyPatch]:
    """Hash passwords in this process as cheaply as argon2 can."""
    with pytest.MonkeyPatch.context() as patched:
        hash_cheaply(patched)
        yield patched


@pytest.fixture(autouse=True, scope="session")
def pictures_drawn_once() -> Iterator[None]:
    """Draw a picture that this process has just drawn no second time: a mail that is tried each day has the same."""
    if not images.is_available():
        yield
        return
    from resvg_py import svg_to_bytes

    @lru_cache(20)
    def drawn(font_file: str, **how: Any) -> bytes:
        return svg_to_bytes(font_files=[font_file], **how)

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("resvg_py.svg_to_bytes", lambda font_files, **how: drawn(*font_files, **how))
        yield


@pytest.fixture(autouse=True, scope="session")
def examples_played_once() -> Iterator[None]:
    """Play the game once whose position stands for a game on the site: each first build shows the same one."""
    draw_example, drawn = Pages.example, WeakKeyDictionary()

    def example(pages: Pages, game: str) -> str:
        rules = games.load(game)  # which a test may have replaced
        if rules not in drawn:
            drawn[rules] = draw_example(pages, game)
        return drawn[rules]

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(Pages, "example", example)
        yield


@pytest.fixture
def tmp_path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A new folder, as pytest has it, but for links to the last one of each name: most tests take one."""
    return tmp_path_factory.mktemp(f"test-{next(NUMBERS)}", numbered=False)


@pytest.fixture
def real_hashes(cheap_hashes: pytest.MonkeyPatch) -> Iterator[None]:
    """Hash passwords as processes do."""
    cheap_hashes.undo()
    yield
    hash_cheaply(cheap_hashes)


@pytest.fixture
def club(tmp_path: Path) -> Iterator[Club]:
    club = Club(tmp_path / "pbm.db")
    yield club
    club.store.close()


pair, board = set_up(pair_up), set_up(begin_symple)


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    """A Chromium, installed if it is not there. Tests that ask for it run with PBM_TEST_BROWSER=1 alone."""
    install("PBM_TEST_BROWSER", "chromedriver", "chromium", "chromium-driver", "fonts-dejavu-core")
    browser = Browser(tmp_path_factory.mktemp("chromium"))
    yield browser
    browser.driver.quit()


@pytest.fixture
def waiting(club: Club) -> Club:
    """A mail to each of four people waits in the outbox."""
    for name in NAMES:
        club.say("help", sender=f"{name}@players.example")
    return club


@pytest.fixture
def league(club: Club) -> Iterator[League]:
    """Tournaments in this process; all that they note for hooks is of the kinds that hooks can ask for."""
    yield League(club)
    noted = {event.kind for event in club.store.events.since(0, 1_000)}
    assert noted <= EVENT_KINDS  # else nobody could ask for them


@pytest.fixture(name="shell")
def shell_(tmp_path: Path) -> Shell:
    return Shell(tmp_path)


@pytest.fixture
def players(shell: Shell) -> Shell:
    """alice and bob on board 101 of small Spiro, with two pieces each."""
    shell.become(two_players)
    return shell


@set_up
def kept(shell: Shell) -> None:
    """A database of alice and bob, and the file `copy`, a backup of it from before bob."""
    shell.sign_up("alice")
    assert shell.run("backup", str(shell.folder / "copy")).returncode == 0
    shell.sign_up("bob")


@pytest.fixture(scope="session")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Certificate:
    return new_certificate(tmp_path_factory.mktemp("tls"))


@pytest.fixture(scope="session")
def founded(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Passwords]:
    """A database in which alice, bob, carol and dora are signed up."""
    path = tmp_path_factory.mktemp("founded") / "pbm.db"
    return path, found(path)


@pytest.fixture
def four(founded: tuple[Path, Passwords], tmp_path: Path) -> Iterator[Members]:
    """The four of them, in a shell."""
    yield from _members(founded, tmp_path, "shell")


@pytest.fixture(params=[pytest.param("shell", marks=pytest.mark.long), "mail"])
def both_ways(founded: tuple[Path, Passwords], tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Members]:
    """The four of them, who give their commands by mail, and in another run of the test in a shell.

    The quick run has those by mail alone: what is read and done is the same, and a shell has tests of its own.
    """
    yield from _members(founded, tmp_path, request.param)


@set_up
def begun(both_ways: Members) -> None:
    """The same, with Symple board 101, on which alice is to make the first move."""
    both_ways.begin()


@set_up
def moved(both_ways: Members) -> None:
    """The same, with Symple board 101, on which alice is to make the third move."""
    both_ways.begin()
    both_ways.plays("c3", "b1")


@set_up
def game(four: Members) -> None:
    """The four in a shell, with Symple board 101, on which alice is to make the third move."""
    four.begin()
    four.plays("c3", "b1")


@pytest.fixture
def by_mail(founded: tuple[Path, Passwords], tmp_path: Path) -> Iterator[Members]:
    """The four of them, by mail."""
    yield from _members(founded, tmp_path, "mail")


def _members(founded: tuple[Path, Passwords], folder: Path, way: str) -> Iterator[Members]:
    path, passwords = founded
    members = Members(path, folder / "pbm.db", passwords, way)
    yield members
    members.store.close()


@pytest.fixture
def virtual_time() -> Iterator[Callable[[Coroutine[Any, Any, Any]], Any]]:
    """Runs a coroutine in virtual time."""
    with asyncio.Runner(loop_factory=VirtualTime) as runner:
        yield runner.run
