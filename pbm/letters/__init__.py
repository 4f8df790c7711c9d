"""What the server says in letters, on the screen of a shell or by mail."""

from pbm.letters.boards import (
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
    proposal,
    status,
    status_of,
    title,
    turn_text,
)
from pbm.letters.headings import heading
from pbm.letters.letter import Letter, as_one, plain_letter, printed, settled, to_user

__all__ = [
    "Letter",
    "as_one",
    "challenge",
    "data",
    "dice_proof",
    "heading",
    "next_command",
    "of_board",
    "of_error",
    "of_new_board",
    "of_removal",
    "of_turns",
    "picture",
    "plain_letter",
    "printed",
    "proposal",
    "settled",
    "status",
    "status_of",
    "title",
    "to_user",
    "turn_text",
]
