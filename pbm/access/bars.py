"""Bars of the operator: mail from a barred address or domain gets no answer, and nobody can sign up with it.

A bar is an address, `eve@spam.example`, or a domain, `@spam.example`, which stands for its subdomains, too.
"""

from contextlib import suppress

from pbm.names import LONGEST_ADDRESS, untagged
from pbm.store import Store


def canonical(address: str) -> str:
    """An address or `@DOMAIN` as it is compared: in small letters, without a tag, the domain in ASCII."""
    local, sign, domain = untagged(address.lower()).rpartition("@")
    with suppress(UnicodeError):  # what is the name of no machine stays as it is, and equals none
        domain = domain.rstrip(".").encode("idna").decode()
    return f"{local}{sign}{domain}"


def bars_on(address: str) -> list[str]:
    """All bars that could hold an address: `a@b.example`, `@b.example` and `@example` for `a+x@B.example`."""
    if len(address) > LONGEST_ADDRESS:
        return []
    whole = canonical(address)
    labels = whole.rpartition("@")[2].split(".")
    domains = [".".join(labels[first:]) for first in range(len(labels))]
    return [whole] + [f"@{domain}" for domain in domains]


def bar_on(store: Store, *addresses: str) -> str | None:
    """The bar that holds one of these addresses; None if none of them is barred."""
    possible = [bar for address in addresses for bar in bars_on(address)]
    return store.trust.bar_among(possible)


def users_held(store: Store) -> dict[str, list[str]]:
    """The bars of the operator, each with the users who have an address that it holds."""
    held: dict[str, set[str]] = {bar.bar: set() for bar in store.trust.bars()}
    if not held:
        return {}
    for userid, address in store.users.all_addresses():
        for bar in bars_on(address):
            if bar in held:
                held[bar].add(userid)
    return {bar: sorted(userids) for bar, userids in held.items()}
