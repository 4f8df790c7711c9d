"""What the server says in letters, on the screen of a shell or by mail."""

from pbm.letters.boards import (
    NOTIFICATION,
    answer,
    challenge,
    comment_part,
    data,
    dice_proof,
    of_board,
    of_error,
    of_removal,
    of_turns,
    picture,
    sides,
    status,
    status_of,
    turn_text,
)
from pbm.letters.letter import Letter, as_one, note, printed, settled

__all__ = [
    "NOTIFICATION",
    "Letter",
    "answer",
    "as_one",
    "challenge",
    "comment_part",
    "data",
    "dice_proof",
    "note",
    "of_board",
    "of_error",
    "of_removal",
    "of_turns",
    "picture",
    "printed",
    "settled",
    "sides",
    "status",
    "status_of",
    "turn_text",
]
