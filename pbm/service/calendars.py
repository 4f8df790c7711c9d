"""A user's deadlines as a calendar, to which calendar programs subscribe."""

from icalendar import Calendar, Event

import games
from pbm import letters
from pbm.access import tokens
from pbm.board import clocks
from pbm.server import Server
from pbm.store.boards import BoardFilter


def calendar(server: Server, token: str) -> bytes | None:
    """When a user loses the games in which they have to do something, in iCalendar; None if the token is none."""
    store = server.store
    now = server.now()
    with store.reading():
        meaning = tokens.meaning(server, tokens.address_with(server, token))
        if meaning is None or meaning.kind != tokens.CALENDAR:
            return None
        name = meaning.reply.userid
        made = Calendar.new(name=f"Games of {name}", prodid="-//pbm//deadlines//EN")
        for row in store.boards.found(BoardFilter(games.names(), [name], over=False)):
            if clocks.awaited(row) != name:
                continue
            event = Event.new(
                uid=f"{row.game}-{row.board}-{row.moves}@{server.host}",
                stamp=row.changed or row.started,
                start=now + clocks.time_left(store, row, now),
                summary=f"{row.game.capitalize()} {row.board} against {row.opponent(name)}: {letters.status(row)}",
                url=server.site and f"{server.site}/{row.game}/{row.board}.html",
            )
            made.add_component(event)
    return bytes(made.to_ical())
