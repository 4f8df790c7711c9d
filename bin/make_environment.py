"""Make the environment of this checkout in .venv: `python3 make_environment.py [EXTRA]`.

Programs that are started at the same time wait for each other; an environment that was not finished is made anew.
"""

import fcntl
import shutil
import subprocess
import sys
import venv
from pathlib import Path

CHECKOUT = Path(__file__).resolve().parent.parent
ENVIRONMENT = CHECKOUT / ".venv"


def say(text: str) -> None:
    """Print a step, away from what the program itself prints."""
    sys.stderr.write(f"{text}\n")
    sys.stderr.flush()


def is_ours() -> bool:
    """Whether there is an environment that was made in this folder; one that was moved does not work."""
    link = ENVIRONMENT / "checkout"
    return link.exists() and link.samefile(CHECKOUT)


def is_ready(stamp: Path) -> bool:
    """Whether the environment is newer than setup.cfg, which lists what it has to contain."""
    return is_ours() and stamp.exists() and stamp.stat().st_mtime > (CHECKOUT / "setup.cfg").stat().st_mtime


def make(extra: str) -> None:
    """Make the environment, and install this checkout into it so that changes of the code take effect at once."""
    if not is_ours():
        say(f"Setting up pbm in {ENVIRONMENT}, once; this takes about half a minute.")
        say("1/2  making a Python environment ...")
        shutil.rmtree(ENVIRONMENT, ignore_errors=True)
        venv.create(ENVIRONMENT, with_pip=True)
    pip = [ENVIRONMENT / "bin" / "python", "-m", "pip", "--disable-pip-version-check"]
    say(f"2/2  installing what {'the tests need' if extra == 'test' else 'pbm needs'} from PyPI ...")
    what = f"{CHECKOUT}[{extra or 'pictures,site'}]"
    # half of the time goes into compiling, mostly of modules that tests never import; players would have to wait for it
    # at their first command, and might not be allowed to write the results
    compiling = ["--no-compile"] if extra else []
    subprocess.run([*pip, "install", "-qq", *compiling, "--editable", what], check=True, stdout=sys.stderr)
    (ENVIRONMENT / "checkout").unlink(missing_ok=True)
    (ENVIRONMENT / "checkout").symlink_to(CHECKOUT)
    (ENVIRONMENT / "ready").touch()
    say("Ready.")


def main(extra: str = "") -> None:
    """Make the environment unless it is there already."""
    if sys.version_info < (3, 11):
        sys.exit("pbm needs Python 3.11 or newer; `python3` is {}.{}.".format(*sys.version_info[:2]))
    stamp = ENVIRONMENT / (f"ready-{extra}" if extra else "ready")
    with (CHECKOUT / ".venv.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if is_ready(stamp):
            return
        try:
            make(extra)
        except (OSError, subprocess.CalledProcessError) as error:
            sys.exit(f"pbm could not be set up: {error}. (On Debian, the package python3-venv is needed.)")
        stamp.touch()


if __name__ == "__main__":
    main(*sys.argv[1:])
