"""What is done once a day: reminders, forfeits, draws by silence, tournaments, digests, forgetting old notes.

It may be done at any time, and any number of times a day (docs/command-language.md, section 6).
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from datetime import timedelta, tzinfo
from typing import NamedTuple

from pbm import blocks, delivery, texts
from pbm.actions import absences, challenges, directing, endings, notices, puzzles, reminders, users
from pbm.actions.finding import board_of
from pbm.blocks import Block, NextCommand, Paragraph, Rule
from pbm.board import clocks
from pbm.board.board import Board
from pbm.board.clocks import DueStep
from pbm.letters import Letter, heading
from pbm.refusals import told_of
from pbm.session import Session
from pbm.store import HeldMail, Unusable

KEPT_FOR = timedelta(days=100)
"""How long the server remembers which mails it has handled, and why others could not be sent."""

LONGEST_DIGEST = 500_000
"""How many characters of stored mails one digest holds; mail servers refuse mails of some megabytes."""


class Done(NamedTuple):
    """How many boards and digests a clean-up has dealt with."""

    reminded: int = 0
    forfeited: int = 0
    drawn: int = 0
    digests: int = 0
    problems: tuple[str, ...] = ()
    """Boards, tournaments and puzzles that could not be dealt with, each with the reason."""

    @property
    def text(self) -> str:
        """The counts as a sentence."""
        games = f"{self.reminded} reminded, {self.forfeited} forfeited, {self.drawn} drawn by silence"
        return f"{games}, {texts.counted(self.digests, 'digest')}."


def clean_up(session: Session) -> Done:
    """Do all that is due. Each board is a transaction of its own."""
    absences.note_absence(session)
    counts: Counter[str] = Counter()
    problems: list[str] = []
    with session.store.reading():
        due = session.store.boards.due(session.now)
    for game, number in due:
        try:
            with session.store.writing():
                row = session.store.boards.get(game, number)
                if row:  # else it has been removed in the meantime
                    count = _do_due(session, board_of(session, row))
                    counts[count] += 1
        except Unusable:
            raise
        except Exception as why:  # a game of another package may raise anything, and must not hold up others
            problems.append(f"{game} {number}: {told_of(why)}")
    problems += directing.start_due(session)
    with session.store.writing():
        challenges.end_seeks(session)
        users.forget_guests(session)
        session.store.trust.forget_devices(session.now)
        session.store.trust.forget_old_requests(session.now)
        session.store.forget_old(session.now - KEPT_FOR)
        session.store.notices.forget(session.now - notices.FORGOTTEN_AFTER)
        session.store.events.note_maintenance("cleanup", session.now)
        try:
            puzzles.send_puzzle(session)
        except Unusable:
            raise
        except Exception as why:
            problems.append(f"puzzle: {told_of(why)}")
        digests = send_digests(session)
    return Done(
        reminded=counts["reminded"],
        forfeited=counts["forfeited"],
        drawn=counts["drawn"],
        digests=digests,
        problems=tuple(problems),
    )


def _do_due(session: Session, board: Board) -> str:
    """Do what is due on a board. Returns which count of `Done` goes up; empty if nothing was due."""
    if board.is_over:
        return ""
    step, late = clocks.due(session.store, board.row, board.seat, session.now)
    if step is DueStep.NOTHING:
        return ""
    if step is DueStep.SPARE:
        session.store.users.take_vacation_day(late, session.now.date())
        if clocks.is_reminded(session.store, board.row, late, session.now):
            return ""
    if step in {DueStep.REMIND, DueStep.SPARE}:
        delivery.queue(session, reminders.remind(session, board, late))
        return "reminded"
    delivery.queue(session, *_end_game(session, board, step, late))
    if step is DueStep.DRAW:
        return "drawn"
    return "forfeited"


def _end_game(session: Session, board: Board, step: DueStep, late: str) -> list[Letter]:
    """End a game by the step that is due on its board. Returns the letters about it."""
    if step is DueStep.OUT_OF_TIME:
        return endings.forfeit_by_total_time(session, board)
    if step is DueStep.ROUND_OVER:
        return endings.forfeit_by_round(session, board)
    since = texts.counted(clocks.whole_days(board.row, session.now), "day")
    is_gone = session.store.users.password_of(late) is None
    if step is DueStep.DRAW:
        why = f"{late} has not answered, and the last move was {since} ago"
        if is_gone:
            why = f"{late} has signed off"
        return endings.agree_draw(session, board, f"{why}, which counts as accepting.")
    if is_gone:
        return endings.forfeit(session, board, late, "signed off", f"{late} has signed off.")
    _, allowed = clocks.limits(board.row)
    why = f"{late} has not moved for {since}, and {allowed} are allowed."
    return endings.forfeit(session, board, late, "forfeited", why)


# Digests: one mail for all mails about boards of a day


def send_digests(session: Session) -> int:
    """Queue for each user and game a digest of the mails kept for them, at most once a day. Returns how many mails.

    Call it in a transaction, so that each mail is either in a digest or kept.
    """
    sent = 0
    for userid, game in session.store.outbox.held_for():
        if session.take("digest", user=f"{game} {userid}"):
            for part in _parts(session.store.outbox.held(userid, game)):
                delivery.queue(session, _digest(userid, game, part, session.zone(userid)))
                sent += 1
            session.store.outbox.remove_held(userid, game)
    return sent


def _parts(held: Iterable[HeldMail]) -> Iterator[list[HeldMail]]:
    """The mails in their order, in parts of up to LONGEST_DIGEST."""
    part: list[HeldMail] = []
    length = 0
    for mail in held:
        if part and length + len(mail.blocks) > LONGEST_DIGEST:
            yield part
            part = []
            length = 0
        part.append(mail)
        length += len(mail.blocks)
    yield part


def _digest(userid: str, game: str, held: list[HeldMail], zone: tzinfo) -> Letter:
    """A digest of mails about boards of a game, with times in the time zone of its reader."""
    title = game.capitalize()
    times = [mail.queued.astimezone(zone) for mail in held]
    first = f"{times[0]:{texts.ZONELESS_TIME_FORMAT}}"
    last = f"{times[-1]:{texts.TIME_FORMAT}}"
    count = texts.counted(len(held), "mail")
    digest: list[Block] = [Paragraph(heading("digest", mails=count, game=title, times=f"{first} to {last}"))]
    for mail, time in zip(held, times, strict=True):
        digest.append(Rule("="))
        digest.append(Paragraph(f"{mail.subject}\n{time:{texts.TIME_FORMAT}}"))
        digest += blocks.from_json(mail.blocks)
    digest.append(Rule("=", is_end=True))
    return Letter(
        to=userid,
        subject=f"{title} Digest {last[:10]}",  # the date of the last mail
        blocks=tuple(digest),
        command=NextCommand(f"{game} games {userid}"),
        data={},
        game=game,
        is_subscribed=True,
    )
