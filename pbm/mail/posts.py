"""Commands that are posted over HTTP: read, carried out and answered as those of a mail are. No sockets here.

Nothing is guessed as it is of mails: a post has one line and a comment. Its answer is what a shell prints.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from hashlib import sha256
from operator import methodcaller
from typing import Any, NamedTuple

from pbm import letters, runner, texts
from pbm.access import tokens
from pbm.access.guesses import Guesses
from pbm.access.quotas import most
from pbm.language import masking, words
from pbm.language.grammar import Call
from pbm.language.line import Line
from pbm.letters import Letter
from pbm.mail.incoming import Outcome, Printed, logged_line, logged_reason
from pbm.refusals import Misused, NotAllowed, Refused, TooMany, WrongPassword
from pbm.runner import Effect, Ready
from pbm.server import Server
from pbm.session import Session
from pbm.store.trust import AnsweredPost, Token
from pbm.texts import escaped, without

KEYS_COUNT_FOR = timedelta(days=1)
"""How long the answer to a post with a key is kept."""
MOST_PASSWORDS = 5
"""How many passwords argon2 checks or hashes for one post."""
USE_NOTED_EVERY = timedelta(hours=1)
"""How often the last use of a token is stored, so that commands that only read rarely have to write."""
KEPT_SECONDS = 86_400
NO_MACHINE = (
    "Passwords are not taken here, because the proxy in front of this server does not say from which machine they "
    "come. Use a token, or tell the operator that `X-Forwarded-For` is missing."
)
NO_OBJECT = 'A command in JSON is an object such as {"line": "spiro show 101"}.'
OTHER_LINE = "This key came with another command before; nothing was done."
NO_SUCH = "This token is wrong, or has ended."


class Post(NamedTuple):
    """A command that is posted."""

    line: str
    comment: str = ""
    """What stands below the line."""
    key: str = ""
    """A post with the same key and line is done once for a user; empty for none."""
    token: str = ""
    """The token that stands for userid and password; empty for none."""
    machine: str | None = None
    """The machine or network that it came from; None if that is not known."""
    as_json: bool = False
    peer: str = ""
    """The machine, as it is logged."""
    wait_seconds: int = 0
    """How long the answer may wait for robots that have to move behind the command."""

    @property
    def sender(self) -> str:
        """The sender of the envelope, for whatever handles posts and mails alike: a post has none."""
        return ""

    @property
    def raw(self) -> bytes:
        """The post in bytes."""
        return f"{self.line}\n{self.comment}".encode()


class PreparedPost(NamedTuple):
    """A post that is read, and its command prepared."""

    post: Post
    line: Line
    ready: Ready
    outcome: Outcome | None = None
    """The outcome, if there is nothing to store."""


class Hashing(NamedTuple):
    """What argon2 has to compute for a post."""

    checked: Sequence[tuple[str | None, str]]
    """The stored hashes of users, None for no such user, and the passwords that may be theirs."""
    new: Sequence[str]
    """New passwords."""


def read_text(text: str) -> Post:
    """The command of a text: its first line. What stands below is the comment."""
    line, _, comment = text.replace("\r\n", "\n").replace("\r", "\n").partition("\n")
    return Post(" ".join(texts.clean(line).split()), texts.clean(comment))


def read_json(text: str) -> Post:
    """The command of an object in JSON. Raises Misused."""
    try:
        fields = json.loads(text)
    except (ValueError, RecursionError) as why:
        raise Misused(NO_OBJECT) from why
    if not isinstance(fields, dict):
        raise Misused(NO_OBJECT)
    line = fields.get("line")
    comment = fields.get("comment") or ""
    key = fields.get("id") or ""
    passwords = fields.get("passwords") or []
    if not all(isinstance(field, str) for field in (line, comment, key)):
        raise Misused("`line`, `comment` and `id` are texts.")
    if not isinstance(passwords, list) or not all(isinstance(password, str) for password in passwords):
        raise Misused("`passwords` is a list of texts.")
    post = read_text(f"{' '.join(str(line).split())}\n{comment}")
    line, comment = with_passwords(post.line, post.comment, [texts.clean(password) for password in passwords])
    return Post(line, comment, key)


def count_lines(post: Post) -> int:
    """How many commands a post has."""
    line = Line.read(post.line)
    if line.command and line.command.name == "multiple":
        return max(1, sum(1 for _ in words.lines_of(post.comment)))
    return 1


def with_passwords(line: str, comment: str, passwords: Sequence[str]) -> tuple[str, str]:
    """A line and its comment, with the hyphens replaced by passwords. One alone stands for all. Raises Misused."""
    if not passwords:
        return line, comment
    if any(len(word.split()) != 1 or word == "-" for word in passwords):
        raise Misused("A password is one word without blanks.", secrets=passwords)
    left = iter(passwords)

    def take() -> str:
        password = passwords[0] if len(passwords) == 1 else next(left, None)
        if password is None:
            raise Misused("There are more hyphens in the place of passwords than passwords.")
        return password

    first_line = Line.read(line)
    if first_line.command and first_line.command.name == "multiple":
        return line, "\n".join(Line.read(typed).with_passwords(take).typed for typed in words.lines_of(comment))
    return first_line.with_passwords(take).typed, comment


def hashing_of(server: Server, post: Post) -> Hashing:
    """What argon2 has to compute before a post can be handled. Raises Refused if that is too much."""
    session = _session(server, post)
    passwords = server.passwords
    checked: dict[tuple[str | None, str], None] = {}
    new: dict[str, None] = {}
    for call in _calls(session, post):
        userid = str(call.given.get("userid", "")).lower()
        password = call.given.get("password")
        new_password = call.given.get("new_password")
        stored = server.store.users.password_of(userid) or None
        if password and not runner.is_signed_by_token(session, userid, password):
            has_to_wait = session.guesses is not None and session.guesses.failures_of(userid)[1] is not None
            if not has_to_wait and not passwords.knows(stored, password):
                checked[stored, password] = None
        if new_password:
            new[new_password] = None
        if new_password and post.key and stored and not passwords.knows(stored, new_password):
            checked[stored, new_password] = None  # for `_user_of_repetition`
    if len(checked) + len(new) > MOST_PASSWORDS:
        raise Refused(f"One post can have {MOST_PASSWORDS} different passwords.")
    return Hashing(list(checked), list(new))


def compute_hashes(server: Server, hashing: Hashing) -> None:
    """Run argon2, in any thread; the results are remembered."""
    for stored, password in hashing.checked:
        server.passwords.is_right(stored, password)
    for password in hashing.new:
        server.passwords.prepare(password)


def _calls(session: Session, post: Post) -> Iterator[Call]:
    """The command of a post, or those of its lines."""
    _, call = runner.read_for(session, post.line)
    if isinstance(call, Call) and call.command.name == "multiple":
        for typed in list(words.lines_of(session.body))[: runner.MOST_COMMANDS]:
            _, call_of_line = runner.read_for(session, typed)
            if isinstance(call_of_line, Call):
                yield call_of_line
    elif isinstance(call, Call):
        yield call


def _session(server: Server, post: Post) -> Session:
    """The session of a post. Its token counts if it is right."""
    is_user = server.store.users.is_taken
    bearer = None
    if post.token:
        bearer = server.store.trust.token(tokens.digest(post.token), server.now())
    return Session(
        server,
        comment=tokens.masked(masking.comment(post.comment, is_user)),
        body=texts.clean(post.comment),
        as_json=post.as_json,
        guesses=Guesses(server.store, post.machine or "", server.now()),
        peer=post.machine,
        bearer=bearer,
        is_trusted=False,
    )


def prepare_post(server: Server, post: Post) -> PreparedPost:
    """Read a post, and prepare its command: all that is slow is done here, without a lock that others wait for."""
    session = _session(server, post)
    line, call = runner.read_for(session, post.line)
    if post.token and session.bearer is None:
        call = WrongPassword(NO_SUCH)
    elif post.machine is None and _has_password(session, post):
        call = Refused(NO_MACHINE)
    ready = runner.prepare(session, call, line)
    prepared = PreparedPost(post, line, ready)
    if ready.done is None or post.key or _has_password(session, post):
        return prepared
    if _is_use_due(session.bearer, session.now):
        return prepared
    if ready.done.why and not session.bearer:
        return prepared  # a mistake counts
    return prepared._replace(outcome=_outcome(server, prepared, ready.done))


def _has_password(session: Session, post: Post) -> bool:
    """Whether a command of a post has a password, which is not what stands for a token."""
    for call in _calls(session, post):
        userid = str(call.given.get("userid", "")).lower()
        if any(not runner.is_signed_by_token(session, userid, password) for password in call.passwords):
            return True
    return False


def _is_use_due(token: Token | None, now: datetime) -> bool:
    """Whether the use of a token has to be noted now."""
    return token is not None and (token.used is None or now > token.used + USE_NOTED_EVERY)


def handle_post(server: Server, prepared: PreparedPost) -> Outcome:
    """Do what a post says, and note its answer if it has a key: all in one transaction.

    Raises Unusable if the database cannot be used.
    """
    post = prepared.post
    session = prepared.ready.session
    trust = server.store.trust
    since = server.now() - KEYS_COUNT_FOR
    with server.store.writing():
        if post.token:
            token = _noted_token(server, post.token)
            if token is None or session.bearer is None:
                return _outcome(server, prepared, Effect(why=_note_wrong_token(server, post.machine)))
        posted = _digest(prepared)
        repeating = session.known_user or _user_of_repetition(server, prepared)
        if post.key and repeating and (answered := trust.answered_post(repeating, post.key, since)):
            if answered.line != posted:
                return _refusal(server, prepared, Refused(OTHER_LINE), 409)
            outcome = _outcome(server, prepared, Effect())
            return outcome._replace(word="repeated", printed=_repeated(answered))

        done = runner.finish(prepared.ready)
        server.store.events.count_command(server.now(), refused=done.why is not None)
        if session.guesses:
            session.guesses.save()
        if done.why and not session.known_user and session.peer and not session.take("error", is_own=True):
            why = TooMany(
                f"These were {most('error', 'address')} mistakes today; others are not answered.", KEPT_SECONDS
            )
            return _refusal(server, prepared, why, 429)
        outcome = _outcome(server, prepared, done)
        if post.wait_seconds and done.why is None:
            outcome = outcome._replace(letters=done.letters, waiting=_waiting_session(session))
        user = session.known_user
        if post.key and user and outcome.printed and _is_kept(prepared):
            kept = json.dumps(outcome.printed[:3], default=methodcaller("isoformat"))
            trust.save_post(user, post.key, AnsweredPost(posted, tokens.masked(kept)), server.now(), since)
        return outcome


def _user_of_repetition(server: Server, prepared: PreparedPost) -> str | None:
    """The user of a post that may repeat an earlier one, which has changed their password or signed them off.

    The password in it is wrong after the first time, so the new one proves the user. A user who has signed off has
    nothing private left, and the answer only repeats that they have.
    """
    call = prepared.ready.call
    if not prepared.post.key or not isinstance(call, Call):
        return None
    userid = str(call.given.get("userid", "")).lower()
    stored = server.store.users.password_of(userid)
    if call.command.name == "password" and stored and server.passwords.is_right(stored, call.given["new_password"]):
        return userid
    if call.command.name == "signoff" and stored is None:
        return userid
    return None


def _waiting_session(session: Session) -> Session | None:
    """The session with the boards on which a robot has to move before the answer; None if there is none."""
    awaited = [place for place in session.boards if session.store.robots.awaited(*place)]
    if not awaited:
        return None
    return replace(session, comment="", body="", boards=dict.fromkeys(awaited))


def _is_kept(prepared: PreparedPost) -> bool:
    """Whether the answer to a command is kept: it may change something. What only reads is carried out again."""
    call = prepared.ready.call
    return isinstance(call, Call) and (call.command.writes or bool(prepared.ready.lines))


def _digest(prepared: PreparedPost) -> str:
    """What distinguishes a post from others with the same key; passwords are left out, because it is stored."""
    ready = prepared.ready
    calls = [ready.call]
    calls += [call for _, call in ready.lines]
    secrets = [password for call in calls if isinstance(call, Call) for password in call.passwords]
    said = without(f"{' '.join(prepared.line.typed.split())}\n{prepared.post.comment}", secrets)
    return sha256(said.encode()).hexdigest()


def _repeated(answered: AnsweredPost) -> Printed:
    """The answer to a post that was done before."""
    code, text, data = json.loads(answered.answer)
    return Printed(code, text, {**data, "repeated": True})


def use_token(server: Server, secret: str, machine: str | None) -> Token:
    """The token that a program shows. Its use is noted, and a wrong one counts for the machine that it came from.

    Raises WrongPassword, and TooMany.
    """
    token = server.store.trust.token(tokens.digest(secret), server.now())
    if token and not _is_use_due(token, server.now()):
        return token
    with server.store.writing():
        token = _noted_token(server, secret)
        if token:
            return token
        why = _note_wrong_token(server, machine)
    raise why


def _noted_token(server: Server, secret: str) -> Token | None:
    """The token that a program shows; None if there is none. Its use is noted."""
    trust = server.store.trust
    token = trust.token(tokens.digest(secret), server.now())
    if _is_use_due(token, server.now()):
        trust.note_use_of_token(tokens.digest(secret), server.now())
    return token


def _note_wrong_token(server: Server, machine: str | None) -> Refused:
    """Count a wrong token against the machine that it came from. Returns the refusal."""
    guesses = Guesses(server.store, machine or "", server.now())
    until = guesses.note_wrong_token()
    guesses.save()
    if until:
        seconds = (until - server.now()).total_seconds()
        return TooMany("Too many wrong tokens or passwords came from there.", seconds)
    return WrongPassword(NO_SUCH)


def _refusal(server: Server, prepared: PreparedPost, why: Refused, code: int) -> Outcome:
    outcome = _outcome(server, prepared, Effect(why=why))
    printed = outcome.printed
    return outcome._replace(printed=printed._replace(code=code)) if printed else outcome


def _outcome(server: Server, prepared: PreparedPost, done: Effect) -> Outcome:
    """The outcome of a command, with its answer."""
    line = prepared.line
    why = done.why
    logged = ""
    if line.command:
        logged = logged_line(server, line, prepared.ready.call, why)
    if why is None:
        return Outcome("command", logged, printed=printed_answers(done.letters))
    refusal = line.refusal(why, is_user=server.store.users.is_taken)
    printed = refusal_printed(why, refusal.body, refusal.data["error"])
    return Outcome("command", logged, logged_reason(line, refusal, logged), printed=printed)


def printed_answers(answers: Sequence[Letter]) -> Printed:
    """The answer to a command that was done."""
    return Printed(200, escaped(letters.printed(answers)), letters.as_one(answers))


def refusal_printed(why: Refused, text: str, reason: str) -> Printed:
    """The answer to a command that is refused: its status says what kind of refusal this is."""
    data: Mapping[str, Any] = {"error": reason, "status": why.status}
    if isinstance(why, TooMany):
        return Printed(429, escaped(text), data, why.seconds)
    if isinstance(why, WrongPassword):
        return Printed(401, escaped(text), data)
    if isinstance(why, NotAllowed):
        return Printed(403, escaped(text), data)
    if isinstance(why, Misused):
        return Printed(400, escaped(text), data)
    return Printed(422, escaped(text), data)
