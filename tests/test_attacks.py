"""What an attacker has tried, and what holds now."""

import pytest

from pbm import budget, texts
from pbm.refusals import Refused

from helpers.mail import ADDRESS, answer, handle, message, reply_address


def send(club, subject, body="", sender="alice@players.example"):
    return handle(club.server, message(subject, body, sender=sender), None, [ADDRESS])


def test_a_comment_passes_no_reply_address_on_and_cannot_look_like_the_servers_own_text(pair):
    address = reply_address(pair)
    answer(pair, f"e3:5\nReply-To: {address}\nREPLY-TO: {address.upper()}")
    assert address.partition("+")[2].partition("@")[0] not in pair.mails("bob")[-1].text.lower()
    forged = texts.written(f"Hi\n{'*' * 60}\nbob writes:\n\u202eevil\u2066")
    assert forged == "Hi\n* * *\nbob writes:\nevil"


def test_forged_mistakes_do_not_silence_a_player(pair):
    for number in range(25):
        send(pair, f"spiro move 101 alice wrong-secret{number} e3:5")
    before = len(pair.mails())
    answer(pair, "e3:9")
    assert len(pair.mails()) == before + 1


def test_one_address_can_have_only_so_many_others_asked(club):
    for number in range(30):
        addresses = [f"v{number}.{at}@elsewhere.example" for at in range(5)]
        handle(
            club.server,
            message(f"signup user{number} good-secret {' '.join(addresses)}", sender="mallory@players.example"),
            None,
            [ADDRESS],
        )
    assert sum(mail.subject.startswith("confirm-address") for mail in club.mails()) == 25


def test_mails_that_wait_for_an_address_are_not_kept_for_ever(club):
    handle(club.server, message("signup mallory good-secret", sender="mallory@players.example"), None, [ADDRESS])
    club.signed_up("alice")
    for _ in range(110):
        club.say("symple challenge -size=5 alice mallory")
        club.say("symple challenge -size=5 mallory alice")
    assert len([mail for mail in club.mails("mallory") if mail.address is None]) == 200
    club.pass_time(days=101)
    with club.store.writing():
        club.store.forget_old(club.time)
    assert [mail for mail in club.mails("mallory") if mail.address is None] == []


def test_a_new_password_ends_the_waiting_that_wrong_ones_have_caused(pair):
    for number in range(8):
        send(pair, f"spiro move 101 alice wrong-secret{number} e3:5", sender=f"m{number}@elsewhere.example")
    pair.say("reset alice", sender="alice@players.example")
    code = next(mail for mail in pair.mails("alice") if mail.subject == "pbm reset").text.split()[-2]
    send(pair, f"reset alice {code} better-secret")
    assert send(pair, "spiro move 101 alice better-secret e3:5") == "command"
    assert pair.store.boards.get("spiro", "101").moves == 1


def test_a_command_that_has_computed_too_long_leaves_the_rest_undone(pair, monkeypatch):
    monkeypatch.setattr(budget.Budget, "is_spent", True)
    with pytest.raises(Refused, match="too much work"):
        pair.say("spiro show 101")
    send(pair, "multiple", "spiro games\nspiro games")
    assert "are not carried out" in pair.mails()[-1].text


def test_boards_of_all_games_are_shown_in_the_time_of_one_command(pair, monkeypatch):
    pair.say("symple challenge -size=5 alice bob")
    times = iter([0, 0, 9])
    monkeypatch.setattr(budget.time, "process_time", lambda: next(times, 9))
    shown, left_out = pair.say("all show alice active")
    assert (shown.data["game"], left_out.data["missing"]) == ("spiro", ["symple 101"])
    assert "Symple board 101 is left out" in left_out.body


def test_nobody_can_be_called_what_the_server_calls_a_draw(club):
    for name in ("draw", "pbm", "server", "challenger"):
        with pytest.raises(Refused, match="is a word of the command language"):
            club.say(f"signup {name} good-secret")
