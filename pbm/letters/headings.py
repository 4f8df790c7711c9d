"""How mails about boards begin. `letters` writes these lines; by them `mail/own_mails` knows a mail that is quoted."""

from typing import Literal

HeadingKind = Literal[
    "Summary",
    "Subscription Summary",
    "New",
    "Notes",
    "Submit",
    "Preview",
    "Notification",
    "History",
    "Talk",
    "Analysis",
]
"""What a mail shows of a board. A ``Notification`` only says that a game is over."""
TAP = "Tap a move to start your reply:"
ON_SITE = "See the board on the site"
MOVE_ON_SITE = "Open the board and tap your turn"
LAST_TURN = "Last turn: "
HEADINGS = {
    "board": "{kind}: {title}",
    "left": "{player} has left {board} before it began.",
    "absent": "{player} has not moved in time on {board}.",
    "removed": "{board} {removal}",
    "reminded": "{player} is reminded of {board}.",
    "analysis": "The analysis of {board} comes to {player} by mail, usually within ten minutes.",
    "round": "Round {number} of pool {pool} of {game} has begun: {boards} of yours.",
    "digest": "Digest: {mails} about {game} boards, {times}",
    "reset": "Somebody asked for a new password of the user {player} of this play-by-mail server.",
    "request": "Somebody has asked this play-by-mail server from your address: {request}",
    "device": "This link makes a browser a device of {player}:",
    "picture": TAP,
    "page": ON_SITE,
    "page to move": MOVE_ON_SITE,
}
"""The first lines of mails, by what they are about; in HTML three of them stand below a picture."""
STATUSES = {
    "start": "{player}, please start ({side}).",
    "turn": "{player}'s turn ({side}).",
    "won": "Won by {player}{how}.",
    "tie": "The game is a tie{how}.",
}
"""Who is to move, or has won. In a refusal the reason is all that stands above it, and that may say anything."""
NOTATION = "Notation: "
"""How the line begins that says how moves are written."""


def heading(name: str, **fields: object) -> str:
    """A line of HEADINGS with its fields filled in."""
    return HEADINGS[name].format(**fields)


def status_line(name: str, **fields: object) -> str:
    """A line of STATUSES with its fields filled in."""
    return STATUSES[name].format(**fields)
