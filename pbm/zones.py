"""Time zones: in which of them a reader is told times, by the names that every machine knows, such as Europe/Berlin."""

from datetime import UTC, tzinfo
from difflib import get_close_matches
from zoneinfo import ZoneInfo, available_timezones

UTC_NAME = "UTC"


def zone_of(name: str | None) -> tzinfo:
    """The time zone of that name; UTC if there is no name, or if this machine does not know the zone any more."""
    if name is None:
        return UTC
    try:
        return ZoneInfo(name)
    except (LookupError, ValueError, OSError):
        return UTC


def all_names() -> frozenset[str]:
    """The names of all zones that this machine knows, which takes a while to find out."""
    return frozenset({UTC_NAME, *available_timezones()})


def nearest(word: str) -> str:
    """The name that looks most like a word, or whose town does; empty if none does."""
    by_spelling = {name.lower(): name for name in sorted(all_names())}
    by_town = {spelling.rpartition("/")[2]: name for spelling, name in by_spelling.items()}
    near = get_close_matches(word.lower(), by_spelling, n=1, cutoff=0.7)
    town = get_close_matches(word.lower(), by_town, n=1)
    return by_spelling[near[0]] if near else by_town[town[0]] if town else ""
