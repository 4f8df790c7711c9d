"""Settings from the environment, from files, and from credentials; what is refused, and what `pbm settings` says."""

import json
import re
from pathlib import Path

import pytest

from pbm import environment
from pbm.environment import SettingsError, read_lines
from pbm.operator.settings import SETTING_NAMES

ROOT = Path(__file__).parent.parent


@pytest.fixture
def home(shell, tmp_path):
    """A shell whose user has a home folder, with a file of settings in it and one of the server beside it."""
    (tmp_path / "home/.config/pbm").mkdir(parents=True)
    shell.environment |= {"PBM_SETTINGS": f"{tmp_path}/home/.config/pbm/pbm.env:{tmp_path}/server.env"}
    return shell


def write(path, text, mode=0o600):
    """Write a file of that mode. Returns its path."""
    path.write_text(text)
    path.chmod(mode)
    return path


def shown(shell):
    """The values that `pbm settings` shows, with their sources."""
    return {setting["name"]: (setting["value"], setting["source"]) for setting in settings(shell)["settings"]}


def settings(shell):
    """What `pbm settings` says, for programs."""
    return json.loads(shell.run("settings", "--json").stdout)


# The form of a file

WRITTEN = {
    "PBM_DB=/var/lib/pbm.db": "/var/lib/pbm.db",
    "  PBM_DB = /var/lib/pbm.db  ": "/var/lib/pbm.db",
    'PBM_DB="/a folder/pbm.db"': "/a folder/pbm.db",
    "PBM_DB='/a folder/\"pbm\".db'": '/a folder/"pbm".db',
    r'PBM_DB="a \"quoted\" \\ and a \n"': r'a "quoted" \ and a \n',
    r"PBM_DB=a\ b": "a b",
    "PBM_DB=one \\\ntwo": "one two",
    "PBM_DB='a # no remark'": "a # no remark",
    "PBM_DB=a#no-remark": "a#no-remark",
    "PBM_DB=/home/alice~": "/home/alice~",
    "PBM_DB=": "",
    "PBM_DB=a=b": "a=b",
    "\ufeffPBM_DB=after a mark": "after a mark",
    "PBM_DB=with carriage returns\r\n": "with carriage returns",
}


@pytest.mark.parametrize("written", WRITTEN, ids=repr)
def test_a_setting_is_written_as_in_an_environment_file_of_systemd(written):
    assert dict(read_lines(written, "file")) == {"PBM_DB": WRITTEN[written]}


def test_empty_lines_and_remarks_are_passed_over_and_the_last_of_two_lines_counts():
    assert dict(read_lines("\n# PBM_DB=a\n; PBM_DB=b\nPBM_DB=c\nTZ=UTC\nPBM_DB=d", "file")) == {
        "PBM_DB": "d",
        "TZ": "UTC",
    }


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("PBM_DB=a\nexport PBM_DB=b", "Line 2 of file is not NAME=VALUE."),
        ("PBM_DB", "Line 1 of file is not NAME=VALUE."),
        ("1PBM=2", "Line 1 of file is not NAME=VALUE."),
        ('PBM_DB="a', "The quotes in line 1 of file do not match, or something stands behind them."),
        ("PBM_DB='a' b", "The quotes in line 1 of file do not match, or something stands behind them."),
        ("PBM_DB='a' # remark", "The quotes in line 1 of file do not match, or something stands behind them."),
        ("\nPBM_DB=a # remark", "In line 2 of file, a # stands behind the value. Give a remark a line of its own"),
        ("PBM_SITE=a\t# remark", "In line 1 of file, a # stands behind the value."),
        ("PBM_SITE= # none yet", "In line 1 of file, a # stands behind the value."),
        ("PBM_DB=~/pbm.db", "In line 1 of file, ~ is no home folder; write the whole path."),
        ("PBM_DB='~alice/pbm.db'", "In line 1 of file, ~ is no home folder; write the whole path."),
        ("PBM_TRANSPORT=maildir:~/mail", "In line 1 of file, ~ is no home folder; write the whole path."),
        ("PBM_TOKEN_FILE=~/token", "In line 1 of file, ~ is no home folder; write the whole path."),
    ],
)
def test_what_is_no_setting_is_refused_with_its_line(text, complaint):
    with pytest.raises(SettingsError, match=re.escape(complaint)):
        list(read_lines(text, "file"))


