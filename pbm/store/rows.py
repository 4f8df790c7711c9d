"""What the store takes and gives."""

from datetime import date, datetime
from typing import NamedTuple

from pbm import blocks


class BoardRow(NamedTuple):
    """A board as it is stored, but for its turns."""

    game: str
    board: str
    options: str
    """The options of the challenge as they were typed."""
    first_player: str
    second_player: str
    secret: bytes
    started: datetime
    moves: int = 0
    turn: str | None = None
    """The userid of the player to move; None when the game is over."""
    ended: datetime | None = None
    winner: str | None = None
    """A userid; None while the game goes on, and for a draw."""
    commenter: str | None = None
    comment: str | None = None
    nag_days: int | None = None
    """Days without a move after which the player to move is reminded; None for the default, as in the next two."""
    forfeit_days: int | None = None
    total_days: int | None = None
    """How many days a player may think in the whole game; None for no limit."""
    changed: datetime | None = None
    """The time of the last move or undo, up to which the clocks below are right; None if there was none."""
    first_used: float = 0.0
    """The seconds for which the first player was to move."""
    second_used: float = 0.0
    nagged: datetime | None = None
    """When the last reminder went out since the last move."""
    vote: str | None = None
    """What is proposed, ``draw`` or ``undo``."""
    voter: str | None = None
    """The userid of the player who proposed it, and who waits for the other's answer."""
    submitted: str | None = None
    """The move that the player to move has still to confirm."""
    drawn: bool = False
    """Whether the players have agreed on a draw."""
    pool: str | None = None
    """The pool of a tournament board, the letters of its name; None for any other board."""
    source: str | None = None
    """The board that its beginning is taken from; None where it begins like any game."""
    given: int = 0
    """How many of its turns were taken from there."""
    novacation: bool = False
    """Whether its clocks run on while a player is on vacation."""
    reason: str | None = None
    """Why the game has ended, one of `pbm.board.board.REASONS`; None while it goes on."""
    unrated: bool = False
    """Whether it is against a robot whose games do not count in the ratings."""
    until: datetime | None = None
    """When the round of its tournament ends, and with it the game; None if it has no such end."""
    rematch: str | None = None
    """The board on which the players play again with the sides exchanged; None if nobody has asked for that."""


class TurnRow(NamedTuple):
    """A turn as it was played."""

    userid: str
    text: str
    dice: tuple[int, ...]
    automatic: bool
    """Whether the server played it."""
    played: datetime


STORED_FORMS = "text", "pictures", "html"
"""How mails can come: as text alone, or with HTML beside it, which begins with a picture of the board, or has none. A
user's choice is stored as its place here."""


class Mail(NamedTuple):
    """A mail in the outbox."""

    userid: str | None
    """The user it is for; None for the sender of a command, whoever he is."""
    address: str | None
    """None while the user has no confirmed address."""
    subject: str
    blocks: str
    """What it says, as `pbm.blocks` stores it."""
    message_id: str
    thread: str | None
    """The Message-ID of the first mail about the same board to the same player."""
    queued: datetime
    due: datetime | None
    """When it is to be tried next; None when it was given up."""
    tries: int = 0
    """How often it was taken up to be sent, also by a process that was killed then."""
    problem: str | None = None
    """What went wrong at the last try."""
    id: int | None = None
    """Its number, which the outbox gives it."""
    reply_to: str | None = None
    """The address that an answer goes to, if that is not the server's own."""
    unsubscribe: str | None = None
    """The address at which any mail ends the subscription to which this mail belongs."""
    reminds: str | None = None
    """The board that it reminds its reader of, such as ``spiro 101``, if it is a reminder."""
    html: bool = False
    """Whether its reader wants HTML beside the text, which is asked when it is due and not stored with it."""
    pictures: bool = False
    """Whether he wants that to begin with a picture of the board; asked in the same way."""
    address_number: int | None = None
    """The number of the address, if it is one of its user's; asked in the same way."""

    @property
    def text(self) -> str:
        """What it says as text."""
        return blocks.mailed(self.blocks)


class Held(NamedTuple):
    """A mail about a board that waits for the next digest."""

    userid: str
    game: str
    subject: str
    blocks: str
    """As those of a mail in the outbox."""
    queued: datetime
    id: int | None = None
    """Its number, which the database gives it."""


class Address(NamedTuple):
    """An address of a user, or one that has still to be confirmed."""

    address: str
    confirmed: datetime | None
    suspended: datetime | None = None
    """Since when nothing is sent there, because mails have bounced."""
    number: int = 0
    """What stands for it where our mails bounce to."""


class Reply(NamedTuple):
    """What a reply address speaks for: a user, on one board."""

    game: str
    board: str
    userid: str


class Failures(NamedTuple):
    """Wrong passwords in a row."""

    times: int
    last: datetime | None
    """When the last one came; None if there was none."""


ESTABLISHED = 20
"""A rating is established after so many games, and provisional before: the index ``players_by_section`` says so."""


class PlayerRow(NamedTuple):
    """A user as a player of one game."""

    userid: str
    rating: int | None = None
    """None before his first rated game."""
    won: int = 0
    lost: int = 0
    tied: int = 0
    rated: datetime | None = None
    """When his rating changed last."""
    inactive: bool = False
    """Whether the standings list him as inactive."""
    most: int | None = None
    """At how many active boards he takes no more challenges: 0 if he takes none, None for no limit."""
    seeking: int = 0
    """How many challenges he would like to get."""
    subscribes: bool = False
    """Whether he subscribes to every new board of the game."""
    is_notified: bool = False
    """Whether he is told of every end of a game."""
    mail: str = "each"
    """How he gets board mails: ``each``, one ``digest`` a day, or ``none``."""
    wanted_rating: str | None = None
    """The ratings of those who should challenge them, such as ``1500-1700``; None if any will do."""
    wanted_options: str | None = None
    """The options that they would like to play with; None if any will do."""

    @property
    def wish(self) -> str:
        """With whom and how they would like to play."""
        rating = f"rating {self.wanted_rating}" if self.wanted_rating else ""
        return ", ".join(filter(None, [rating, self.wanted_options]))

    @property
    def games(self) -> int:
        """How many rated games he has finished."""
        return self.won + self.lost + self.tied


class ResultRow(NamedTuple):
    """What a rated game did to the rating of a player."""

    game: str
    board: str
    userid: str
    outcome: int
    """1 for a win, 0 for a tie, -1 for a loss."""
    before: int
    after: int
    games: int
    """How many rated games he had finished, this one included."""
    ended: datetime


class Vacation(NamedTuple):
    """The first and the last day of a vacation."""

    userid: str
    first: date
    last: date
