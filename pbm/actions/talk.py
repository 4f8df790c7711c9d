"""List what was said on a board."""

from datetime import tzinfo
from typing import Any

from pbm import letters, texts
from pbm.actions.finding import board_of, find_row
from pbm.actions.lists import on_page, with_next
from pbm.blocks import Block, Paragraph, Preformatted
from pbm.board import records
from pbm.letters import Letter
from pbm.names import display_name
from pbm.refusals import Misused
from pbm.session import Session
from pbm.store import BoardRow, Store, TalkRow
from pbm.store.talk import CHAT, COMMENT

UNKNOWN_WRITER = "Challenger"


def sees_chats(row: BoardRow, reader: str | None) -> bool:
    """Whether a reader may see the chats of a board: its players may, and when the game is over, anybody."""
    return row.ended is not None or reader in row.players


def readable(store: Store, row: BoardRow, reader: str | None) -> list[TalkRow]:
    """What was said on a board that a reader may see, without the words of users that they block."""
    blocked = store.users.blocked_by(reader) if reader else ()
    entries = [entry for entry in store.talk.of_board(*row.place) if entry.userid not in blocked]
    if sees_chats(row, reader):
        return entries
    return [entry for entry in entries if entry.kind == COMMENT]


def read_list_words(
    session: Session, game: str, board: str, userid: str, password: str, page: str
) -> dict[str, Any] | None:
    """What the words of an unsigned command stand for: a board, and perhaps a page. None if it is signed.

    Raises Refused, and Misused for a userid without a password.
    """
    if password:
        return None
    if userid and not userid.isdecimal():
        raise Misused(
            f"PASSWORD is missing. The command is written:\n\n  {game} talk BOARD [USERID PASSWORD] [PAGE]",
            secrets=(userid,),  # it may be the password in the wrong place
        )
    return {"row": find_row(session, game, board), "name": None, "page": userid}


def list_talk(session: Session, row: BoardRow, name: str | None, page: str) -> list[Letter]:
    """The comments of a board in order, and the chats, if this player may see them."""
    board = board_of(session, row)
    entries = readable(session.store, row, name)
    zone = session.zone(name)
    lines = [(entry, line) for entry in entries for line in _lines(entry, zone)]
    shown, following = on_page(session, page, lambda _: lines, "There is no page {page} of this talk.")
    shown_entries = dict.fromkeys(entry for entry, _ in shown)  # each once, however many lines it has

    blocks: list[Block] = [Paragraph(letters.heading("board", kind="Talk", title=letters.title(board.present)))]
    if not sees_chats(row, name):
        blocks.append(Paragraph("Chats are for the players alone, until the game is over."))
    if shown:
        blocks.append(Paragraph(f"Times are in {zone}."))
        blocks.append(Preformatted("\n".join(line for _, line in shown)))
    else:
        blocks.append(Paragraph("There is nothing to read."))
    command = letters.next_command(board.present, name)
    letter = letters.plain_letter(
        blocks,
        subject=f"What was said on {row.game.capitalize()} board {row.board}",
        answer=command.text,
        bare=command.bare,
        **row.place_data,
        talk=[records.talk_as_data(entry) for entry in shown_entries],
    )
    letter = letter._replace(thread=board.thread, game=row.game, board=row.board, reader=name or "")
    signed = f" {name} PASSWORD" if name else ""
    letter = with_next(letter, f"{row.game} talk {row.board}{signed}", following)
    if following:
        letter = letter._replace(command=letter.command._replace(bare=f"talk {following}"))
    return [letter]


def _lines(entry: TalkRow, zone: tzinfo) -> list[str]:
    """What was said, as lines: in one with its heading if that fits, else quoted below it.

    So none of them can look like the heading of words that somebody else has said.
    """
    where = f"Move {entry.moves}" if entry.moves else "The start"
    if entry.taken_back:
        where += " (taken back)"
    writer = display_name(entry.userid) if entry.userid else UNKNOWN_WRITER
    heading = f"{where}, {entry.said.astimezone(zone):{texts.ZONELESS_TIME_FORMAT}}, {writer}"
    if entry.kind == CHAT:
        heading += ", chat"
    whole = f"{heading}: {entry.text}"
    if "\n" not in texts.wrapped_text(whole):
        return [whole]
    quoted = "\n".join(f"> {line}" for line in entry.text.split("\n"))
    return [f"{heading}:"] + texts.wrapped_text(quoted).split("\n")
