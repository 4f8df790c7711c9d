"""Where notices of users go: adding, confirming, listing and dropping targets.

URLs of notices have secrets in them. They are stored as they are, because sending needs them, and shown to nobody.
"""

import re
from datetime import timedelta
from textwrap import fill
from typing import Any
from urllib.parse import unquote_plus, urlsplit

from pbm import delivery, letters, texts
from pbm.access.quotas import most
from pbm.access.tokens import digest
from pbm.delivery.notices import WEBHOOK, queue_code, schemes
from pbm.letters import Letter
from pbm.refusals import Refused, check_no_placeholder
from pbm.session import Session
from pbm.store.notices import Target

MOST_TARGETS = 10
"""How many targets a user may have."""
FORGOTTEN_AFTER = timedelta(days=7)
"""How long a target waits for its code, and a notice for its target."""
WEBHOOK_SECRET_BYTES = 32
CODE_BYTES = 6
URL_OF_NOTICES = re.compile(r"([a-z][a-z0-9]{1,30})://([!-~]{1,500})", re.ASCII | re.IGNORECASE)
OPTIONS_OF_URLS = frozenset("auth mode priority silent tags thread token topic version".split())
"""The parameters that a URL for Apprise may have. Others read files, send mail, or name more recipients."""
HOW_WRITTEN = "Behind the password stands `add URL`, `add URL full`, `confirm CODE`, `list` or `drop N`."


def check_not_mailed_secret(session: Session, *, change: str, url: str, **_: object) -> None:
    """Raises Refused if somebody adds a webhook by mail: the answer has its secret, and mails are kept for ever."""
    if change.lower() == "add" and url.lower().startswith(f"{WEBHOOK}:") and not session.is_printed:
        raise Refused("A webhook is not added by mail, where its secret could be read later. Use a shell, or HTTP.")


def change_notices(session: Session, userid: str, change: str, word: str, full: str) -> list[Letter]:
    """Add, confirm or drop where notices of a user go, or list it. Raises Refused."""
    change = change.lower()
    if change == "list" and not word:
        return [_list(session, userid)]
    if change == "add" and word and full.lower() in {"", "full"}:
        return [_add(session, userid, word, is_full=bool(full))]
    if change == "confirm" and word and not full:
        return [_confirm(session, userid, word)]
    if change == "drop" and word and not full:
        return [_drop(session, userid, word)]
    raise Refused(HOW_WRITTEN, secrets=(change, word, full))


def masked_target(target: Target) -> str:
    """A target without its secrets: its kind, and for a webhook the host."""
    host = ""
    if target.kind == WEBHOOK:
        host = f"{urlsplit(target.url).hostname}/"
    return f"{target.kind}://{host}\u2026"


def _add(session: Session, userid: str, url: str, *, is_full: bool) -> Letter:
    """Add a target, and send a code there. The answer has the secret of a webhook, this once. Raises Refused."""
    kind = _checked_kind(session, url)
    notices = session.store.notices
    targets = notices.targets(userid)
    if url in [target.url for target in targets]:
        raise Refused("Your notices go there already; `list` shows where they go.")
    if len(targets) >= MOST_TARGETS:
        raise Refused(f"Your notices go to {MOST_TARGETS} places, which is the most; `drop N` ends one.")
    secret = None
    if kind == WEBHOOK:
        secret = f"pbm_webhook_{session.server.random_bytes(WEBHOOK_SECRET_BYTES).hex()}"
    number = notices.add_target(userid, kind, url, secret=secret, is_full=is_full, now=session.now)
    target = notices.targets(userid)[-1]
    _send_code(session, target)
    where = masked_target(target)
    mailed = (
        f"Notices for {userid} will go to {where}, if a code from there confirms it. If it was not you who "
        f"added that, give `notices {userid} PASSWORD drop {number}`, and change your password."
    )
    delivery.queue(
        session, letters.to_user(userid, fill(mailed, texts.WIDTH), answer=f"notices {userid} PASSWORD list")
    )
    text = (
        f"Number {number} of {userid} is {where}. A code goes there; give `notices {userid} PASSWORD confirm CODE` "
        "with it."
    )
    text = fill(text, texts.WIDTH)
    if secret:
        text = f"What comes there is signed with this secret, which is shown only now:\n\n{secret}\n\n{text}"
    return _answer(session, userid, text, number=number, secret=secret)


