"""Keep what users say on a board: comments and chats."""

from pbm.board import clocks
from pbm.board.board import Board
from pbm.session import Session
from pbm.store import TalkRow
from pbm.store.talk import CHAT, COMMENT


def keep_comment(session: Session, board: Board) -> None:
    """Keep the comment of the command, if it has one, which was put on a board as its latest."""
    if session.comment:
        _keep(session, board, board.row.commenter, COMMENT, session.comment)


def keep_chat(session: Session, board: Board, writer: str, text: str) -> None:
    """Keep a chat about a board."""
    _keep(session, board, writer, CHAT, text)


def _keep(session: Session, board: Board, writer: str | None, kind: str, text: str) -> None:
    row = board.row
    said = clocks.next_time(row, session.now)
    entry = TalkRow(userid=writer, kind=kind, moves=len(board.turns), said=said, text=text)
    session.store.talk.add(*row.place, entry)
