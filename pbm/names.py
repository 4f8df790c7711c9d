"""Which words can be a userid, an address, a board, a pool, a machine, a site."""

import re
from collections.abc import Callable

SHORTEST_PASSWORD = 6
"""How many characters a password has at least."""
LONGEST_USERID = 16
LONGEST_ADDRESS = 254
"""How many characters a mail address has at most (RFC 5321, 4.5.3.1.3)."""
LONGEST_NUMBER = 9
"""How many digits the number of a new board has at most."""
LONGEST_POOL = 12
"""How many letters the name of a pool has at most."""
RESERVED = frozenset(
    (
        "accept active all board challenger clear draw html inactive key login new next nobody off on pbm pictures "
        "reject server standard text tournament"
    ).split()
)
"""Words of the command language that cannot be userids. Names of games cannot be userids either."""

GUEST = "guest-"
"""The userid of a guest, who has not signed up, begins with this."""
FORMER = "former-"
"""The name of a player whose own name was erased begins with this; a number follows."""

PLACEHOLDERS = frozenset("code newpassword password userid".split())
"""Words in our help that a reader replaces by their own, such as USERID."""

API_TOKENS = "(?ai:pbm_(?:webhook_)?[0-9a-f]{16,})"
"""A token that lets a program give commands over HTTP, the secret of a webhook, or a long part of one of them, which
must not be shown either."""

IsUser = Callable[[str], bool]
"""Whether a word in lower case is the userid of a user."""


def is_userid(word: str) -> bool:
    """Whether a word can be a userid, in whatever case."""
    return re.fullmatch(rf"[a-z][a-z0-9._-]{{1,{LONGEST_USERID - 1}}}", word.lower(), re.ASCII) is not None


def is_guest(userid: str) -> bool:
    """Whether a userid is that of a guest."""
    return userid.startswith(GUEST)


def display_name(userid: str) -> str:
    """What readers call a player: the userid, but guests have not chosen one."""
    if is_guest(userid):
        return "a guest"
    return userid


def is_former(userid: str) -> bool:
    """Whether a userid stands for a former player, whose own name was erased."""
    return re.fullmatch(f"{FORMER}[0-9]+", userid, re.ASCII) is not None


def is_pool(word: str) -> bool:
    """Whether a word can be the name of a pool of a tournament."""
    return re.fullmatch(f"[a-z]{{1,{LONGEST_POOL}}}", word.lower(), re.ASCII) is not None


def is_tournament_board(word: str) -> bool:
    """Whether a word can be the name of a board of a tournament: its pool and a number."""
    return re.fullmatch(f"[a-z]{{1,{LONGEST_POOL}}}[0-9]{{1,6}}", word.lower(), re.ASCII) is not None


def is_board(word: str) -> bool:
    """Whether a word can be the name of a board. Other words are never looked up."""
    return re.fullmatch("[0-9]{1,12}", word, re.ASCII) is not None or is_tournament_board(word)


def is_new_board(word: str) -> bool:
    """Whether a new board can have this name, in lower case and without zeros in front."""
    is_number = not word.startswith("0") and len(word) <= LONGEST_NUMBER
    return is_board(word) and word == word.lower() and (is_number or is_tournament_board(word))


def is_host(text: str) -> bool:
    """Whether a text can be the name or the number of a machine, such as `localhost` or `127.0.0.1`."""
    try:
        text.encode("idna")
    except UnicodeError:
        return False
    return True


def is_site(text: str) -> bool:
    """Whether a text is the address of a site: http or https, a machine, perhaps a folder, and nothing behind that."""
    return re.fullmatch(r"https?://[A-Za-z0-9.:\[\]-]+(?:/[A-Za-z0-9._~/%-]*)?", text, re.ASCII) is not None


def is_address(text: str) -> bool:
    """Whether a text is a mail address of the usual kind: an unquoted local part, and the name of a host."""
    host = r"[a-z0-9](?:[a-z0-9-]*[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]*[a-z0-9])?)*"
    pattern = rf"[a-z0-9.!#$%&'*+=?^_{{}}~-]{{1,64}}@{host}"
    return len(text) <= LONGEST_ADDRESS and re.fullmatch(pattern, text, re.IGNORECASE | re.ASCII) is not None


def untagged(address: str) -> str:
    """An address without the ``+tag`` that its owner, or anybody, may write behind the name."""
    local, sign, domain = address.rpartition("@")
    return f"{local.partition('+')[0] or local}{sign}{domain}"
