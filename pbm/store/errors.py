"""Why a database could not be used, and how a transaction is left."""


class Unusable(Exception):
    """The database cannot be used. The text says why and what would help; nothing was changed."""


class Replaced(Unusable):
    """The file that is open is not the database any more: that was deleted or replaced, and the process has to end."""


class Settled(Exception):
    """Raised to leave a transaction of which everything so far stands."""


class WouldWrite(Exception):
    """Raised in a rehearsal where something would be written."""
