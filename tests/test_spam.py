"""What a spam filter thinks of our mails: SpamAssassin's local tests, which ask nobody else.

It runs where ``PBM_TEST_SPAM=1`` is set: SpamAssassin is installed from the distribution's packages if it is not there,
and this is root.
"""

import mailbox
import os
import re
import subprocess
from email import message_from_bytes
from random import Random

import pytest

from pbm.actions import cleanup
from pbm.mail.illustrations import Illustrator
from pbm.mail.writing import compose
from pbm.session import Session

from helpers.club import PASSWORDS
from helpers.mail import ADDRESS, handle
from helpers.packages import install

pytestmark = [
    pytest.mark.skipif(
        os.environ.get("PBM_TEST_SPAM") != "1",
        reason="this installs a SpamAssassin: PBM_TEST_SPAM=1 bin/test, as root, runs it",
    ),
    pytest.mark.usefixtures("spam_filter"),
]
MOST_POINTS = 1.5
"""How many points a mail of ours gets at most; from 5 on, most filters call it spam."""
GAMES = {
    "spiro": ("-small", ""), "symple": ("-size=5", "-size=19"), "sprout": ("", ""), "papagra": ("-size=3", "-size=6"),
    "spora": ("-size=5", "-size=13"),
}  # fmt: skip
"""The smallest boards, about which there is least to say, and usual ones."""
FORMS = "pictures", "html", "text"


@pytest.fixture(scope="module")
def spam_filter():
    install("PBM_TEST_SPAM", "spamassassin", "spamassassin")


def points(club, folder):
    """The points of all mails that wait in the outbox, with their subjects, and why."""
    folder.mkdir()
    box = mailbox.mbox(folder / "box")
    illustrator = Illustrator(club.server)
    for mail in club.store.outbox.due(club.time, 1000):
        box.add(compose(mail, ADDRESS, illustrator.of(mail)))
    box.close()
    command = ["spamassassin", "--local", "--test-mode", "--nocreate-prefs", "--mbox"]
    with (folder / "box").open("rb") as mails:
        done = subprocess.run(
            command, stdin=mails, env=os.environ | {"HOME": str(folder)}, capture_output=True, check=True, timeout=500
        )
    found = {}
    for number, raw in enumerate(done.stdout.split(b"\nX-Spam-Checker-Version: ")[1:]):
        header = message_from_bytes(b"X-Spam-Checker-Version: " + raw)
        status = " ".join(header["X-Spam-Status"].split())
        found[number, header["Subject"]] = float(re.search(r"score=(\S+)", status)[1]), status
    return found


def suspicious(found):
    return {name: (score, why) for name, (score, why) in found.items() if score > MOST_POINTS}


def mailed(club, name, line, body=""):
    """Mail a command."""
    message_id = f"<{club.random_bytes(12).hex()}@players.example>"
    raw = f"From: {name}@players.example\nMessage-ID: {message_id}\nSubject: {line}\n\n{body}\n"
    assert handle(club.server, raw.encode(), None) == "command"


@pytest.mark.parametrize("form", FORMS)
def test_no_mail_about_a_board_looks_like_spam(club, tmp_path, form):
    club.signed_up("alice", "bob", "carol")
    for name, password in PASSWORDS.items():
        mailed(club, name, f"mail {name} {password} {form}")
    for game, kinds in GAMES.items():
        for number, options in enumerate(kinds, 101):
            mailed(club, "alice", f"{game} challenge {options} alice bob")
            mailed(club, "carol", f"{game} subscribe {number} carol carol-secret")
            mailed(club, "alice", f"{game} move {number} alice alice-secret z99")
            mailed(club, "bob", f"{game} show {number}")
    before_nags = points(club, tmp_path / "begun")
    assert len(before_nags) >= 40
    assert suspicious(before_nags) == {}
    club.pass_time(days=8)
    cleanup.clean_up(Session(club.server))
    for game in GAMES:  # alice is still to move on their other boards
        mailed(club, "bob", f"{game} chat 101 bob bob-secret", "Are you there?")
        mailed(club, "alice", f"{game} move 101 alice alice-secret propose", "A draw?")
        mailed(club, "bob", f"{game} move 101 bob bob-secret accept")
        mailed(club, "bob", f"{game} history")
    club.store.db.execute("DELETE FROM outbox WHERE queued < ?", [club.time])
    ended = points(club, tmp_path / "ended")
    assert {subject.partition(" ")[0] for _, subject in ended} >= {"Nag:", "Spiro", "Papagra"}
    assert suspicious(ended) == {}


def test_no_other_mail_looks_like_spam(league, tmp_path):
    club = league.club
    club.signed_up("alice", "bob", "carol")
    mailed(club, "dave", "signup dave dave-secret")
    mailed(club, "dora", "hello?", "Who is there?")
    mailed(club, "bob", "change address bob bob-secret bob@elsewhere.example bob@players.example")
    mailed(club, "carol", "reset carol")
    mailed(club, "carol", "symple mail carol carol-secret digest")
    for name, password in PASSWORDS.items():
        mailed(club, name, f"broadcast {name} {password} on")
    mailed(club, "alice", "symple challenge -size=5 alice carol", "Have fun!")
    for line in (
        "help", "help spiro", "list", "symple games", "symple standings", "all games alice", "symple preview new 2 c3",
        "symple limit alice alice-secret 3", "symple move 101 alice wrong-secret c3", "timezone alice alice-secret UTC",
    ):  # fmt: skip
        mailed(club, "alice", line)
    mailed(club, "alice", "message alice alice-secret bob", "Hello!")
    mailed(club, "alice", "broadcast alice alice-secret", "Hello, all!")
    league.start("swiss", ["alice", "bob", "carol", *league.signed_up(5)], rounds=3)
    league.play(Random(1))
    mailed(club, "alice", "symple table s")
    mailed(club, "alice", "symple standings")
    cleanup.clean_up(Session(club.server))
    found = points(club, tmp_path / "mails")
    subjects = [subject for _, subject in found]
    for begin in ("confirm-address", "pbm error", "Broadcast", "Symple Digest", "Message", "Symple tournament", "Help"):
        assert any(subject.startswith(begin) for subject in subjects), begin
    assert suspicious(found) == {}
