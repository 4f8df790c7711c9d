"""Nobody but its owner sees a plan, or that there is one: all that others can ask is answered as if there were none."""

import json
import sqlite3
from contextlib import closing, suppress
from statistics import median
from time import process_time_ns

import pytest

from pbm.access import tokens
from pbm.actions import cleanup
from pbm.language.commands import OF_A_GAME, OF_ALL, OF_ALL_GAMES, OF_ONESELF
from pbm.language.line import Line
from pbm.refusals import Refused
from pbm.runner import run
from pbm.session import Session
from pbm.site.build import build
from pbm.site.pages import SiteSettings

from helpers.answers import written
from helpers.club import Club
from helpers.database import stored
from helpers.examples import IS_QUICK
from helpers.mail import ADDRESS, handle
from helpers.shell import Shell

ANY = "a move for any"
PLANS = {
    "a tree": "plan 101 alice alice-secret if e5 then a1 if b5 then d1;if e4 then a1;if c1 then a2",
    ANY: "queue 101 alice alice-secret e1",
    "an illegal move": "queue 101 alice alice-secret c3",
}
OTHERS = "bob", "carol", "dora"
"""The opponent, who is to move; a subscriber; and one who has nothing to do with the board."""

# Lines for Symple, and for all games. `ME` stands for the userid and the password. Bob never makes a move that the tree
# answers; `d5` is answered by the move for any.
ASKED = """
talk 101; talk 101 ME; talk 101 2;
show 101; show 101#1; show 101#-1; show 101 99; show alice bob; show next alice; show next bob; show 101 alice;
showas ME 101; showas ME active; showas ME next; showas ME alice; showas alice wrong-secret 101; showas alice ME 101;
preview 101; preview 101 e5; preview 101 e5 a1; preview 101 e5 a1 b5 d1; preview 101 e4; preview 101 e5 c3;
preview 101#1 e5; preview new 2 -size=5 c3 b1 a5 e5; preview 101 zz; preview 101 e5 a1 a1;
games; games 101; games alice; games alice next; games bob next; games active; games inactive; games tournament;
standings; standings --plot=alice; history; help; help plan; table; list;
queue 101 ME e5#9; queue 101 ME clear; queue 101 alice wrong-secret e1; queue 101 alice wrong-secret clear;
plan 101 ME; plan 101 ME clear; plan 101 ME if e5 then a1; plan 101 ME if a1 then e5; plan 101 alice wrong-secret;
plan 101 alice bob-secret clear; plan 101 alice; plan 101 alice alice; plan 102 ME; plan 101;
submit 101 ME e5; submit 101 ME e4; submit 101 ME zz; submit 101 ME c1; confirm 101 ME; confirm 101 alice bob-secret;
move 101 ME zz; move 101 ME c3; move 101 ME e5#9; move 101 ME --; move 101 ME swap; move 101 alice bob-secret e5;
move 101 ME e5,e4,e3,e1,c1,d3; move 101 alice wrong-secret e1; move 101 ME unresign; move 101 ME MOVE;
move 101 ME propose; move 101 ME undo; move 101 ME accept; move 101 ME reject; swap 101 ME; draw 101 ME; undo 101 ME;
analyse 101 ME; chat 101 ME; note 101 ME; note 101 ME clear; rematch 101 ME; nag 101 ME; give 101 ME 3; give 101 ME 99;
subscribe 101 ME; subscribe ME all; unsubscribe 101 ME; unsubscribe ME all; notify ME 101; notify ME;
accept ME; reject ME; limit ME 1; limit ME; seek ME 2; seek ME 2 --rating=1500-1700; mail ME digest; mail ME none;
challenge -size=5 alice bob; challenge --from=101 alice bob; challenge --from=101#2 alice bob; challenge alice alice;
join a ME; leave a ME; bye a ME; table a; tournament a ME; resign 101 ME; resign 101 alice bob-secret;
"""
ASKED_OF_ALL = """
all show alice next; all show bob next; all show alice active; all games alice; all games alice bob next; all seekers;
list symple; list; dice symple 101; dice spiro; help plan; help json; message ME alice; block ME alice; block ME;
block ME alice | alice block ME bob; unblock ME alice; broadcast ME on; broadcast ME; timezone ME Europe/Berlin;
mail ME text; mail ME pictures; puzzles ME on; change password ME new-secret; change address ME x@players.example;
signoff ME; vacation ME 2026-12-01; vacation ME auto; vacation ME; signup alice other-secret; signup plan other-secret;
reset alice; confirm-address 123; multiple; all plan 101 ME; plan 101 ME; all queue alice; token ME laptop read;
tokens ME; notices ME list
"""
ANSWERED = """
show; preview e5; preview e5 a1 b5 d1; preview zz; plan; plan clear; plan if e5 then a1; if e5 then a1; if a1 then e5;
submit e5; submit zz; confirm; queue e5#9; queue clear; history; talk; talk 2; help; help plan; nag; give 3; note;
note clear; chat; rematch; unsubscribe; zz; e5#9; c3; --; MOVE; propose; undo; accept; reject; unresign; resign; swap;
analyse; d5;
"""
# What follows from several lines, of which the first word is who gives it; `later` lets days pass, and cleans up.
LATER = """
bob symple move 101 ME d5 | bob symple show 101 | carol symple show 101#-1 | bob symple games 101
bob symple move 101 ME e1 | bob symple showas ME 101
bob symple submit 101 ME d5 | bob symple confirm 101 ME | bob symple preview 101 a1
bob symple queue 101 ME d5 | dora symple show 101
bob symple move 101 ME d5 | bob symple plan 101 ME if a1 then e5 | alice symple move 101 ME a2 | bob symple showas ME
bob symple move 101 ME undo | alice symple move 101 ME accept | bob symple show 101 | alice symple move 101 ME a4
bob symple move 101 ME propose | alice symple move 101 ME reject | bob symple move 101 ME d5
bob symple move 101 ME propose | alice symple move 101 ME accept | bob symple rematch 101 ME | dora symple history
alice symple resign 101 ME | bob symple show 101 | bob symple move 101 ME d5 | bob symple history
alice symple move 101 ME propose | bob symple move 101 ME accept | carol symple standings
bob symple resign 101 ME | bob symple rematch 101 ME | carol symple history | carol symple games inactive
bob signoff ME | carol symple show 101
alice signoff ME | bob symple show 101 | bob symple games
alice vacation ME 2026-11-20 2026-12-10 | bob symple show 101 | bob symple move 101 ME d5
bob symple mail ME digest | bob symple move 101 ME d5 | later 1 | bob symple show 101
carol symple mail ME digest | bob symple move 101 ME d5 | later 2
later 8 | bob symple show 101
later 8 | later 14 | dora symple history
bob symple move 101 ME propose | later 8 | later 14 | dora symple history
alice block ME bob | bob symple chat 101 ME | bob symple move 101 ME d5
"""


