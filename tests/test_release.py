"""A release: what `python -m build` makes plays without the checkout, and the tools that install programs take it."""

import os
import re
import shutil
import subprocess
import sys
import venv
from configparser import ConfigParser
from pathlib import Path
from zipfile import ZipFile

import pytest

CHECKOUT = Path(__file__).parent.parent
VERSION = re.search(r"^version = (\S+)$", (CHECKOUT / "setup.cfg").read_text(), re.MULTILINE)[1]


@pytest.fixture(scope="module")
def source(tmp_path_factory):
    """The checkout as git would clone it."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=CHECKOUT, capture_output=True, text=True, check=True,
    )  # fmt: skip
    folder = tmp_path_factory.mktemp("release") / "source"
    for name in filter(None, listed.stdout.split("\0")):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(CHECKOUT / name, folder / name, follow_symlinks=False)
    return folder


@pytest.fixture
def run(tmp_path):
    """Runs a command far from the checkout, as a user who has set nothing. Returns what it prints."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("PBM_", "VIRTUAL_ENV", "PYTHON"))}
    home = tmp_path / "home"
    home.mkdir()
    path = f"{home}/.local/bin:{Path(sys.executable).parent}:{os.environ['PATH']}"
    kept |= {"HOME": str(home), "PATH": path, "UV_PYTHON_DOWNLOADS": "never", "UV_PYTHON": sys.executable}

    def run(*command, cwd=home):
        done = subprocess.run(command, cwd=cwd, env=kept, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    return run


def lines_of(tool):
    """The lines of docs/installing.md that begin with a tool, each as words."""
    page = (CHECKOUT / "docs/installing.md").read_text()
    return [line.replace("'", "").split() for line in re.findall(rf"^{tool} .*", page, re.MULTILINE)]


@pytest.mark.long
def test_a_wheel_that_is_built_from_the_source_distribution_plays_serves_and_makes_pages(source, run, tmp_path):
    run(sys.executable, "-m", "build", "--outdir", tmp_path, source)  # the wheel is built from the other one
    [wheel] = tmp_path.glob("*.whl")
    assert wheel.name == f"pbm_server-{VERSION}-py3-none-any.whl"
    names = ZipFile(wheel).namelist()
    assert {name.partition("/")[0] for name in names} == {"games", "help", "pbm", f"pbm_server-{VERSION}.dist-info"}
    venv.create(tmp_path / "fresh", with_pip=True)
    fresh = tmp_path / "fresh" / "bin"
    run(fresh / "pip", "install", "-q", "--no-compile", f"{wheel}[site]")
    assert run(fresh / "pbm", "--version") == f"pbm {VERSION}\n"
    assert "| Won by " in run(fresh / "pbm", "demo")  # a server, a mail program and a robot
    run(fresh / "pbm", "signup", "alice", "alice-secret")
    run(fresh / "pbm", "signup", "bob", "bob-secret")
    run(fresh / "spiro", "challenge", "alice", "bob")
    run(fresh / "pbm", "site", tmp_path / "site", "--url=https://games.example/")
    assert "alice" in (tmp_path / "site/spiro/101.html").read_text()


@pytest.mark.long
@pytest.mark.parametrize("tool", ["pipx install", "uv tool install"])
def test_a_tool_installs_the_programs_with_the_line_of_the_documents(tool, source, run):
    [line] = lines_of(tool)
    run(*line, cwd=source)
    assert run("pbm", "--version") == f"pbm {VERSION}\n"
    assert "Spiro" in run("spiro", "help")
    assert "alice" in run("pbm", "signup", "alice", "alice-secret")


@pytest.mark.long
def test_uvx_plays_the_demo_without_installing_anything(source, run):
    [line] = lines_of("uvx")
    assert "| Won by " in run(*line, cwd=source)


def test_the_version_is_written_in_one_place_and_the_changelog_begins_with_it():
    settings = ConfigParser()
    settings.read(CHECKOUT / "setup.cfg")
    assert settings["metadata"]["version"] == VERSION
    changes = (CHECKOUT / "CHANGELOG.md").read_text()
    assert re.search(r"^## (\S+?),", changes, re.MULTILINE)[1] == VERSION
    written = [path for path in (CHECKOUT / "pbm").rglob("*.py") if f'"{VERSION}"' in path.read_text()]
    assert written == []
