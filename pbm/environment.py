"""Settings from files, for variables that are not set in the environment.

So every program sees the same settings, no matter how it is started. docs/installing.md says what the files look like.
They have the form of systemd's EnvironmentFile, a setting a line.
"""

import os
import re
import stat
from collections.abc import Iterator, Mapping
from typing import NamedTuple

PREFIX = "PBM_"
SECRETS = "PBM_PASSWORD", "PBM_TOKEN", "PBM_IMAP_PASSWORD", "PBM_TRANSPORT_PASSWORD", "PBM_OAUTH_SECRET"
"""The settings that nobody else should read. Each can be in a file of its own, which NAME_FILE names."""
USERS_FILE = "~/.config/pbm/pbm.env"
SERVERS_FILE = "/etc/pbm/pbm.env"
ENVIRONMENT = "the environment"

_LINE = r"[ \t]*(?P<name>[A-Za-z_][A-Za-z0-9_]*)[ \t]*=(?P<text>.*)"
_QUOTED = r"""(?s)'(?P<single>[^']*)'|"(?P<double>(?:[^"\\]|\\.)*)\""""
_HOME = r"([a-z]+:)?~"
"""How a path in a home folder begins, also that of a transport, for example ``maildir:~/mail``."""


class SettingsError(Exception):
    """A file of settings that must not be used, or cannot be understood. The text is for the user."""


class Layer(NamedTuple):
    """One of the places that settings come from."""

    source: str
    """What it is called, such as the path of its file."""
    values: Mapping[str, str]


class Setting(NamedTuple):
    """A setting, and where it comes from."""

    value: str
    source: str


def load() -> None:
    """Set the variables that the environment of this process lacks, from the files. Raises SettingsError."""
    SOURCES.clear()
    for name, setting in settings_of(layers()).items():
        os.environ.setdefault(name, setting.value)
        SOURCES[name] = setting.source


SOURCES: dict[str, str] = {}
"""Where each setting comes from, once `load` was called."""


def layers() -> list[Layer]:
    """The places that settings come from, the strongest one first. Raises SettingsError."""
    own = {name: value for name, value in os.environ.items() if name.startswith(PREFIX)}
    places = [Layer(ENVIRONMENT, own)]
    if folder := os.environ.get("CREDENTIALS_DIRECTORY"):  # systemd's, which only the service can read
        names = [name for name in SECRETS if os.path.exists(f"{folder}/{name}")]
        places.append(Layer(f"the credentials in {folder}", {f"{name}_FILE": f"{folder}/{name}" for name in names}))
    for path in paths():
        text = read_safely(path)
        if text is not None:
            places.append(Layer(path, dict(read_lines(text, path))))
    return places


def paths() -> list[str]:
    """The files of settings, which need not exist, the strongest one first: those in PBM_SETTINGS, if that is set."""
    chosen = os.environ.get("PBM_SETTINGS")
    if chosen is not None:
        return chosen.split(":") if chosen else []
    return [os.path.expanduser(USERS_FILE), SERVERS_FILE]


def settings_of(places: list[Layer]) -> dict[str, Setting]:
    """Each setting, from the first place that has it or names a file with it. Raises SettingsError."""
    settings: dict[str, Setting] = {}
    for place in places:
        for name, value in place.values.items():
            if name.startswith(PREFIX):
                settings.setdefault(name, Setting(value, place.source))
        for name in SECRETS:
            path = place.values.get(f"{name}_FILE")
            if not path:
                continue
            if name in place.values:
                raise SettingsError(f"{place.source} sets both {name} and {name}_FILE; keep one of them.")
            if name not in settings:
                settings[name] = Setting(read_secret_file(path), path)
    return settings


def read_secret_file(path: str) -> str:
    """What stands in the file of a secret, without the line end. Raises SettingsError."""
    text = read_safely(path)
    if text is None:
        raise SettingsError(f"There is no file {path} that can be read; a setting names it.")
    return text.rstrip("\r\n")


def read_safely(path: str) -> str | None:
    """The text of a file; None if there is none, or none that this user can read.

    Raises SettingsError if somebody else can write to it, because then somebody else would decide what we do.
    """
    try:
        with open(path, encoding="utf-8") as file:
            about = os.fstat(file.fileno())
            if not stat.S_ISREG(about.st_mode):  # a pipe, with which a shell hands over a secret
                return file.read()
            if about.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
                raise SettingsError(f"Others can write to {path}, so it is not used; `chmod go-w {path}` mends it.")
            folder = os.path.dirname(os.path.abspath(path))
            mode = os.stat(folder).st_mode
            if mode & stat.S_IWOTH and not mode & stat.S_ISVTX:  # with this bit, as of /tmp, nobody can replace it
                raise SettingsError(f"Others can replace {path}, so it is not used; `chmod o-w {folder}` mends it.")
            return file.read()
    except UnicodeDecodeError:
        raise SettingsError(f"{path} is no text in UTF-8.") from None
    except OSError:
        return None


def read_lines(text: str, path: str) -> Iterator[tuple[str, str]]:
    """The names and values in a file of settings. Raises SettingsError, with the number of the line.

    One of our settings that a shell would read in another way is refused: systemd takes remarks and ~ as parts of it.
    A secret may have both in it, so it is taken as systemd takes it.
    """
    text = text.removeprefix("\ufeff").replace("\\\r\n", "").replace("\\\n", "")
    for number, line in enumerate(text.splitlines(), 1):
        stripped = line.strip()
        if not stripped or stripped[0] in "#;":
            continue
        match = re.fullmatch(_LINE, line)
        if match is None:
            raise SettingsError(f"Line {number} of {path} is not NAME=VALUE.")
        name = match["name"]
        is_judged = name.startswith(PREFIX) and name not in SECRETS
        place = f"line {number} of {path}"
        is_quoted = match["text"].lstrip().startswith(("'", '"'))
        if is_judged and not is_quoted and re.search(r"[ \t]#", match["text"]):
            what = f"In {place}, a # stands behind the value."
            raise SettingsError(f"{what} Give a remark a line of its own, or put a value with # in quotes.")
        value = _unquoted(match["text"].strip(), place)
        if is_judged and re.match(_HOME, value):
            raise SettingsError(f"In {place}, ~ is no home folder; write the whole path.")
        yield name, value


def _unquoted(written: str, place: str) -> str:
    """The value of a setting as it was written, with or without quotes. Raises SettingsError."""
    if not written.startswith(("'", '"')):
        return re.sub(r"\\(.)", r"\1", written)
    quoted = re.fullmatch(_QUOTED, written)
    if quoted is None:
        raise SettingsError(f"The quotes in {place} do not match, or something stands behind them.")
    if quoted["single"] is not None:
        return quoted["single"]
    return re.sub(r'\\(["\\$`])', r"\1", quoted["double"])


def is_readable_by_others(path: str) -> bool:
    """Whether users other than its owner and group can read a file."""
    try:
        return bool(os.stat(path).st_mode & stat.S_IROTH)
    except OSError:
        return False
