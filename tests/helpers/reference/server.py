"""The server once more, from the command language alone: a secretary with a notebook, who forgets nothing.

Each method is something that the secretary is told. It returns the mails that follow from it as pairs: the userid of
the reader, None for the sender of the command, and the subject. Only the rules of the games are not written down again.

``Secretary().message("alice", "bob")`` is ``[(None, "Message"), ("bob", "Message from alice")]``.
"""

import hmac
import re
from datetime import UTC, datetime, time, timedelta
from itertools import count

import games
from games import SKIP, Illegal

from helpers.reference.plans import ANY, Line, Reply, Tree, merged

DAY, HOUR = timedelta(days=1), timedelta(hours=1)
RESIGN, FORFEIT = "Resign", "Forfeit"
BY_SERVER = "a comment by the server, in words of its own"
OUTCOMES = {1: "won", 0: "tied", -1: "lost"}


def thrown(secret, board, turn, dice):
    """Dice as `help dice` explains them: the bytes below 252 of a keyed hash, modulo 6, plus 1."""
    found = []
    for block in count():
        if len(found) >= dice:
            return tuple(found[:dice])
        digest = hmac.new(secret, f"{board} {turn} {block}".encode(), "sha256").digest()
        found += [byte % 6 + 1 for byte in digest if byte < 252]
    return None


def tree_of(line: Line) -> Tree:
    """A line of a plan as a tree with one branch."""
    return {line[0][0]: Reply(line[0][1], tree_of(line[1:]))} if line else {}


def ratings(tables):
    """The rating, and the games won, lost and tied, of all who finished these tables, in the order of their ends."""
    book = {}
    for table in tables:
        names = table.players
        before = [book.setdefault(name, {"rating": 1600, "won": 0, "lost": 0, "tied": 0}) for name in names]
        new = [
            new_rating(
                *(before[me]["rating"], games_of(before[me])),
                *(before[1 - me]["rating"], games_of(before[1 - me])),
                table.outcome(names[me]),
            )
            for me in (0, 1)
        ]
        for me in (0, 1):
            before[me]["rating"] = new[me]
            before[me][OUTCOMES[table.outcome(names[me])]] += 1
    return book


def games_of(player):
    """How many games a player has ended."""
    return player["won"] + player["lost"] + player["tied"]


def new_rating(own, played, other, other_played, outcome):
    """The formula as it stands in the command language."""
    if played < 20:
        worth = other + 400 * outcome if other_played >= 20 else toward_zero(own + other, 2) + 200 * outcome
        new = toward_zero(own * played + worth, played + 1) + toward_zero(1720 - own, 5)
    else:
        stake = 32 * min(other_played, 20) / 20
        new = own + int(stake * ((outcome + 1) / 2 - 1 / (1 + 10 ** ((other - own) / 400))))
    return max(100, new)


def toward_zero(number, by):
    """A quotient without what is behind its point: -1 for -3 / 2."""
    return int(number / by)


