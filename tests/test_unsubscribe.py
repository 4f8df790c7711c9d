"""Ending what somebody gets by the button of a mail program: the address that stands in List-Unsubscribe."""

import email.policy
from email import message_from_bytes
from urllib.parse import unquote

import pytest

from pbm.access import tokens
from pbm.actions import cleanup
from pbm.mail import incoming
from pbm.mail.writing import compose
from pbm.session import Session

from helpers.fixtures import set_up
from helpers.mail import ADDRESS, press


@set_up
def club_of_readers(club):
    """carol reads what is written to all, digests of Symple, and board 101 of Spora as a spectator."""
    club.signed_up("alice", "bob", "carol")
    club.say("broadcast carol carol-secret on")
    club.say("symple mail carol carol-secret digest")
    club.say("symple challenge -size=5 alice carol")
    club.say("spora challenge -size=9 alice bob")
    club.say("spora subscribe 101 carol carol-secret")
    give_news(club)


def give_news(club):
    """Cause a mail of each kind that somebody subscribes to."""
    club.pass_time(days=8)
    club.say("broadcast bob bob-secret", "Hello, all!")
    club.say("symple chat 101 alice alice-secret", "Your turn?")
    for command in ("symple challenge -size=5 alice carol", "spora chat 101 alice alice-secret"):
        club.say(command, "Have fun")
    cleanup.clean_up(Session(club.server))


WEB = "https://games.example"
KINDS = {"Broadcast": "broadcast", "Symple Digest": "digest", "Spora chat": "board"}


def buttons(club, name="carol"):
    """Where the mail of each kind that came last is unsubscribed."""
    found = {}
    for mail in club.mails(name):
        head = message_from_bytes(compose(mail, ADDRESS, web=WEB), policy=email.policy.default)
        for begin, kind in KINDS.items():
            if mail.subject.startswith(begin):
                one_click, by_mail = head["List-Unsubscribe"].split(", ")
                found[kind] = unquote(by_mail.removeprefix("<mailto:").removesuffix("?subject=unsubscribe>"))
                assert one_click == f"<{WEB}/unsubscribe/{tokens.token_of(found[kind])}>"
                assert head["List-Unsubscribe-Post"] == "List-Unsubscribe=One-Click"
    return found


def kept(club):
    """What carol still gets."""
    gets = {
        "broadcast": "carol" in club.store.users.hearing("broadcasts"),
        "digest": club.store.players.get("symple", "carol").mail == "digest",
        "board": "carol" in club.store.boards.followers("spora", "101")["subscriber"],
    }
    return {kind for kind, is_on in gets.items() if is_on}


def test_each_mail_that_somebody_subscribes_to_has_an_address_of_its_own_to_end_that_which_takes_no_answer(
    club_of_readers,
):
    found = buttons(club_of_readers)
    assert found.keys() == {"broadcast", "digest", "board"}
    assert len({*found.values()}) == 3
    assert not {*found.values()} & {mail.reply_to for mail in club_of_readers.mails("carol")}
    assert all(incoming.is_known(club_of_readers.server, address) for address in found.values())
    for address in buttons(club_of_readers).values():
        assert tokens.meaning(club_of_readers.server, address).kind == tokens.UNSUBSCRIBE
    [*_, chat] = [mail for mail in club_of_readers.mails("carol") if mail.subject.startswith("Spora chat")]
    assert tokens.meaning(club_of_readers.server, chat.reply_to).kind == tokens.REPLY
    assert tokens.meaning(club_of_readers.server, chat.reply_to.replace("+r", "+u")) is None
    for name in ("alice", "bob"):
        about = [mail for mail in club_of_readers.mails(name) if mail.thread]
        assert about
        assert all(mail.unsubscribe is None for mail in about)


@pytest.mark.parametrize("kind", ["broadcast", "digest", "board"])
@pytest.mark.parametrize(
    "said",
    [
        {},
        {"subject": "", "body": ""},
        {"auto_submitted": "auto-generated"},
        {"precedence": "bulk", "sender": "no-reply@elsewhere.example"},
        {"subject": "signoff carol carol-secret"},
        {"subject": "Re: Spora Board 101 alice", "body": "resign"},
    ],
)
def test_any_mail_to_it_ends_exactly_that_and_the_user_is_told(club_of_readers, kind, said):
    [told] = press(club_of_readers, buttons(club_of_readers)[kind], **said)
    assert kept(club_of_readers) == {"broadcast", "digest", "board"} - {kind}
    assert (told.userid, told.address) == ("carol", "carol@players.example")
    assert club_of_readers.store.users.password_of("carol")
    give_news(club_of_readers)
    assert kind not in {*buttons_after(club_of_readers, told)}


def buttons_after(club, told):
    late = [mail for mail in club.mails("carol") if mail.queued > told.queued]
    return [kind for mail in late for begin, kind in KINDS.items() if mail.subject.startswith(begin)]


def test_a_second_mail_to_it_changes_nothing_and_is_not_answered(club_of_readers):
    for address in buttons(club_of_readers).values():
        press(club_of_readers, address)
        assert press(club_of_readers, address) == []


@pytest.mark.parametrize("change", ["change password carol carol-secret new-secret", "signoff carol carol-secret"])
def test_a_new_password_revokes_it(club_of_readers, change):
    found = buttons(club_of_readers)
    club_of_readers.say(change)
    for address in found.values():
        assert not incoming.is_known(club_of_readers.server, address)
