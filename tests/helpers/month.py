"""A server and a secretary who are told the same: a small vocabulary of what players do, and what time does.

The secretary, `helpers.reference.server`, does by hand what the server does. The mails are compared at once, the
books every night: ``month = Month(tmp_path, seed=3)`` begins one.
"""

import re
from collections import Counter
from datetime import UTC, datetime, timedelta
from email import message_from_bytes
from itertools import combinations, pairwise
from random import Random

import games
from games import SKIP
from pbm.access.tokens import reply_address
from pbm.actions import cleanup
from pbm.board.board import DROPPED
from pbm.language.line import Line
from pbm.mail import sending
from pbm.mail.transports import Smtp
from pbm.operator.doctor import examine
from pbm.refusals import Refused
from pbm.runner import run
from pbm.session import Session
from pbm.settings import transport

from helpers import helptexts
from helpers.club import Club
from helpers.mail import ADDRESS, handle, mail_of
from helpers.reference import plans as reference_plans
from helpers.reference.server import BY_SERVER, FORFEIT, RESIGN, Secretary, Table, ratings

NAMES = "alice bob carol dave erin frank grace heidi ivan judy kevin laura".split()
REFUSED = "error", "Error"
SMALLEST = {
    "papagra": ("-size=3",),
    "spiro": ("-small -pieces=2",),
    "spora": ("-size=5", "-size=5 -pie"),
    "sprout": ("-board=limping-3",),
    "symple": ("-size=5",),
}
SCREEN = "the screen"
ABOUT_A_BOARD_IN_PLAY = re.compile(r"(?:New )?([A-Z][a-z]+) Board \w+ [a-z]\S*(?: \*\*)?")
DAYS_OFF = {5, 6, 18, 19, 20, 21}
"""The days of the month on which the server is away."""
DAYS_WITHOUT_RELAY = {3, 11, 12, 13, 14, 25}
"""Those at the end of which no mail leaves."""
WAYS = "shell", "mail", "mail twice", "mail from elsewhere"