def test_only_our_own_settings_that_are_no_secrets_are_refused_for_what_a_shell_would_read_in_another_way():
    assert dict(read_lines("PATH=~/bin # mine\nPBM_PASSWORD=~secret #1\nPBM_DB=#1", "file")) == {
        "PATH": "~/bin # mine",
        "PBM_PASSWORD": "~secret #1",
        "PBM_DB": "#1",
    }


def test_no_program_begins_with_a_remark_in_the_name_of_its_database(home, tmp_path):
    del home.environment["PBM_DB"]
    path = write(tmp_path / "server.env", f"PBM_DB={tmp_path}/games.db # the database\n")
    for command in [["doctor"], ["serve", "--listen=127.0.0.1:0"], ["settings"]]:
        assert home.refused(*command).startswith(f"In line 1 of {path}, a # stands behind the value.")
    assert not [*tmp_path.glob("games.db*")]


# Which of them counts


def test_the_environment_counts_before_the_users_file_and_that_before_the_servers(home, tmp_path):
    own = write(tmp_path / "home/.config/pbm/pbm.env", "PBM_SITE=https://own.example\nPBM_WEB=https://own.example\n")
    servers = write(
        tmp_path / "server.env",
        "PBM_SITE=https://server.example\nPBM_WEB=https://server.example\nPBM_OPERATOR=server@example.org\n",
    )
    home.environment |= {"PBM_SITE": "https://variable.example"}
    values = shown(home)
    assert values["PBM_SITE"] == ("https://variable.example", "the environment")
    assert values["PBM_WEB"] == ("https://own.example", str(own))
    assert values["PBM_OPERATOR"] == ("server@example.org", str(servers))
    assert values["PBM_ROBOT_BOARDS"] == ("5", "default")
    assert settings(home)["odd"] == [
        f"PBM_SITE in {own} does not count: the environment has another value.",
        f"PBM_SITE in {servers} does not count: the environment has another value.",
        f"PBM_WEB in {servers} does not count: {own} has another value.",
    ]


def test_every_program_uses_the_database_that_a_file_names(home, tmp_path):
    del home.environment["PBM_DB"]
    write(tmp_path / "server.env", f"PBM_DB={tmp_path}/elsewhere.db\n")
    home.sign_up("alice")
    assert (tmp_path / "elsewhere.db").exists()
    assert "alice" in home.done("users", "list")


def test_the_files_are_those_of_the_user_and_of_the_server(monkeypatch):
    monkeypatch.delenv("PBM_SETTINGS", raising=False)
    monkeypatch.setenv("HOME", "/home/alice")
    assert environment.paths() == ["/home/alice/.config/pbm/pbm.env", "/etc/pbm/pbm.env"]


def test_a_setting_without_a_value_counts_as_set_to_nothing(home, tmp_path):
    write(tmp_path / "server.env", "PBM_SITE=https://server.example\n")
    home.environment["PBM_SITE"] = ""
    assert shown(home)["PBM_SITE"] == (None, "the environment")


# Secrets


def test_a_secret_can_be_in_a_file_of_its_own_and_is_not_shown(home, tmp_path):
    secret = write(tmp_path / "secret", "geheim\n")
    write(tmp_path / "server.env", f"PBM_IMAP_PASSWORD_FILE={secret}\n")
    assert shown(home)["PBM_IMAP_PASSWORD"] == ("(not shown)", str(secret))
    assert settings(home)["odd"] == []
    assert "geheim" not in home.run("settings").stdout


def test_a_password_that_a_dash_stands_for_can_be_in_a_file(home, tmp_path):
    home.sign_up("alice")
    home.environment["PBM_PASSWORD_FILE"] = str(write(tmp_path / "secret", "alice-secret\n"))
    assert "alice" in home.done("tokens", "alice", "-")


def test_a_credential_of_systemd_has_the_name_of_its_setting(home, tmp_path):
    write(tmp_path / "PBM_TRANSPORT_PASSWORD", "geheim", 0o400)
    write(tmp_path / "server.env", "PBM_TRANSPORT_PASSWORD=other\n")
    home.environment["CREDENTIALS_DIRECTORY"] = str(tmp_path)
    assert shown(home)["PBM_TRANSPORT_PASSWORD"] == ("(not shown)", str(tmp_path / "PBM_TRANSPORT_PASSWORD"))


