"""What `pbm doctor` finds."""

from typing import NamedTuple


class Finding(NamedTuple):
    """A fault."""

    where: str
    what: str
    """A sentence about the fault."""
    mend: str
    """How to mend it; for a fault of a zone, the line to put there."""