class Month(Club):
    """A server and a secretary who are told the same."""

    def __init__(self, folder, seed=1):
        super().__init__(folder / "pbm.db")
        self.folder = folder
        self.time = datetime(2026, 11, 1, 9, tzinfo=UTC)
        self.books = Secretary()
        self.rng = Random(seed)
        self.sent = Counter()
        self.waiting = Counter()
        """Reminders that have not gone out yet, and will not if the move comes first."""
        self.nagged = {}  # when, by address, game, board and turn
        self.mailed = self.seen = 0

    # What is told to both

    def command(self, name, line, told, comment="", way="shell", recipient=ADDRESS, *, is_signed=True):
        """Give a command; the mails and what is printed must be those that the secretary says."""
        self.books.now = self.time
        boxes = {userid: list(addresses) for userid, addresses in self.books.addresses.items()}
        sender = way if way == "shell" else self.sender(name, way)
        got = self.given(name, line, comment, way, recipient)
        before = self.state()
        self.books.dropped.clear()
        mails = told()
        is_refused = any(reader is None and subject.endswith(REFUSED) for reader, subject in mails)
        actor = None if is_refused else name  # a refusal is all that a shell prints then
        wanted = Counter()
        for reader, subject in mails:
            is_own = reader == actor and is_signed  # a player's own move is answered at once
            if is_own or not self.is_held_back(reader, subject):
                wanted.update((place, subject) for place in self.places(reader, actor, sender, boxes))
        assert got == wanted, f"{line} ({way}): {got - wanted}, not {wanted - got}"
        self.sent += Counter({(place, subject): n for (place, subject), n in wanted.items() if place != SCREEN})
        self.drop_reminders(before)
        self.waiting += Counter({mail: n for mail, n in wanted.items() if mail[0] != SCREEN and mail[1][:4] == "Nag:"})

    def state(self):
        """How many turns each board has, and who is to answer what is proposed there."""
        return {
            number: (len(table.turns), table.vote and table.opponent(table.voter))
            for number, table in self.books.tables.items()
        }

    def drop_reminders(self, before):
        """Forget reminders of boards on which something has happened since; they were not sent yet."""
        after = self.state()
        for number, table in self.books.tables.items():
            turns, asked = before.get(number, after[number])
            nags = [one for one in self.waiting if one[1].startswith(f"Nag: {table.title} Board {table.number} ")]
            has_moved = turns != after[number][0] or table.is_over
            if asked and not table.vote and not has_moved:  # who proposed it is still reminded of their move
                nags = [mail for mail in nags if mail[0] in self.books.addresses.get(asked, [])]
            elif not has_moved:
                nags = []
            for mail in nags:
                self.sent[mail] -= self.waiting.pop(mail)
        titles = {(table.title, table.number) for table in self.books.tables.values()}
        for mail in [one for one in self.waiting if board_of(one[1]) not in titles]:  # the board was removed
            self.sent[mail] -= self.waiting.pop(mail)

    def given(self, name, line, comment, way, recipient):
        """What a command causes, counted: the addresses, or the screen, and the subjects."""
        typed = line.replace("PASSWORD", f"{name}-secret")
        read = Line.read(typed)
        printed = []
        if way == "shell":
            session = Session(self.server, None, comment, comment)
            try:
                printed = run(read, lambda: session)
            except Refused as why:
                printed = [read.refusal(why)]
        else:
            raw = self.letter(name, typed, comment, way)
            assert handle(self.server, raw, None, [recipient]) == "command"
            if way == "mail twice":
                assert handle(self.server, raw, None, [recipient]) == "repeated"
        return Counter((SCREEN, letter.subject) for letter in printed) + self.queued()

    def letter(self, name, subject, body, way):
        self.mailed += 1
        return mail_of(self.sender(name, way), subject, body, message_id=f"<{self.mailed}@players.example>")

    def sender(self, name, way):
        return f"{name}@elsewhere.example" if way == "mail from elsewhere" else self.books.addresses[name][0]

    def queued(self):
        """The mails that have come into the outbox since the last look, counted."""
        new = [mail for mail in self.store.outbox.all() if mail.id > self.seen]
        self.seen = max([self.seen, *(mail.id for mail in new)])
        return Counter((mail.address, mail.subject) for mail in new)

    def places(self, reader, actor, sender, boxes):
        """Where a letter to a reader appears."""
        if sender == "shell" and reader in {None, actor}:
            return [SCREEN]
        return [sender] if reader is None else boxes.get(reader, [])

    def is_held_back(self, reader, subject):
        """Whether a reader wants such a mail not at all, or in a digest, for which the secretary keeps it then."""
        about = ABOUT_A_BOARD_IN_PLAY.fullmatch(subject)
        if not (about and self.books.addresses.get(reader)):
            return False
        return reader not in self.books.dropped and not self.books.wants_by_itself(about[1].lower(), reader)

    # What players do

    def sign_up(self, name, *addresses):
        """Become a user, in a shell."""
        self.books.addresses[name] = list(addresses)
        self.command(name, f"signup {name} PASSWORD {' '.join(addresses)}", lambda: [(None, "pbm settings")])

    def challenge(self, first, second, game, options=None, *, clocks="", board="", way="shell", comment=""):
        """Start a board; returns the table as the secretary knows it."""
        options = self.rng.choice(SMALLEST[game]) if options is None else options
        tables = []

        def told():
            number = board or self.books.next_number(game)
            secret = self.store.boards.get(game, number).secret
            tables.append(Table(game, number, options, (first, second), secret, self.time, clocks))
            tables[0].comment = comment
            tables[0].days_off = self.books.days_of
            return self.books.challenge(tables[0], *([None] if way == "shell" else []))

        name = f"--name={board}" if board else ""
        line = f"{game} challenge {options} {clocks} {name} {first} {second}"
        actor = None if way == "shell" else first  # in a shell nobody says who he is
        self.command(actor, line, told, comment, way, is_signed=False)
        return tables[0]

    def refused_challenge(self, first, second, game):
        self.command(None, f"{game} challenge {first} {second}", lambda: self.books.refused(game, [first, second]))

    def move(self, name, table, text=None, comment="", way="shell"):
        """Move, or write something instead of a move; without a text it is any legal move."""
        text = text or table.state.random(self.rng)
        line = f"{table.game} move {table.number} {name} PASSWORD {text}"
        if way == "reply":
            with self.store.writing():
                recipient = reply_address(self.server, table.game, table.number, name)
            line, body = f"Re: {table.subject}", f"{text}\n{comment}\n\nThe server wrote:\n> Summary ...\n"
        else:
            recipient, body = ADDRESS, comment
        self.command(name, line, lambda: self.books.move(table, name, text, comment), body, way, recipient)

    def queue(self, name, table, text=None, way="shell"):
        """Queue a move; without a text it is one that is legal now, and perhaps not later."""
        text = text or table.state.random(self.rng)
        line = f"{table.game} queue {table.number} {name} PASSWORD {text}"
        self.command(name, line, lambda: self.books.queue(table, name, text), "", way)

    def plan(self, name, table, way="shell"):
        """Plan answers to a few moves; which moves are legal is known where no dice are thrown.

        Who takes black by the pie rule may have to move twice in a row; a plan ends there.
        """
        state, steps = table.state, []
        has_dice = games.needs_dice(state)
        while len(steps) < self.rng.choice([1, 2, 3]) and not state.result():
            theirs, after = self.some(state)
            if after.result() or (has_dice and steps):
                break
            if not has_dice and table.mover_in(after) == table.mover_in(state):
                break
            mine, following = (theirs, state) if has_dice else self.some(after)
            steps.append((reference_plans.ANY if has_dice or self.rng.random() < 0.1 else theirs, mine))
            if not has_dice and table.mover_in(following) == table.mover_in(after):
                break
            state = following
        steps = steps or [(reference_plans.ANY, "a1")]
        text = " ".join(f"if {theirs} then {mine}" for theirs, mine in steps)
        line = f"{table.game} plan {table.number} {name} PASSWORD {text}"
        self.command(name, line, lambda: self.books.plan(table, name, steps), "", way)

    def some(self, state):
        """A legal move, and the position after it."""
        move = state.random(self.rng)
        move = move if state.must_skip else state.parse(move)
        return move, state.play(move)

    def submit(self, name, table, text=None, way="shell"):
        text = text or table.state.random(self.rng)
        line = f"{table.game} submit {table.number} {name} PASSWORD {text}"
        self.command(name, line, lambda: self.books.submit(table, name, text), "", way)

    def confirm(self, name, table, comment="", way="shell"):
        line = f"{table.game} confirm {table.number} {name} PASSWORD"
        self.command(name, line, lambda: self.books.confirm(table, name, comment), comment, way)

    def chat(self, name, table, way="shell"):
        line = f"{table.game} chat {table.number} {name} PASSWORD"
        self.command(name, line, lambda: self.books.chat(table, name), "Hello!", way)

    def subscribe(self, name, game, *tables, way="shell"):
        """Subscribe to some boards, or to all."""
        active = tables or [table for table in self.books.active(game) if name not in table.players]
        line = f"{game} subscribe {name} PASSWORD {' '.join(table.number for table in tables) or 'all'}"
        self.command(name, line, lambda: self.books.subscribe(game, name, active, to_all=not tables), "", way)

    def unsubscribe(self, name, game, *tables, way="shell"):
        active = tables or self.books.active(game)
        line = f"{game} unsubscribe {name} PASSWORD {' '.join(table.number for table in tables) or 'all'}"
        self.command(name, line, lambda: self.books.unsubscribe(game, name, active, to_all=not tables), "", way)

    def notify(self, name, game, *tables, way="shell"):
        line = f"{game} notify {name} PASSWORD {' '.join(table.number for table in tables)}"
        self.command(name, line, lambda: self.books.notify(game, name, *tables), "", way)

    def limit(self, name, game, most, way="shell"):
        word = "all" if most is None else most
        line = f"{game} limit {name} PASSWORD {word}"
        self.command(name, line, lambda: self.books.limit(game, name, most), "", way)

    def seek(self, name, game, number, way="shell"):
        line = f"{game} seek {name} PASSWORD {number}"
        self.command(name, line, lambda: self.books.seek(game, name, number), "", way)

    def choose_mail(self, name, game, how, way="shell"):
        line = f"{game} mail {name} PASSWORD {how}"
        self.command(name, line, lambda: self.books.choose_mail(game, name, how), "", way)

    def vacation(self, name, first, last, way="shell"):
        """Be away from a day of the month through another one."""
        days = [self.time.date().replace(day=day) for day in (first, last)]
        line = f"vacation {name} PASSWORD {days[0]} {days[1]}"
        self.command(name, line, lambda: self.books.vacation(name, *days), "", way)

    def take_days(self, name, way="shell"):
        """Have a day of vacation taken where a clock has run out."""
        self.command(name, f"vacation {name} PASSWORD auto", lambda: self.books.take_days(name), "", way)

    def remind_of_some(self, name, game, way):
        """Remind the opponents on the boards of a game; what is said of votes and vacations is tested elsewhere."""
        for table in self.books.active(game, name):
            if not table.vote and not self.books.is_away(table.opponent(name)):
                line = f"{game} nag {table.number} {name} PASSWORD"
                self.command(name, line, lambda table=table: self.books.remind(table, name), "", way)

    def come_back(self, name, way="shell"):
        self.command(name, f"vacation {name} PASSWORD off", lambda: self.books.back(name), "", way)

    def message(self, name, *readers, way="shell"):
        line = f"message {name} PASSWORD {' '.join(readers)}"
        self.command(name, line, lambda: self.books.message(name, *readers), "How are you?", way)

    def sign_off(self, name, way="shell"):
        self.command(name, f"signoff {name} PASSWORD", lambda: self.books.sign_off(name), "", way)

    # Robots

    def robots(self, tables, pace=1.0):
        """On each table, somebody may do what people do; some boards are never in a hurry."""
        for table in tables:
            haste = (0.6, 0.6, 0.3, 0.02)[int(table.number[-1]) % 4]
            if table in self.books.tables.values() and not table.is_over and self.rng.random() < pace * haste:
                self.robot(table)

    def robot(self, table):
        mover = table.turn
        other = table.opponent(mover)
        way = self.way(mover)
        what = self.rng.random()
        if table.vote and what < 0.6:
            name = table.opponent(table.voter) if what < 0.5 else table.voter
            self.move(name, table, self.rng.choice(["accept", "reject", "reject"]), way=self.way(name, "reply"))
        elif what < 0.72:
            tree = table.queued.get(other)
            known = [*tree.keys() - {reference_plans.ANY}] if tree and tree != RESIGN else []
            text = self.rng.choice(known) if known and self.rng.random() < 0.8 else None
            comment = self.rng.choice(["", "", "", "Ha!"])
            self.move(mover, table, text, comment, self.way(mover, "reply", "reply"))
            if table.turn == other and self.rng.random() < 0.4 and table in self.books.tables.values():
                self.plan(mover, table, self.way(mover))
        elif what < 0.77:
            move = f"{table.state.random(self.rng)}#{len(table.turns) + 1}"
            self.submit(mover, table, move, way)
            if table in self.books.tables.values() and self.rng.random() < 0.7:
                self.confirm(mover, table, way=way)
        elif what < 0.84:
            guess = self.rng.choice(["", f"#{len(table.turns) + self.rng.choice([1, 2, 3])}"])
            self.queue(other, table, f"{table.state.random(self.rng)}{guess}", self.way(other))
        elif what < 0.93:
            name = self.rng.choice(table.players)
            self.move(
                name, table, self.rng.choice(["propose", "undo"]), self.rng.choice(["", "Please"]), self.way(name)
            )
        elif what < 0.96:
            self.chat(self.rng.choice(self.books.userids), table)
        elif what < 0.98:
            name = self.rng.choice(table.players)
            self.move(name, table, self.rng.choice(["resign", "unresign"]), way=self.way(name, "reply"))
        else:
            name = self.rng.choice(self.books.userids)
            wrong = self.rng.choice(["z9", "accept", "swap", f"{table.state.random(self.rng)}#99"])
            self.move(name, table, wrong, way=self.way(name, "reply", "reply"))

    def whim(self):
        """Somebody does something that people do once in a while."""
        name, game = self.rng.choice(self.books.userids), self.rng.choice(helptexts.GAMES)
        way = self.way(name)
        others = [table for table in self.books.active(game) if name not in {*table.players, *table.subscribers}]
        some = self.rng.sample(others, min(len(others), 2))
        friends = self.rng.sample([userid for userid in self.books.userids if userid != name], 2)
        self.rng.choice([
            lambda: self.start(game),
            lambda: self.start(game, name, name),
            lambda: self.subscribe(name, game, *some, way=way),
            lambda: self.unsubscribe(name, game, way=way),
            lambda: self.notify(name, game, way=way),
            lambda: self.notify(name, game, *some, way=way),
            lambda: self.limit(name, game, self.rng.choice([None, None, 0, 2, 3]), way),
            lambda: self.seek(name, game, self.rng.randrange(4), way),
            lambda: self.message(name, *friends, way=way),
            lambda: self.choose_mail(name, game, self.rng.choice(["each", "digest", "none"]), way),
            lambda: self.go_away_or_come_back(name, way),
            lambda: self.take_days(name, way),
            lambda: self.remind_of_some(name, game, way),
            lambda: self.sign_off(name, way) if self.rng.random() < 0.2 and len(self.books.userids) > 8 else None,
        ])()  # fmt: skip

    def go_away_or_come_back(self, name, way):
        """Plan a vacation, or end the one that is planned."""
        today = self.time.date()
        if any(last >= today for _, last in self.books.vacations.get(name, [])):
            self.come_back(name, way)
        elif today.day < 24:
            first = today.day + self.rng.randrange(3)
            self.vacation(name, first, first + self.rng.randrange(4), way)

    def start(self, game, *players):
        """Somebody starts a board; returns it, or None if somebody does not want it."""
        first, second = players or self.rng.sample(self.books.userids, 2)
        if any(self.books.refuses(game, player) for player in (first, second)):
            self.refused_challenge(first, second, game)
            return None
        usual = ["", "--nagtime=1 --forfeittime=3", "--forfeittime=8", "--totaltime=1", "--novacation"]
        clocks = self.rng.choice([*usual, "--clock=40h+12h/60h", "--clock=20h+6h/30h --novacation"])
        way = self.rng.choice(WAYS[:3]) if self.way(first) != "shell" else "shell"
        return self.challenge(first, second, game, clocks=clocks, way=way, comment=self.rng.choice(["", "Go!"]))

    def tournament(self, game, pool, *names):
        """Set up a pool, and a board for each pair; returns the boards."""
        self.books.pools[game, pool] = {name: {"won": 0, "lost": 0, "tied": 0} for name in names}
        with self.store.writing():
            for name in names:
                self.store.tournaments.add_player(game, pool, name)
        return [
            self.challenge(first, second, game, board=f"{pool}{number}")
            for number, (first, second) in enumerate(combinations(names, 2), 1)
        ]

    def way(self, name, *others):
        """How a user gives a command, for which there may be *other* ways than usual."""
        return self.rng.choice([*WAYS, *others]) if self.books.addresses[name] else "shell"

    # Time

    def until(self, day, hour=9):
        """Let the nights pass until the morning of a day of the month, with a cleanup in each, sometimes two."""
        was_off = False
        while self.time.day < day:
            was_off = self.time.day in DAYS_OFF
            if was_off:
                self.time += timedelta(days=1)
            else:
                self.night(cleanups=2 if self.time.day % 3 == 0 else 1)
                self.time += timedelta(hours=10)
        self.time = self.time.replace(hour=hour)
        if was_off and day not in DAYS_OFF:
            self.clean_up()

    def night(self, cleanups=1):
        self.time = self.time.replace(hour=23, minute=0)
        for _ in range(cleanups):
            self.clean_up()
            self.time += timedelta(minutes=10)
        if self.time.day in DAYS_WITHOUT_RELAY:
            sent = sending.flush(self.server, Smtp("smtp", "127.0.0.1", 1))
            assert sent.sent == 0
        else:
            self.send()
        self.check_books()

    def clean_up(self):
        self.books.now = self.time
        done = cleanup.clean_up(Session(self.server))
        assert not done.problems
        got = self.queued()
        boxes = self.books.addresses
        before = self.state()
        if self.books.is_cleanup_late:  # reminders from before are not sent any more
            self.sent -= self.waiting
            self.waiting.clear()
        wanted = Counter(
            (place, subject)
            for reader, subject in self.books.cleanup()
            for place in self.places(reader, None, "cleanup", boxes)
        )
        assert got == wanted, f"cleanup on {self.time:%d %H:%M}: {got - wanted}, not {wanted - got}"
        self.sent += wanted
        self.drop_reminders(before)
        self.waiting += Counter({mail: n for mail, n in wanted.items() if mail[1][:4] == "Nag:"})
        for address, subject in got:
            if subject.startswith("Nag: "):
                title, number = board_of(subject)
                table = self.books.tables[title.lower(), number]
                # where a game can be lost on a vacation, its player is reminded first
                can_lose = table.novacation or table.time_is_up(self.time)
                assert can_lose or not self.books.is_away(address.partition("@")[0])
                # after a move is taken back, another turn has the same number
                turn = len(table.turns), table.changed
                self.nagged.setdefault((address, title, number, turn), []).append(self.time)

    def send(self):
        """Send what is in the outbox to the maildirs in the folder of the database."""
        due = [mail for mail in self.store.outbox.all() if mail.address]
        assert sending.flush(self.server, transport()) == (len(due), 0, None)
        self.waiting.clear()
        self.books.now = self.time
        self.books.send()

    # What is true at every time

    def check_books(self):
        """The database says what the secretary's books say."""
        assert set(self.store.health.board_names()) == set(self.books.tables)
        for table in self.books.tables.values():
            if not table.is_over or table.ended.date() == self.time.date():
                self.check_board(table)
        for game in helptexts.GAMES:
            self.check_players(game)
            pools = {(pool, name): counts for pool, name, *counts in self.store.tournaments.pool_players(game)}
            assert pools == {
                (pool, name): [player["won"], player["lost"], player["tied"]]
                for (of, pool), players in self.books.pools.items()
                if of == game
                for name, player in players.items()
            }
        self.check_health()

    def check_health(self):
        """What the database says of itself."""
        assert self.store.db.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        assert self.store.db.execute("PRAGMA foreign_key_check").fetchall() == []

    def check_board(self, table):
        row, turns = self.store.boards.get(table.game, table.number), self.store.boards.turns(table.game, table.number)
        assert [(turn.userid, turn.text, turn.automatic) for turn in turns] == table.turns
        assert (row.moves, row.turn, row.ended, row.winner) == (len(turns), table.turn, table.ended, table.winner)
        assert (row.vote, row.voter, row.submitted) == (table.vote, table.voter, table.submitted)
        assert (row.drawn, row.nagged, row.reason) == (table.drawn, table.nagged, table.reason)
        assert table.comment in {row.comment or "", BY_SERVER}
        assert [row.first_used, row.second_used] == [used.total_seconds() for used in table.used]
        if table.clock:
            assert [row.first_left, row.second_left] == [left.total_seconds() for left in table.left]
        stored = self.store.boards.plans(table.game, table.number).items()
        planned = {name: {*text.split("\n")} for name, text in stored if not text.startswith(DROPPED)}
        assert all(name in planned or not self.books.addresses[name] for name, _ in stored)  # who is told without mail
        assert planned == {name: lines_of(tree) for name, tree in table.queued.items()}
        assert set(self.store.boards.followers(table.game, table.number)["subscriber"]) == table.subscribers
        assert set(self.store.boards.followers(table.game, table.number)["notified"]) == table.notified
        assert not (row.ended and (table.queued or row.submitted or row.vote))
        check_replay(row, turns)

    def check_players(self, game):
        rated = ratings([table for table in self.books.over if table.game == game])
        for name in NAMES:
            player = self.store.players.get(game, name)
            mine = rated.get(name, {"rating": None, "won": 0, "lost": 0, "tied": 0})
            assert (player.rating, player.won, player.lost, player.tied) == tuple(mine.values()), (game, name)
            assert player.seeking == (self.books.seeking.get((game, name), 0) if name in self.books.addresses else 0)
            assert player.most == self.books.limits.get((game, name))
            assert player.subscribes == ((game, name) in self.books.subscribing)
            assert player.is_notified == ((game, name) in self.books.notified)
            if name in rated:
                assert player.inactive == self.books.inactive[game, name]
                assert self.store.boards.active_counts([name], game)[name][game] == len(self.books.active(game, name))

    def check_month(self):
        """At the end: all boards, all mails, all reminders, and whatever else can tell that the database is sound."""
        for table in self.books.tables.values():
            self.check_board(table)
        self.check_mails()
        self.check_reminders()
        self.check_health()
        assert list(examine(self.store.path, self.time)) == []

    def check_mails(self):
        """What lies in the maildirs was sent once, and each board is one thread to each reader."""
        found = Counter()
        for maildir in (self.folder / "mail").iterdir():
            messages = [message_from_bytes(file.read_bytes()) for file in (maildir / "new").iterdir()]
            found.update((maildir.name, " ".join(str(message["Subject"]).split())) for message in messages)
            assert len({message["Message-ID"] for message in messages}) == len(messages)
            threads = {}
            for message in messages:
                board = board_of(message["Subject"])
                if board and message["Auto-Submitted"] == "auto-generated":
                    is_first = message["Subject"].startswith("New ")
                    threads.setdefault(board, set()).add(message["Message-ID" if is_first else "References"])
            assert {board: roots for board, roots in threads.items() if len(roots) > 1} == {}
        assert found == self.sent, f"{found - self.sent}, not {self.sent - found}"

    def check_reminders(self):
        """Nobody was reminded of a turn twice within a day."""
        for times in self.nagged.values():
            assert all(later - sooner >= timedelta(days=1) for sooner, later in pairwise(times))


def check_replay(row, turns):
    """What a row says of a board follows from its turns alone."""
    table = Table(row.game, row.board, row.options, (row.first_player, row.second_player), row.secret, row.started)
    for number, turn in enumerate(turns, 1):
        if turn.text in {RESIGN, FORFEIT}:
            assert number == len(turns)
        else:
            assert turn.userid == table.turn
            assert turn.dice == (table.state.dice if games.needs_dice(table.state) else ())
            assert table.state.must_skip if turn.text == SKIP else table.state.parse(turn.text) == turn.text
        table.add(turn.userid, turn.text, turn.played)
    table.drawn = row.drawn
    assert (row.turn, bool(row.ended), row.winner) == (table.turn, table.is_over, table.winner)


def lines_of(tree):
    """The lines of a plan, as they are stored."""
    if tree == RESIGN:
        return {RESIGN}
    return {" ".join(f"if {theirs} then {mine}" for theirs, mine in line) for line in reference_plans.branches(tree)}


def board_of(subject):
    """The game and the number of the board that a subject names; None if it names none."""
    found = re.match(r"(?:Nag: |New )?(\w+) (?:[Bb]oard|chat) (\w+)", subject)
    return found and found.groups()
