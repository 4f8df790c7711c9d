"""The units of systemd in docs/systemd: systemd understands them, and pbm the commands in them."""

import shlex
import shutil
import subprocess
from pathlib import Path

import click
import pytest

from pbm.console import OPERATORS
from pbm.environment import PREFIX, read_lines
from pbm.operator.settings import SETTING_NAMES

UNITS = Path(__file__).parent.parent / "docs/systemd"
SITE = "pbm-site.conf"
PROGRAM = "/usr/local/bin/pbm"


def values(name, setting):
    """The values of a setting in a unit, one for each line that sets it."""
    lines = UNITS.joinpath(name).read_text().splitlines()
    return [line.removeprefix(f"{setting}=") for line in lines if line.startswith(f"{setting}=")]


def command(name):
    """The words behind `pbm` in the last command of a unit."""
    program, *words = shlex.split(values(name, "ExecStart")[-1].replace("%%", "%"))
    assert program == PROGRAM
    return words


@pytest.mark.skipif(not shutil.which("systemd-analyze"), reason="systemd is not installed")
def test_systemd_has_nothing_to_say_against_a_unit(tmp_path):
    for path in UNITS.glob("pbm*.*"):
        to = tmp_path / path.name
        if path.name == SITE:
            to = tmp_path / "pbm.service.d/site.conf"
            to.parent.mkdir()
        to.write_text(path.read_text().replace(PROGRAM, "/bin/true"))
    units = [path for path in tmp_path.iterdir() if path.suffix in {".service", ".timer"}]
    done = subprocess.run(["systemd-analyze", "verify", *units], check=False, capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


@pytest.mark.parametrize("name", sorted(path.name for path in UNITS.iterdir() if "ExecStart" in path.read_text()))
def test_pbm_knows_the_command_of_a_unit_and_its_options(name):
    first, *words = command(name)
    about = click.Context(OPERATORS)
    row = OPERATORS.get_command(about, first)
    row.make_parser(click.Context(row)).parse_args(words)  # raises NoSuchOption


def test_each_line_of_the_settings_of_the_units_can_be_read_and_sets_what_there_is():
    lines = UNITS.joinpath("pbm.env").read_text().splitlines()
    set_lines = [line.removeprefix("#") for line in lines if line.removeprefix("#").startswith(PREFIX)]
    assert len(set_lines) == 10
    assert {name for name, _ in read_lines("\n".join(set_lines), "pbm.env")} <= {*SETTING_NAMES}


def test_with_a_site_the_server_listens_as_without_and_may_write_into_the_folder_that_others_read():
    assert command(SITE)[: len(command("pbm.service"))] == command("pbm.service")
    assert "--site=/var/www/games" in command(SITE)
    assert values("pbm.service", "ProtectSystem") == ["strict"]
    assert values(SITE, "ReadWritePaths") == ["/var/www/games"]
    assert values(SITE, "UMask") == ["0022"]
    assert values("pbm.service", "StateDirectoryMode") == ["0700"]
