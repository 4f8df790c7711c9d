"""Random plans of both players, in a shell and by mail, beside those of `reference_plans`."""

import random
from contextlib import suppress

import pytest

import games
from games import Illegal
from pbm.access import tokens
from pbm.board import dice
from pbm.mail.incoming import handle
from pbm.refusals import Refused

import reference_plans as reference
from conftest import PASSWORDS
from examples import IS_QUICK
from reference_plans import ANY
from test_answers import written

TREES = 40 if IS_QUICK else 1000
"""How many plans are typed in a game."""
OPTIONS = {
    "papagra": ("-size=3", "-size=4"),
    "spiro": ("-small", "-small -pieces=2"),
    "spora": ("-size=5", "-size=5 -pie"),
    "sprout": ("-board=limping-3",),
    "symple": ("-size=5", "-size=7"),
}
NAMES = "alice", "bob"
BAD = "a1", "c3", "z9", "--", "b2,c2", "resign"
"""What is no move for the most part."""


def words_alone(text):
    """A text without blanks, for a mail breaks long lines."""
    return "".join(text.split())


class Match:
    """A board of alice and bob, whom carol watches, and the same board of the reference."""

    def __init__(self, club, game, options, rng):
        self.club, self.rng, self.game = club, rng, game
        self.board = club.say(f"{game} challenge {options} alice bob")[-1].data["board"]
        club.say(f"{game} subscribe {self.board} carol {PASSWORDS['carol']}")
        secret, rules = club.store.boards.get(game, self.board).secret, games.load(game)

        def throw(turn, count):
            return dice.throw(secret, f"{game} {self.board}", turn, count)

        self.there = reference.Board(rules, games.read_options(rules, options.split()), throw)
        with club.store.writing():
            self.addresses = [tokens.reply_address(club.server, game, self.board, name) for name in NAMES]

    @property
    def mover(self):
        return reference.mover(self.there.state)

    # What is typed

    def line(self, state, player):
        """A line of a plan for a position, which can be played for the most part, and names much of the plan again."""
        line, tree = [], self.there.trees[player]
        number = len(self.there.turns) + (state is not self.there.state)
        for _ in range(self.rng.choice((1, 1, 2, 2, 3, 5))):
            if state is None or state.result() or reference.mover(state) == player:
                break
            theirs, state = self.one(state, number, tree, any_share=0.1)
            reply = tree.get(theirs)
            mine = self.rng.choice(BAD)
            if state and not state.result() and reference.mover(state) == player:
                mine, state = self.one(state, number + 1, {reply.mine: None} if reply else {})
            line.append((theirs, mine))
            tree = reply.then if reply else {}
            number += 2
        return line

    def one(self, state, number, again, any_share=0.0):
        """A move as it is typed, and the position after it; None if nobody knows it."""
        if games.needs_dice(state) and not state.dice:
            state = state.roll(self.there.throw(number, state.dice_needed))
        move = state.random(self.rng)
        if self.rng.random() < 0.01:
            return self.rng.choice(BAD), None
        if any_share and (games.needs_dice(self.there.state) or self.rng.random() < any_share):
            return ANY, state.play(move)
        if again and self.rng.random() < 0.5:
            typed = self.rng.choice([*again])
            with suppress(Illegal):
                return typed, state.play(state.parse(typed))
        return self.spelled(move), state.play(move)

    def spelled(self, move):
        """A move as somebody may write it."""
        parts = move.split(",")
        if self.rng.random() < 0.1:
            self.rng.shuffle(parts)
        return ",".join(part.upper() if self.rng.random() < 0.2 else part for part in parts)

    def lines(self, player, state):
        """Some lines, and how they are typed."""
        lines = [*filter(None, (self.line(state, player) for _ in range(self.rng.choice((1, 1, 2, 3, 5)))))]
        return lines, [" ".join(f"if {theirs} then {mine}" for theirs, mine in line) for line in lines]

    # What is done

    def do(self, player, line, answer, *, by_mail=False):
        """Who is told what of a command in a shell or of an answer; nothing if it is refused."""
        for table in "outbox", "quotas":  # who errs too often gets no answer
            self.club.store.db.execute(f"DELETE FROM {table}")
        name, told = NAMES[player], []
        if by_mail or self.rng.random() < 0.4:
            message_id, to = f"<{self.club.random_bytes(12).hex()}@players.example>", self.addresses[player]
            mail = written("Re: board", answer, f"{name}@players.example", to, message_id=message_id)
            handle(self.club.server, mail, None, [to])
            if "error" in self.club.mails()[0].subject.lower():
                assert len(self.club.mails()) == 1
                return []
        else:
            who = f"{self.board} {name} {PASSWORDS[name]}"
            try:
                told = [letter.body for letter in self.club.say(f"{self.game} {line.replace('ME', who)}")]
            except (Refused, Illegal):
                assert self.club.mails() == []
                return []
        here = [(name, text) for text in told] + [(mail.userid or name, mail.text) for mail in self.club.mails()]
        return sorted((reader, words_alone(text)) for reader, text in here)

    def plan(self, player):
        """Plan something, also when it is the player's turn."""
        lines, typed = self.lines(player, self.there.state)
        if not lines:
            lines, typed = [[(ANY, "a1")]], ["if any then a1"]
        told = self.do(player, f"plan ME {';'.join(typed)}", "\n".join(typed))
        self.compare(told, lambda: self.there.plan(player, lines))
        assert [reader for reader, _ in told] in ([], [NAMES[player]])

    def queue(self, player):
        move = self.one(self.there.state, len(self.there.turns), {})[0]
        move += self.rng.choice(("", "", f"#{len(self.there.turns) + self.rng.choice((1, 2))}"))
        told = self.do(player, f"queue ME {move}", f"queue {move}")
        self.compare(told, lambda: self.there.plan(player, [[(ANY, move)]]))

    def clear(self, player):
        told = self.do(player, "plan ME clear", "plan clear")
        assert bool(told) == bool(self.there.trees[player])
        self.there.trees[player] = {}
        self.compare(told, None)

    def undo(self):
        turns = self.there.turns
        real = [number for number, turn in enumerate(turns) if not turn.is_automatic]
        if not real or games.needs_dice(self.there.state):
            return
        self.do(self.mover, "move ME undo", "undo")
        told = self.do(1 - self.mover, "move ME accept", "accept")
        self.compare(told, lambda: self.there.undo(len(turns) - real[-1]))

    def move(self):
        """Make a move, often one that the other has thought of, and often with a plan below it."""
        player, state, move = self.mover, self.there.state, self.there.state.random(self.rng)
        known = [*self.there.trees[1 - player]]
        if known and self.rng.random() < 0.8:
            with suppress(Illegal):
                move = state.parse(self.rng.choice(known))
        typed = self.spelled(move)
        lines, below = self.lines(player, state.play(move)) if self.rng.random() < 0.4 else ([], [])
        told = self.do(player, f"move ME {typed}", "\n".join([typed, *below, "", "Have fun!"]), by_mail=bool(lines))
        if there := self.compare(told, lambda: self.there.move(player, typed, lines)):
            self.check_told(told, there)

    # What is compared

    def compare(self, told, do):
        """Do it there as well: it is refused in both places, or turns and plans are the same after it."""
        there = None
        try:
            there = do() if do else None
        except (reference.Refused, Illegal):
            assert not told
        else:
            assert told or not do
        turns = self.club.store.boards.turns(self.game, self.board)
        assert [(turn.userid, turn.text, bool(turn.automatic)) for turn in turns] == [
            (NAMES[turn.player], turn.move, turn.is_automatic) for turn in self.there.turns
        ]
        plans = self.club.store.boards.plans(self.game, self.board)
        for name, tree in zip(NAMES, self.there.trees, strict=True):
            known = map(self.there.known, reference.branches(tree))
            lines = {" ".join(f"if {theirs} then {mine}" for theirs, mine in line) for line in known}
            assert {*plans.get(name, "").split("\n")} - {""} == lines
        return there

    def check_told(self, told, there):
        """One mail to each reader names the planned moves, and an owner is told of a dropped plan."""
        assert [reader for reader, _ in told] == ["alice", "bob", "carol"]
        planned = [f"{turn.move} by {NAMES[turn.player]}" for turn in there.turns if turn.is_planned]
        for reader, text in told:
            sentence = words_alone(f"Played at once, as planned: {', '.join(planned)}.")
            assert (sentence if planned else "Playedatonce") in text or not planned
            assert bool(planned) == ("Playedatonce" in text)
            dropped = {NAMES[player]: why for player, why in there.dropped.items()}
            assert (reader in dropped) == ("isdropped." in text)
            assert words_alone(dropped.get(reader, "")) in text


@pytest.mark.parametrize("game", OPTIONS)
def test_plans_are_kept_played_and_told_as_by_the_reference(club, game):
    rng = random.Random(game)
    club.signed_up("alice", "bob", "carol")
    trees = played = 0
    while trees < TREES:
        match = Match(club, game, rng.choice(OPTIONS[game]), rng)
        while not match.there.state.result() and trees < TREES:
            for share, do in (0.9, match.plan), (0.1, match.queue), (0.05, match.clear):
                if rng.random() < share:
                    do(1 - match.mover)
                    trees += do == match.plan
            for share, do in (0.03, lambda match=match: match.plan(match.mover)), (0.03, match.undo), (1, match.move):
                if rng.random() < share:
                    do()
        played += sum(turn.is_planned for turn in match.there.turns)
    assert played > TREES / 4