class Table:
    """A board, as those remember it who sit at it."""

    def __init__(self, game, number, options, players, secret, started, clocks=""):
        self.game = game
        self.number = number
        self.players = players
        self.secret = secret
        self.pool = None if number.isdecimal() else number.rstrip("0123456789")
        words = dict(word.split("=") for word in clocks.split() if "=" in word)
        hours = re.fullmatch(r"(\d+)h\+(\d+)h/(\d+)h", words.pop("--clock", ""))
        days = {word[2]: int(number) * DAY for word, number in words.items()}
        self.nag = days.get("n", DAY if self.pool else 7 * DAY)
        self.forfeit = days.get("f", 7 * DAY if self.pool else 21 * DAY)
        self.total = days.get("t")
        self.clock = hours and [int(number) * HOUR for number in hours.groups()]  # base, increment, most
        self.left = [self.clock[0]] * 2 if hours else []
        self.gains = []  # for each turn the seat, and what its clock got
        self.days_off = dict.fromkeys(players, ()).get  # the days of vacation of a player
        self.changed = started
        self.given = timedelta()  # what does not count for this move, because the server was away
        self.used = [timedelta(), timedelta()]
        self.turns = []  # of userid, text, and whether the server played it
        self.rules = games.load(game)
        self.states = []
        self.arrive(self.rules.new(**games.read_options(self.rules, options.split())))
        self.queued = {}  # what players have planned, as a tree, or RESIGN
        self.submitted = self.vote = self.voter = self.nagged = self.ended = None
        self.comment = self.commenter = ""
        self.drawn = False
        self.gave_up = "resigned"  # why a player gives up, if he does
        self.novacation = "--nov" in clocks
        self.reminded = {}  # when a player has reminded the other one
        self.waiting = {}  # the reminders of this turn, or of this proposal, that have not left yet, by reader
        self.told_since = {}  # since when players have notice of this turn, or of this proposal
        self.subscribers, self.notified = set(), set()

    @property
    def title(self):
        return self.game.capitalize()

    @property
    def state(self):
        return self.states[-1]

    @property
    def resigned(self):
        return self.turns[-1][0] if self.turns and self.turns[-1][1] in {RESIGN, FORFEIT} else None

    @property
    def is_over(self):
        return bool(self.drawn or self.resigned or self.state.result())

    @property
    def winner(self):
        if self.drawn or not self.is_over:
            return None
        if self.resigned:
            return self.opponent(self.resigned)
        winner = self.state.result().winner
        return None if winner is None else self.players[self.state.seats[winner]]

    @property
    def reason(self):
        """Why it is over; None while it goes on."""
        if not self.is_over:
            return None
        return "agreed" if self.drawn else self.gave_up if self.resigned else "rules"

    @property
    def is_rated(self):
        """Two players who each have made a move, and were not only skipped or gave up."""
        moved = {name for name, text, _ in self.turns if text not in {RESIGN, FORFEIT, SKIP}}
        return len(moved) == 2

    @property
    def seat(self):
        return self.state.seats[self.state.turn]

    @property
    def turn(self):
        return None if self.is_over else self.mover_in(self.state)

    def mover_in(self, state):
        """Who is to move in a position of this game."""
        return self.players[state.seats[state.turn]]

    @property
    def subject(self):
        return self.bare_subject + (" **" if self.comment else "")

    @property
    def bare_subject(self):
        return f"{self.title} Board {self.number}{f' {self.turn}' if self.turn else ''}"

    @property
    def is_young(self):
        """Whether who gives up now leaves the board, which is then forgotten."""
        return len(self.turns) < 2 and not self.pool

    def say(self, name, comment, *, is_new=True):
        """A player writes something, or lets stand what is there."""
        self.comment = comment
        if is_new:
            self.commenter = "" if comment == BY_SERVER else name

    def opponent(self, name):
        return self.players[1] if name == self.players[0] else self.players[0]

    def outcome(self, name):
        return 0 if self.winner is None else 1 if self.winner == name else -1

    def arrive(self, state):
        if games.needs_dice(state):
            state = state.roll(thrown(self.secret, f"{self.game} {self.number}", len(self.states), state.dice_needed))
        self.states.append(state)

    def read(self, text):
        move, mark, number = text.rpartition("#")
        if mark and number.isdecimal():
            if int(number) != len(self.turns) + 1:
                raise Illegal
            text = move
        return SKIP if text == SKIP and self.state.must_skip else self.state.parse(text)

    def planned(self, name):
        """What a player has planned to answer the last move with; None if it fits nothing."""
        return self.queued[name].get(self.turns[-1][1]) or self.queued[name].get(ANY)

    def left_now(self, now):
        """What the player to move has left on a clock that grows."""
        return self.left[self.seat] - self.age(now) + self.time_off(self.changed, now)

    def age(self, now):
        """How much time of this turn counts, vacations included."""
        return now - self.changed - self.given

    def time_off(self, since, now):
        """How long the clock of the player to move stood still, because it grows and they were on vacation."""
        off = timedelta()
        for day in self.days_off(self.turn) if self.clock and not self.novacation else ():
            begin = datetime.combine(day, time(), UTC)
            off += max(timedelta(), min(begin + DAY, now) - max(begin, since))
        return off

    def stop_for_absence(self, begun, now):
        """No time counts from a moment on, in which the server was away; a reminder from before counts no more."""
        since = max(begun, self.changed)
        self.given += now - since - self.time_off(since, now)
        self.nagged = None
        self.waiting, self.told_since = {}, {}

    def is_off(self, now):
        """Whether the clock stands still today."""
        return not self.novacation and now.date() in self.days_off(self.turn)

    def stop_clock(self, now):
        if self.clock and self.turn:
            self.left[self.seat] = max(timedelta(), self.left_now(now))
        self.used[self.seat] += self.age(now) if self.total else now - self.changed
        self.changed = now
        self.nagged = None
        self.given = timedelta()
        self.waiting, self.told_since = {}, {}

    def time_is_up(self, now):
        return bool(self.total and self.turn and self.used[self.seat] + self.age(now) >= self.total)

    def add(self, name, text, now, *, automatic=False):
        seat, before = self.seat, [*self.left]
        self.stop_clock(now)
        if text in {RESIGN, FORFEIT}:
            self.left = before
        elif self.clock:
            grown = min(self.left[seat] + self.clock[1], self.clock[2]) if text != SKIP else self.left[seat]
            self.gains.append((seat, grown - self.left[seat]))
            self.left[seat] = grown
        self.turns.append((name, text, automatic))
        if text in {RESIGN, FORFEIT}:
            self.states.append(self.state)
        else:
            self.arrive(self.state.play(text))