def test_a_secret_that_everybody_can_read_is_named(home, tmp_path):
    path = write(tmp_path / "server.env", "PBM_TRANSPORT_PASSWORD=geheim\n", 0o644)
    assert settings(home)["odd"] == [
        f"Everybody on this machine can read the secrets in {path}; `chmod o-r {path}` mends it."
    ]
    write(path, "PBM_SITE=https://games.example\n", 0o644)
    assert settings(home)["odd"] == []


def test_a_password_within_an_address_is_not_shown(home):
    home.environment["PBM_TRANSPORT"] = "smtps://alice:geheim@smtp.example.org"
    assert shown(home)["PBM_TRANSPORT"][0] == "smtps://alice:PASSWORD@smtp.example.org"


# What is refused


@pytest.mark.parametrize("mode", [0o660, 0o606, 0o666, 0o622], ids=oct)
def test_a_file_that_others_can_write_to_is_refused_by_every_program(home, tmp_path, mode):
    path = write(tmp_path / "server.env", "PBM_SITE=https://games.example\n", mode)
    for command in [["users", "list"], ["games"], ["help"], ["settings"]]:
        done = home.run(*command)
        assert (done.returncode, done.stderr.strip()) == (
            1,
            f"Others can write to {path}, so it is not used; `chmod go-w {path}` mends it.",
        )


def test_a_secret_that_others_can_write_to_is_refused(home, tmp_path):
    path = write(tmp_path / "secret", "geheim", 0o622)
    home.environment["PBM_PASSWORD_FILE"] = str(path)
    assert f"Others can write to {path}" in home.run("games").stderr


def test_a_file_in_a_folder_in_which_others_can_replace_it_is_refused(home, tmp_path):
    folder = tmp_path / "open"
    folder.mkdir()
    folder.chmod(0o777)
    home.environment["PBM_SETTINGS"] = str(write(folder / "pbm.env", ""))
    assert home.run("games").stderr.startswith(f"Others can replace {folder}/pbm.env")


def test_a_secret_in_two_ways_and_one_that_is_not_there_are_refused(home, tmp_path):
    home.environment["PBM_PASSWORD_FILE"] = f"{tmp_path}/none"
    assert home.run("games").stderr == f"There is no file {tmp_path}/none that can be read; a setting names it.\n"
    home.environment["PBM_PASSWORD"] = "geheim"
    assert "sets both PBM_PASSWORD and PBM_PASSWORD_FILE" in home.run("games").stderr


def test_a_mail_that_is_piped_to_us_comes_again_when_the_settings_are_mended(home, tmp_path):
    write(tmp_path / "server.env", "nonsense\n")
    assert home.run("deliver", stdin="From: alice@players.example\nSubject: help\n\n").returncode == 75


# What is odd


def test_a_value_that_cannot_be_used_is_named(home):
    home.environment |= {"PBM_ROBOT_BOARDS": "many", "PBM_SITE": "games", "PBM_TRANSPORT": "pigeon:"}
    odd = "\n".join(settings(home)["odd"])
    assert "PBM_ROBOT_BOARDS is no number of boards: 'many'." in odd
    assert "PBM_SITE is no address of a site" in odd
    assert "PBM_TRANSPORT is not maildir:FOLDER" in odd
    assert home.run("settings").returncode == 1


def test_a_name_that_is_no_setting_is_named_with_the_nearest(home):
    home.environment["PBM_ADRESS"] = "pbm@games.example"
    assert settings(home)["odd"] == ["PBM_ADRESS, from the environment, is no setting; did you mean PBM_ADDRESS?"]


def test_every_setting_that_the_program_reads_is_shown_and_documented():
    sources = ROOT.joinpath("pbm").rglob("*.py")
    read = {name for path in sources for name in re.findall(r'"(PBM_[A-Z_]+)"', path.read_text())}
    documented = re.findall(r"^\| `(PBM_[A-Z_]+)` \|", ROOT.joinpath("docs/installing.md").read_text(), re.MULTILINE)
    assert read <= set(SETTING_NAMES)
    assert documented == list(SETTING_NAMES)