def _checked_kind(session: Session, url: str) -> str:
    """The kind of a URL. Raises Refused, without the URL, if notices cannot go there."""
    kinds = session.server.notice_kinds
    if not kinds:
        raise Refused("This server sends no notices; its operator has not allowed any kind.", secrets=(url,))
    check_no_placeholder(url, "where your notices are to go")
    allowed = texts.enumerated([f"`{kind}://`" for kind in kinds], "or")
    parts = URL_OF_NOTICES.fullmatch(url)
    if parts is None:
        raise Refused(f"A URL of notices is one word that begins with {allowed}.", secrets=(url,))
    kind = parts[1].lower()
    if kind not in schemes(session.server):
        raise Refused(
            f"This server sends no notices of this kind; the URL has to begin with {allowed}.", secrets=(url,)
        )
    if kind == WEBHOOK:
        _check_webhook(url)
        return kind
    _, _, options = parts[2].partition("?")
    for option in re.split("[&;]", options):  # as Apprise splits them
        name = unquote_plus(option.partition("=")[0]).strip().lower()
        if name and name not in OPTIONS_OF_URLS:
            few = texts.enumerated(sorted(OPTIONS_OF_URLS))
            raise Refused(f"Behind the question mark of this URL can stand only {few}.", secrets=(url,))
    return kind


def _check_webhook(url: str) -> None:
    """Raises Refused if a URL is not that of a webhook."""
    try:
        parts = urlsplit(url)
        is_right = bool(parts.hostname) and parts.port != 0
    except ValueError:  # such as a port that is no number
        is_right = False
    if not is_right or "@" in parts.netloc or parts.fragment:
        raise Refused("A webhook is written https://HOST/PATH, without userid, password or #.", secrets=(url,))


def _send_code(session: Session, target: Target) -> None:
    """Send a new code to a target. Raises Refused if there were too many."""
    if not session.is_trusted and not session.take("notice code", user=target.userid):
        number = most("notice code", "user")
        raise Refused(f"At most {number} codes are sent for a user in a day, and some for all in an hour; try later.")
    code = session.server.random_bytes(CODE_BYTES).hex()
    session.store.notices.ask(target.id, digest(code), session.now)
    queue_code(session, target, code)


def ask_again(session: Session, userid: str) -> None:
    """Send new codes to all confirmed targets of a user: somebody who knew the old password may have added some."""
    for target in session.store.notices.targets(userid):
        if target.confirmed and target.due:
            code = session.server.random_bytes(CODE_BYTES).hex()
            session.store.notices.ask(target.id, digest(code), session.now)
            queue_code(session, target, code)


def _confirm(session: Session, userid: str, code: str) -> Letter:
    """Confirm the target to which a code was sent. Raises Refused."""
    check_no_placeholder(code, "the code that was sent there")
    number = session.store.notices.confirm(userid, digest(code.lower()), session.now)
    if number is None:
        raise Refused("This code confirms nothing; it was used already, or a newer one has replaced it.")
    return _answer(session, userid, f"Notices for {userid} go to number {number} from now on.", number=number)


def _drop(session: Session, userid: str, word: str) -> Letter:
    """End a target, by its number. Raises Refused."""
    numbers = [target.id for target in session.store.notices.targets(userid)]
    if word not in map(str, numbers):
        raise Refused(f"{userid} has no such number; `notices {userid} PASSWORD list` shows all.")
    session.store.notices.drop_target(int(word))
    return _answer(session, userid, f"No notices go to number {word} any more.", number=int(word))


def _list(session: Session, userid: str) -> Letter:
    """List where notices of a user go."""
    targets = session.store.notices.targets(userid)
    if not targets:
        return _answer(session, userid, f"Notices of {userid} go nowhere.")
    lines = [f"Notices of {userid} go to:"]
    for target in targets:
        lines += texts.wrapped_line(f"  {target.id}: {masked_target(target)}, {_state(session, target)}")
    return _answer(session, userid, "\n".join(lines))


def _state(session: Session, target: Target) -> str:
    """The state of a target in words, such as whether it is confirmed."""
    parts = []
    if target.is_full:
        parts.append("with what others write")
    parts.append(f"added {target.made.astimezone(session.zone(target.userid)):{texts.TIME_FORMAT}}")
    if target.due is None:
        parts.append("suspended")
    elif target.confirmed is None:
        parts.append("waiting for its code")
    else:
        parts.append("confirmed")
    if target.problem:
        parts.append(f"at the last try: {target.problem}")
    return ", ".join(parts)


def _answer(session: Session, userid: str, text: str, **data: Any) -> Letter:
    """The answer to the command. Its data list the present targets of the user."""
    listed = []
    for target in session.store.notices.targets(userid):
        listed.append(
            {
                "number": target.id,
                "target": masked_target(target),
                "full": target.is_full,
                "added": target.made.isoformat(),
                "confirmed": target.confirmed is not None,
                "suspended": target.due is None,
                "problem": target.problem,
            }
        )
    answer = f"notices {userid} PASSWORD list"
    return letters.plain_letter(text, subject="pbm notices", answer=answer, userid=userid, notices=listed, **data)