class Secretary:
    """Does by hand what the server does."""

    def __init__(self):
        self.now = self.last_cleanup = None
        self.numbers = dict.fromkeys(games.names(), 100)
        self.tables = {}
        self.over = []  # the tables of rated games in the order of their ends
        self.inactive = {}
        self.limits = {}
        self.seeking = {}
        self.subscribing, self.notified = set(), set()
        self.pools = {}
        self.planned_turns = 0
        self.vacations = {}
        self.taken = {}  # the days of vacation that were taken, of users who want that
        self.mail = {}  # how users want mails about the boards of a game
        self.held = {}  # when the last mail was kept for the digest of a user and a game
        self.digested = {}  # when the last digest went out
        self.addresses = {}
        self.dropped = set()  # players who are told at once that their queued moves have just been dropped

    @property
    def userids(self):
        return list(self.addresses)

    @property
    def today(self):
        return self.now.date()

    @property
    def is_cleanup_late(self):
        """Whether the last clean-up was so long ago that the server was away."""
        return self.last_cleanup is not None and self.now - self.last_cleanup > 36 * HOUR

    def active(self, game, name=None):
        return [
            table
            for table in self.tables.values()
            if table.game == game and not table.is_over and name in {None, *table.players}
        ]

    # Challenges

    def next_number(self, game):
        self.numbers[game] += 1
        return str(self.numbers[game])

    def refuses(self, game, name):
        most = self.limits.get((game, name))
        return most is not None and len(self.active(game, name)) >= most

    def refused(self, game, names):
        """A challenge that somebody does not want, or that names somebody unknown."""
        if all(name in self.addresses for name in names):
            for name in names:
                if self.limits.get((game, name)) == 0 and not self.active(game, name):
                    self.inactive[game, name] = True
        return [(None, "Invalid challenge")]

    def challenge(self, table, *others):
        """A board that has just been set up; *others* are told, too, besides its players."""
        self.tables[table.game, table.number] = table
        for name in set(table.players):
            self.seeking[table.game, name] = max(0, self.seeking.get((table.game, name), 0) - 1)
        table.subscribers = {name for game, name in self.subscribing if game == table.game} - set(table.players)
        self.go_on(table)
        readers = {*table.players, *table.subscribers, *others}
        return [(name, f"New {table.subject}") for name in readers]

    # Moves

    def move(self, table, name, text, comment=""):
        if why := self.objection(table, name):
            return why
        if text in {"resign", "unresign", "propose", "undo", "accept", "reject"}:
            return getattr(self, text)(table, name, comment)
        if why := self.objection(table, name, in_turn=True):
            return why
        try:
            move = table.read(text)
        except Illegal:
            return self.error(table)
        return self.moved(table, name, move, comment)

    def queue(self, table, name, text, comment=""):
        if why := self.objection(table, name):
            return why
        if name == table.turn:
            return self.move(table, name, text, comment)
        return self.plan(table, name, [(ANY, text)])

    def plan(self, table, name, line):
        """A line of a plan; the moves that can be tried are legal."""
        if why := self.objection(table, name):
            return why
        if name == table.turn:
            return self.error(table)
        if table.time_is_up(self.now) and self.has_notice(table, table.turn):
            return self.too_late(table)
        if table.queued.get(name) == RESIGN:
            return self.error(table)
        table.queued[name] = merged(table.queued.get(name, {}), tree_of(line))
        return [(name, table.subject)]

    def submit(self, table, name, text):
        if why := self.objection(table, name, in_turn=True):
            return why
        try:
            table.submitted = table.read(text)
        except Illegal:
            return self.error(table)
        state = table.state.play(table.submitted)
        while not games.needs_dice(state) and not state.result() and state.must_skip:
            state = state.play(SKIP)
        turn = "" if state.result() else f" {table.players[state.seats[state.turn]]}"
        return [(None, f"{table.title} Board {table.number}{turn}")]

    def confirm(self, table, name, comment=""):
        if why := self.objection(table, name, in_turn=True):
            return why
        if not table.submitted:
            return self.error(table)
        return self.moved(table, name, table.submitted, comment)

    def objection(self, table, name, *, in_turn=False):
        """The mails if it is not for that user to do something on that board now."""
        if table.is_over:
            return [(None, f"{table.title} error")]
        if name not in table.players:
            return self.error(table)
        if in_turn and self.time_is_up(table) and self.has_notice(table, table.turn):
            return self.too_late(table)
        return self.error(table) if in_turn and name != table.turn else []

    def error(self, table):
        return [(None, f"{table.title} Board {table.number} Error")]

    def too_late(self, table):
        """Somebody does something on a board where the time of the player to move is up."""
        error = [(None, f"{table.title} error")] if table.is_young else self.error(table)
        return self.give_up(table, "total time") + error

    def give_up(self, table, reason):
        """The server makes the player to move give up."""
        table.gave_up = reason
        return self.leave(table, table.turn, BY_SERVER) if table.is_young else self.moved(
            table, table.turn, FORFEIT, BY_SERVER, automatic=True
        )  # fmt: skip

    def moved(self, table, name, text, comment, *, automatic=False):
        table.submitted = table.vote = table.voter = None
        table.say(name, comment)
        table.add(name, text, self.now, automatic=automatic)
        self.go_on(table)
        return self.told(table)

    def go_on(self, table):
        """What the server plays by itself."""
        while name := table.turn:
            queued = table.queued.get(name)
            if queued == RESIGN:
                table.add(name, RESIGN, self.now, automatic=True)
            elif queued:
                reply = table.planned(name)
                del table.queued[name]
                try:
                    table.add(name, table.read(reply.mine if reply else ""), self.now, automatic=True)
                    self.planned_turns += 1
                    if reply.then:
                        table.queued[name] = reply.then
                except Illegal:
                    self.dropped.add(name)
            elif table.state.must_skip:
                table.add(name, SKIP, self.now, automatic=True)
            else:
                break
        if table.is_over:
            self.end(table)

    def end(self, table):
        table.queued.clear()
        table.submitted = table.vote = table.voter = None
        table.ended = self.now
        for name in set(table.players):
            self.inactive[table.game, name] = False
        if table.resigned:
            table.subscribers.add(table.resigned)
        if table.is_rated:
            self.over.append(table)
        if len(set(table.players)) == 2:
            pool = self.pools.get((table.game, table.pool), {})
            for name in set(table.players) & set(pool):
                pool[name][OUTCOMES[table.outcome(name)]] += 1

    def told(self, table):
        readers = {*table.players, *table.subscribers}
        mails = [(name, table.subject) for name in readers]
        if table.is_over:
            notified = {name for game, name in self.notified if game == table.game} | table.notified
            mails += [(name, table.bare_subject) for name in notified - readers]
        return mails

    # Instead of a move

    def resign(self, table, name, comment=""):
        if table.is_young:
            return self.leave(table, name, comment)
        if name == table.turn:
            return self.moved(table, name, RESIGN, comment)
        if table.queued.get(name) == RESIGN:
            return self.error(table)
        table.queued[name] = RESIGN
        return [(name, f"{table.title} Board {table.number} Resigned")]

    def unresign(self, table, name, comment=""):
        if table.queued.get(name) != RESIGN:
            return self.error(table)
        del table.queued[name]
        return [(name, table.subject)]

    def leave(self, table, name, comment):
        del self.tables[table.game, table.number]
        if not self.active(table.game, name):
            self.inactive[table.game, name] = True
        subject = f"{table.title} board {table.number} has been removed{' **' if comment else ''}"
        return [(reader, subject) for reader in {*table.players, *table.subscribers}]

    def propose(self, table, name, comment=""):
        return self.put_to_vote(table, name, "draw", comment)

    def undo(self, table, name, comment=""):
        if games.needs_dice(table.states[0]) or all(automatic for _, _, automatic in table.turns):
            return self.error(table)
        return self.put_to_vote(table, name, "undo", comment)

    def put_to_vote(self, table, name, what, comment):
        if table.vote == what:
            return self.error(table)
        table.say(name, comment or table.comment, is_new=bool(comment))
        table.vote, table.voter = what, name
        table.told_since.pop(table.opponent(table.turn), None)
        if table.opponent(name) == name:
            return self.agreed(table)
        return self.told(table)

    def accept(self, table, name, comment=""):
        if table.voter in {None, name}:
            return self.error(table)
        table.say(name, comment or table.comment, is_new=bool(comment))
        return self.agreed(table)

    def reject(self, table, name, comment=""):
        if not table.vote:
            return self.error(table)
        table.say(name, comment or table.comment, is_new=bool(comment))
        table.waiting.pop(table.opponent(table.voter), None)
        table.vote = table.voter = None
        return self.told(table)

    def agreed(self, table):
        table.stop_clock(self.now)
        if table.vote == "draw":
            table.drawn = True
            self.end(table)
        else:
            first = max(number for number, (_, _, automatic) in enumerate(table.turns) if not automatic)
            for seat, gain in table.gains[first:]:
                table.left[seat] = max(timedelta(), table.left[seat] - gain)
            del table.turns[first:], table.states[first + 1 :], table.gains[first:]
            self.dropped |= {player for player, move in table.queued.items() if move != RESIGN}
            table.queued = {player: move for player, move in table.queued.items() if move == RESIGN}
            table.submitted = table.vote = table.voter = None
        return self.told(table)

    # Followers

    def subscribe(self, game, name, tables, *, to_all=False):
        if to_all:
            self.subscribing.add((game, name))
        mails = [(name, "Subscription summary")]
        for table in tables:
            if not table.is_over and name not in {*table.players, *table.subscribers}:
                table.subscribers.add(name)
                mails.append((name, table.subject))
        return mails

    def unsubscribe(self, game, name, tables, *, to_all=False):
        if to_all:
            self.subscribing.discard((game, name))
        for table in tables:
            table.subscribers.discard(name)
        return [(name, "Subscription summary")]

    def notify(self, game, name, *tables):
        """Of the end of some boards, or of all, which a second time ends it."""
        for table in tables:
            if not table.is_over:
                table.notified.add(name)
        if tables:
            return [(name, f"{game.capitalize()} Notify summary")]
        self.notified ^= {(game, name)}
        how = "started" if (game, name) in self.notified else "cancelled"
        return [(name, f"{game.capitalize()} notification {how}")]

    # Texts

    def chat(self, table, name):
        if name not in table.players and not table.is_over:
            return self.error(table)
        playing = {player for player in table.players if player != table.resigned}
        return [
            (reader, f"{table.title} chat {table.number} {name}") for reader in {*playing, *table.subscribers, name}
        ]

    def message(self, name, *readers):
        return [(None, "Message"), *((reader, f"Message from {name}") for reader in readers)]

    # Wishes

    def limit(self, game, name, most):
        self.limits[game, name] = most
        how = "accepted" if most is None else "limited" if most else "rejected"
        return [(name, f"{game.capitalize()} challenges now {how}")]

    def seek(self, game, name, number):
        self.seeking[game, name] = number
        return [(name, f"Now seeking {number} {game.capitalize()} challenges")]

    def choose_mail(self, game, name, how):
        self.mail[game, name] = how
        return [(name, f"{game.capitalize()} mail {how}")]

    def wants_by_itself(self, game, name):
        """Whether a user gets a mail about a board that is in play at once."""
        how = self.mail.get((game, name), "each")
        if how == "digest":
            self.held[game, name] = self.today
        return how == "each"

    def vacation(self, name, first, last):
        self.vacations.setdefault(name, []).append((first, last))
        return [(name, "Vacation")]

    def back(self, name):
        """A user ends the present vacation, keeps the days of it that are over, and cancels those to come."""
        self.vacations[name] = [
            (first, last if last < self.today else max(first, self.today - DAY))
            for first, last in self.vacations[name]
            if first <= self.today
        ]
        return [(name, "Vacation")]

    def is_away(self, name, grace=0):
        """Whether a user is on vacation, or was so less than so many days ago."""
        return any(first <= self.today <= last + grace * DAY for first, last in self.vacations.get(name, []))

    # Users

    def sign_off(self, name):
        mails = [(name, "pbm settings")]
        mine = [table for table in self.tables.values() if name in table.players and not table.is_over]
        for table in sorted(mine, key=lambda table: (table.game, len(table.number), table.number)):
            why, table.gave_up = f"{name} has signed off.", "signed off"
            mails += self.leave(table, name, why) if table.is_young else self.moved(table, name, RESIGN, why)
            table.comment = ""  # a user who signs off takes along what they wrote, this sentence included
        for table in self.tables.values():
            is_by_the_unknown = not table.commenter and table.comment != BY_SERVER and name in table.players
            if table.commenter == name or is_by_the_unknown:
                table.comment = ""
            table.subscribers.discard(name)
            table.notified.discard(name)
        for follows in (self.subscribing, self.notified):
            follows -= {(game, userid) for game, userid in follows if userid == name}
        self.vacations.pop(name, None)
        self.held = {(game, userid): day for (game, userid), day in self.held.items() if userid != name}
        del self.addresses[name]
        return mails

    # Once a day

    def cleanup(self):
        if self.is_cleanup_late:
            for table in self.tables.values():
                if not table.is_over:
                    table.stop_for_absence(self.last_cleanup + DAY, self.now)
        self.last_cleanup = self.now
        mails = []
        for _, table in sorted(self.tables.items()):
            if not table.is_over:
                mails += self.look_at(table)
        for whose in [whose for whose in self.held if self.digested.get(whose) != self.today]:
            game, name = whose
            mails.append((name, f"{game.capitalize()} Digest {self.held.pop(whose)}"))
            self.digested[whose] = self.today
        return mails

    def time_is_up(self, table):
        """Whether the player to move would lose by another move."""
        if not table.clock:
            return table.time_is_up(self.now)
        is_spared = table.is_off(self.now) or self.can_take_a_day(table, table.turn)
        return table.left_now(self.now) <= timedelta() and not is_spared

    def can_take_a_day(self, table, name):
        """Whether a day of vacation can take the place of a loss."""
        return name in self.taken and not table.novacation and self.days_off(name) < 30

    def days_of(self, name):
        """All days of vacation of a user, planned or taken."""
        days = set(self.taken.get(name, ()))
        for first, last in self.vacations.get(name, []):
            days |= {first + number * DAY for number in range((last - first).days + 1)}
        return days

    def look_at_clock(self, table):
        """What is due on a board with a clock that grows."""
        name, left = table.turn, table.left_now(self.now)
        if left > min(table.clock[0] / 4, 7 * DAY):
            return []
        if left > timedelta() or table.is_off(self.now):
            return [] if self.is_away(name) and not table.novacation else self.nag(table, name)
        if not self.has_notice(table, name):
            return self.nag(table, name)
        if self.can_take_a_day(table, name):
            self.taken[name].append(self.today)
            return self.nag(table, name)
        return self.give_up(table, "total time")

    def look_at(self, table):
        if table.clock:
            return self.look_at_clock(table)
        if table.time_is_up(self.now):
            if not self.has_notice(table, table.turn):
                return self.nag(table, table.turn)
            return self.give_up(table, "total time")
        late = table.opponent(table.voter) if table.vote == "draw" else table.turn
        age = table.age(self.now)
        if age < table.nag:
            return []
        has_taken = self.today in self.taken.get(late, ())
        if age < table.forfeit or (not table.novacation and (has_taken or self.is_away(late, grace=3))):
            is_away = self.is_away(late) and not table.novacation
            return [] if is_away else self.nag(table, late)
        if not self.has_notice(table, late):
            return self.nag(table, late)
        if self.can_take_a_day(table, late):
            self.taken[late].append(self.today)
            return self.nag(table, late)
        if table.vote != "draw":
            return self.give_up(table, "forfeited")
        return self.agreed(table)

    def has_notice(self, table, name):
        """Whether a reminder of this turn or proposal left two days ago."""
        return name in table.told_since and self.now - table.told_since[name] >= 2 * DAY

    def make_reminder(self, table, name):
        """A reminder is made, which waits until it is sent; for who has no address, that is at once."""
        if self.addresses.get(name):
            table.waiting[name] = True
        else:
            table.told_since.setdefault(name, self.now)

    def send(self):
        """All mails leave."""
        for table in self.tables.values():
            for name in table.waiting:
                table.told_since.setdefault(name, self.now)
            table.waiting = {}

    def days_off(self, name):
        """How many days of this year are vacation, planned or taken."""
        planned = [(last - first).days + 1 for first, last in self.vacations.get(name, [])]
        return sum(planned) + len(self.taken[name])

    def take_days(self, name):
        """From now on a day of vacation is taken where this user would lose."""
        self.taken.setdefault(name, [])
        return [(name, "Vacation")]

    def remind(self, table, name):
        """A player asks for the opponent's move."""
        last = table.reminded.get(name)
        if table.is_over or table.turn == name or table.vote or (last and self.now - last < 3 * DAY):
            return self.error(table)
        table.reminded[name] = table.nagged = self.now
        self.make_reminder(table, table.turn)
        return [(name, f"{table.title} nag"), (table.turn, f"Nag: {table.subject}")]

    def nag(self, table, late):
        if late in table.waiting or (table.nagged and self.now - table.nagged < DAY):
            return []
        table.nagged = self.now
        self.make_reminder(table, late)
        return [(late, f"Nag: {table.subject}")]
