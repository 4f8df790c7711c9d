"""Digests: the mails about boards of a day as one."""

from collections.abc import Iterable, Iterator
from datetime import datetime, tzinfo

from pbm import blocks, delivery, texts
from pbm.access import quotas
from pbm.access.quotas import Holders
from pbm.blocks import Block, Paragraph, Rule
from pbm.letters import Letter
from pbm.session import Session
from pbm.store import Held

LONGEST_DIGEST = 500_000
"""How long a digest may get before another one is begun; mail servers refuse mails of some megabytes."""


def send_digests(session: Session, now: datetime) -> int:
    """Mail to each user what is kept for him, a digest a game, if none was made today; how many mails that are.

    To be called in a transaction, so that a mail is in a digest or kept, and never both or neither.
    """
    sent = 0
    for userid, game in session.store.outbox.held_for():
        if quotas.take(session.store, "digest", Holders(user=f"{game} {userid}"), now):
            for part in _parts(session.store.outbox.held(userid, game)):
                delivery.queue(session, _digest(userid, game, part, session.zone(userid)))
                sent += 1
            session.store.outbox.remove_held(userid, game)
    return sent


def _parts(held: Iterable[Held]) -> Iterator[list[Held]]:
    """The mails in their order, in parts that are not too large."""
    part: list[Held] = []
    length = 0
    for mail in held:
        if part and length + len(mail.blocks) > LONGEST_DIGEST:
            yield part
            part, length = [], 0
        part.append(mail)
        length += len(mail.blocks)
    yield part


def _digest(userid: str, game: str, held: list[Held], zone: tzinfo) -> Letter:
    name, count = texts.title(game), len(held)
    times = [mail.queued.astimezone(zone) for mail in held]
    first, last = f"{times[0]:%Y-%m-%d %H:%M}", f"{times[-1]:%Y-%m-%d %H:%M}"
    heading = f"Digest: {count} mail{'s' * (count > 1)} about {name} boards, {first} to {times[-1]:{texts.MINUTES}}"
    told: list[Block] = [Paragraph(heading)]
    for mail, time in zip(held, times, strict=True):
        told += [Rule("="), Paragraph(f"{mail.subject}\n{time:{texts.MINUTES}}"), *blocks.read(mail.blocks)]
    return Letter(
        to=userid,
        subject=f"{name} Digest {last[:10]}",
        blocks=(*told, Rule("=", is_end=True)),
        answer=f"{game} games {userid}",
        data={},
        game=game,
        is_subscribed=True,
    )
