"""Why a database could not be used."""


class Unusable(Exception):
    """The database cannot be used. The text says why and what would help; nothing was changed."""


class Replaced(Unusable):
    """The file that is open is not the database any more: that was deleted or replaced, and the process has to end."""
