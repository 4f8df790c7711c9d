"""What the server says in letters, on the screen of a shell or by mail."""

from pbm.letters.boards import (
    NOTIFICATION,
    challenge,
    data,
    dice_proof,
    next_command,
    of_board,
    of_error,
    of_new_board,
    of_removal,
    of_turns,
    picture,
    status,
    status_of,
    title,
    turn_text,
)
from pbm.letters.letter import Letter, as_one, plain_letter, printed, settled, to_user

__all__ = [
    "NOTIFICATION",
    "Letter",
    "as_one",
    "challenge",
    "data",
    "dice_proof",
    "next_command",
    "of_board",
    "of_error",
    "of_new_board",
    "of_removal",
    "of_turns",
    "picture",
    "plain_letter",
    "printed",
    "settled",
    "status",
    "status_of",
    "title",
    "to_user",
    "turn_text",
]
