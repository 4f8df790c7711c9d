"""Fixtures that take long to make: what they begin with is done once, and copied for each test.

    @set_up
    def leagues(club):
        club.signed_up("alice", "bob")

is a fixture `leagues`: the fixture `club`, in which alice and bob are signed up.
"""

import atexit
from collections.abc import Callable
from functools import wraps
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest


def lasting_folder() -> Path:
    """A new folder that is there as long as this process."""
    folder = TemporaryDirectory(prefix="pbm-tests-")
    atexit.register(folder.cleanup)
    return Path(folder.name)


Done = Callable[[Any], object]
"""Something that is done in a club, or in a shell."""


def set_up(done: Done) -> Any:
    """A fixture: what there is when this was done in the fixture that it takes. It is done once, and copied."""

    @pytest.fixture
    @wraps(done)
    def there(**given: Any) -> Any:
        [place] = given.values()
        place.become(done)
        return place

    return there
