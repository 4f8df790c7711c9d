"""Programs that some tests need, from the packages of the distribution.

``install("PBM_TEST_POSTFIX", "postfix", "postfix")`` sees to it that there is a Postfix, or fails the test.
"""

import fcntl
import os
import shutil
import subprocess
import sysconfig
import tempfile
from pathlib import Path

import pytest


def install(setting: str, program: str, *packages: str, answer: str = "") -> None:
    """See to it that there is a program, which as root is installed; test processes wait for each other.

    *answer* is what debconf is told before.
    """
    with (Path(tempfile.gettempdir()) / f"pbm-test-{program}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if shutil.which(program, path=f"{os.environ['PATH']}:/usr/sbin"):
            return
        if os.geteuid() != 0 or not shutil.which("apt-get"):
            pytest.fail(f"{setting}=1 needs {program}: install it, or run this as root where there is apt-get")
        for command in (
            ["debconf-set-selections"],
            ["apt-get", "-qq", "update"],
            ["apt-get", "-qq", "-o", "DPkg::Lock::Timeout=120", "install", "--no-install-recommends", *packages],
        ):
            settings = os.environ | {"DEBIAN_FRONTEND": "noninteractive"}
            done = subprocess.run(
                command, input=answer, env=settings, capture_output=True, text=True, check=False, timeout=600
            )
            if done.returncode:
                pytest.fail(f"{setting}=1, but {program} could not be installed: {command[0]}: {done.stderr}")


def find_library(program: str, name: str) -> Path:
    """The library of that name, which comes with a program; where there is none, the test is skipped."""
    folder = sysconfig.get_config_var("MULTIARCH") or ""
    for path in Path("/usr/lib", folder, program, name), Path("/usr/lib", program, name):
        if path.exists():
            return path
    pytest.skip(f"there is no {name}, which the package {program} has")