def lines(text):
    return " ".join(text.split()).strip("; ").split("; ")


def scripts():
    """All that is tried, with the ways in which it comes."""
    asked = [f"symple {line}" for line in lines(ASKED)] + lines(ASKED_OF_ALL)
    for line in asked:
        ways = [(name, way) for name in OTHERS for way in ("shell", "mail")]
        yield from ((f"{name} {line}", way) for name, way in (ways[:1] if IS_QUICK else ways))
    yield from ((f"bob {line}", "answer") for line in lines(ANSWERED))
    yield from ((line, way) for line in LATER.strip().split("\n") for way in ("shell", "mail"))


def begin(club):
    """alice and bob have made three moves; bob is to move, and carol watches."""
    for name in ("alice", *OTHERS):
        club.say(f"signup {name} {name}-secret {name}@players.example")
    club.say("symple challenge -size=5 alice bob")
    club.say("symple subscribe 101 carol carol-secret")
    for name, move in ("alice", "c3"), ("bob", "b1"), ("alice", "a5"):
        club.say(f"symple move 101 {name} {name}-secret {move}")
    club.store.db.execute("DELETE FROM outbox")


class Spied(Club):
    """A club in which everything that is done is undone again."""

    def __init__(self, path, plan):
        super().__init__(path)
        self.become(begin)
        made = self.made
        self.say(f"symple {plan}" if plan else "symple showas alice alice-secret 101")
        assert self.made == made
        assert self.mails() == []

    def seen(self, script, way):
        """All that others than alice see of what is done, and what is stored after it but for plans and her mails."""
        found = []
        before = self.time, self.made
        with suppress(ZeroDivisionError), self.store.writing():
            for number, line in enumerate(script.split(" | ")):
                name, _, rest = line.partition(" ")
                found.append(self.tell(name, rest.replace("ME", f"{name} {name}-secret"), way, number))
            found.append(self.left())
            raise ZeroDivisionError  # so that it is undone
        self.time, self.made = before
        return found

    def tell(self, name, line, way, number):
        """What is printed, unless alice has asked."""
        body = "symple show 101\nsymple plan 101 alice wrong-secret" if line == "multiple" else "Hello"
        if name == "later":
            self.pass_time(days=int(line))
            return cleanup.clean_up(Session(self.server))
        if way != "shell" and name != "alice":
            line, body, to = (line, body, ADDRESS) if way == "mail" else ("Re: Symple", line, self.address(name))
            mail = written(line, body, f"{name}@players.example", to, message_id=f"<{number}@players.example>")
            return handle(self.server, mail, None, [to])
        read = Line.read(line)
        try:
            told = run(read, lambda: Session(self.server, comment=body, body=body))
        except Refused as why:
            told = [read.refusal(why, is_user=self.store.users.is_taken)]
        return (
            []
            if name == "alice"
            else [(one.to, one.subject, one.body, one.command.text, json.dumps(one.data)) for one in told]
        )

    def left(self):
        tables = [name for (name,) in self.store.db.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")]
        found = {name: stored(self.store, name) for name in tables if name not in {"plans", "commands"}}  # counts all
        found["outbox"] = [row for row in found["outbox"] if row["userid"] != "alice"]
        for row in found["users"]:
            del row["password"]  # salted anew
        return found

    def address(self, name):
        with self.store.writing():
            return tokens.reply_address(self.server, "symple", "101", name)


@pytest.fixture(scope="module")
def spied(tmp_path_factory):
    """A club without a plan, and one with each of the plans."""
    folder = tmp_path_factory.mktemp("spied")
    clubs = {name: Spied(folder / f"{name}.db", plan) for name, plan in {"": "", **PLANS}.items()}
    yield clubs
    for club in clubs.values():
        club.store.close()


@pytest.mark.parametrize(("script", "way"), [*scripts()])
def test_what_others_learn_is_the_same_with_a_plan_and_without(spied, script, way):
    without = spied[""].seen(script, way)
    for plan, club in spied.items():
        if plan != ANY or " d5" not in script:
            assert club.seen(script, way) == without


def test_every_command_is_tried():
    tried = {line.split()[at] for text, at in ((ASKED, 0), (ASKED_OF_ALL, 0), (ASKED_OF_ALL, 1))
             for line in f"{text} ".split(";") if len(line.split()) > at}  # fmt: skip
    assert {str(command.name) for command in (*OF_A_GAME, *OF_ALL, *OF_ALL_GAMES, *OF_ONESELF)} <= tried


def test_pages_and_what_programs_get_are_the_same(spied, tmp_path, monkeypatch):
    """The pages of the site, and that none is made again; records, events, lists and pictures."""
    found = []
    for name, club in spied.items():
        folder = tmp_path / f"with {name}"
        folder.mkdir()
        monkeypatch.chdir(folder)  # for the picture
        shell = Shell(folder)
        site, session = folder / "site", Session(club.server)
        build(site, session, SiteSettings("https://games.example/"))
        with closing(sqlite3.connect(folder / "pbm.db")) as copied:
            club.store.db.backup(copied)
        commands = (
            "export symple 101", "export symple --all", "events", "boards list symple", "replay symple 101",
            "picture symple 101 board.svg", "users list",
        )  # fmt: skip
        told = [shell.run(*command.split(), *option) for command in commands for option in ((), ("--json",))]
        found.append(
            (
                {path.relative_to(site): path.read_bytes() for path in site.rglob("*") if path.is_file()},
                [(one.returncode, one.stdout, one.stderr) for one in told],
            )
        )
        assert any("symple" in path.name or "symple" in str(path.parent) for path in site.rglob("*"))
        build_again = build(site, session, SiteSettings("https://games.example/"))
        assert build_again.written == 0
    assert all(one == found[0] for one in found)


@pytest.mark.long
@pytest.mark.parametrize("line", ["show 101", "preview 101 e5", "move 101 bob bob-secret zz",
                                  "move 101 bob bob-secret d5", "showas bob bob-secret 101"])  # fmt: skip
def test_an_answer_takes_as_long_with_a_plan_as_without(spied, line):
    """Medians of CPU over 1,000 tries each, in turns, also of a move that the plan has no answer to."""
    read = Line.read(f"symple {line}")
    times: dict[str, list[int]] = {name: [] for name in ("", "a tree")}
    for _ in range(1000):
        for name, spent in times.items():
            begun = process_time_ns()
            with suppress(Refused, ZeroDivisionError), spied[name].store.writing():
                try:
                    run(read, lambda name=name: Session(spied[name].server))
                finally:
                    spent.append(process_time_ns() - begun)
                raise ZeroDivisionError  # so that it is undone
    without, given = map(median, times.values())
    assert given < 1.1 * without
