"""Make the environment of this checkout in .venv: `python3 make_environment.py [EXTRA]...`.

It has what setup.cfg lists for pbm, for the extras of USUAL, and for those that are named. Programs that are started at
the same time wait for each other; an environment that was not finished is made anew.
"""

import fcntl
import shutil
import subprocess
import sys
import venv
from collections.abc import Sequence
from configparser import ConfigParser
from pathlib import Path

CHECKOUT = Path(__file__).resolve().parent.parent
ENVIRONMENT = CHECKOUT / ".venv"
USUAL = "pictures", "site"
"""The extras that the environment always has."""


def say(text: str) -> None:
    """Print a step, away from what the program itself prints."""
    sys.stderr.write(f"{text}\n")
    sys.stderr.flush()


def known_extras() -> list[str]:
    """The extras that setup.cfg lists."""
    settings = ConfigParser()
    settings.read(CHECKOUT / "setup.cfg")
    return [*settings["options.extras_require"]]


def is_ours() -> bool:
    """Whether there is an environment that was made in this folder; one that was moved does not work."""
    link = ENVIRONMENT / "checkout"
    return link.exists() and link.samefile(CHECKOUT)


def stamps(extras: Sequence[str]) -> list[Path]:
    """The files that say when the environment got what pbm always needs, and when it got each of these extras."""
    return [ENVIRONMENT / "ready", *(ENVIRONMENT / f"ready-{extra}" for extra in extras)]


def is_ready(extras: Sequence[str]) -> bool:
    """Whether the environment is newer than setup.cfg, which lists what it has to contain."""
    changed = (CHECKOUT / "setup.cfg").stat().st_mtime
    return is_ours() and all(stamp.exists() and stamp.stat().st_mtime > changed for stamp in stamps(extras))


def make(extras: Sequence[str]) -> None:
    """Make the environment, and install this checkout into it so that changes of the code take effect at once."""
    if not is_ours():
        say(f"Setting up pbm in {ENVIRONMENT}, once; this takes about half a minute.")
        say("1/2  making a Python environment ...")
        shutil.rmtree(ENVIRONMENT, ignore_errors=True)
        venv.create(ENVIRONMENT, with_pip=True)
    pip = [ENVIRONMENT / "bin" / "python", "-m", "pip", "--disable-pip-version-check"]
    say(f"2/2  installing what {'the tests need' if 'test' in extras else 'pbm needs'} from PyPI ...")
    what = f"{CHECKOUT}[{','.join([*USUAL, *extras])}]"
    # half of the time goes into compiling, mostly of modules that tests never import; players would have to wait for it
    # at their first command, and might not be allowed to write the results
    compiling = ["--no-compile"] if extras else []
    subprocess.run([*pip, "install", "-qq", *compiling, "--editable", what], check=True, stdout=sys.stderr)
    (ENVIRONMENT / "checkout").unlink(missing_ok=True)
    (ENVIRONMENT / "checkout").symlink_to(CHECKOUT)
    for stamp in stamps(extras):
        stamp.touch()
    say("Ready.")


def main(*words: str) -> None:
    """Make the environment, with the extras that these words name, unless it is there already."""
    if sys.version_info < (3, 11):
        sys.exit("pbm needs Python 3.11 or newer; `python3` is {}.{}.".format(*sys.version_info[:2]))
    extras = sorted({extra for word in words for extra in word.lower().split(",") if extra})
    known = known_extras()
    unknown = [extra for extra in extras if extra not in known]
    if unknown:
        sys.exit(f"There is no extra {', '.join(map(repr, unknown))}; there are {', '.join(known)}.")
    with (CHECKOUT / ".venv.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if is_ready(extras):
            return
        try:
            make(extras)
        except (OSError, subprocess.CalledProcessError) as error:
            sys.exit(f"pbm could not be set up: {error}. (On Debian, the package python3-venv is needed.)")


if __name__ == "__main__":
    main(*sys.argv[1:])
