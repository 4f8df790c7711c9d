"""The page of a board: what stands on it, and what a page that is open already lacks."""

import json
from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from hashlib import blake2b
from typing import Any, NamedTuple

from games.figures import Figure, Note
from pbm import letters
from pbm.board import clocks, ratings
from pbm.board.board import Board, Point
from pbm.drawing import images, svg
from pbm.names import display_name, is_former, is_guest
from pbm.session import Session
from pbm.site import markup
from pbm.site.lessons import lessons_view
from pbm.site.tapping import Drawn, tap_answer
from pbm.store import TalkRow, TurnRow
from pbm.store.robots import Puzzle
from pbm.store.talk import CHAT

PAGE_PARTS = "clock", "seats", "offers", "lessons", "mine", "end"
"""The parts of a page that are sent as a whole when they have changed; each is a macro of parts.html."""
HOUR = timedelta(hours=1)
PAGE_MARGIN = 4
"""Pixels around the board. The frame of the page has the colour of the board, so that no more is needed."""


class Seat(NamedTuple):
    """A player next to the board."""

    player: str
    side: int
    """An index of SIDES."""
    side_name: str
    hue: str
    """The class of the colour of their pieces."""
    sign: str
    """What stands on their tile if sides are called by letters, such as ``X``."""
    rating: int | None
    is_robot: bool
    is_former: bool
    """Whether they have taken their name away."""
    is_reader: bool
    is_to_move: bool
    clock: str
    """What the player has left at the last move on a clock that grows, or has used of a total time."""


class TalkEntry(NamedTuple):
    """Something that was said."""

    writer: str
    text: str
    is_own: bool
    is_chat: bool
    moves: int
    is_taken_back: bool
    said: datetime


class Turn(NamedTuple):
    """A turn in the list of turns."""

    number: int
    player: str
    text: str
    dice: Sequence[int]
    hue: str


class BoardView:
    """What the page of a board shows to a reader, or to anybody."""

    def __init__(self, session: Session, board: Board, said: Sequence[TalkRow], reader: str, address: str) -> None:
        """Look at a board; *said* is what this *reader* may read, and *address* that at which they answer."""
        self.session = session
        self.board = board
        self.said = said
        self.reader = reader
        self.address = address
        self.row = board.row
        self.point = board.present
        self.hues = svg.hues(board.rules.SIDES)
        self.is_over = board.is_over
        self.name = f"{self.row.game.capitalize()} {self.row.board}"
        self.page = f"{self.row.board}.html"
        self.up = "../"
        self.is_guest = is_guest(reader)
        self.is_new_guest = self.is_guest and reader not in {turn.userid for turn in board.turns}
        self.lessons = lessons_view(self.row.game)
        self.record = f"{self.row.board}.json" if self.is_over else ""
        self.status = letters.status_of(self.point)
        self.ratings = [ratings.described(result) for result in board.about.results]
        self.proof = letters.dice_proof(self.point)
        self.is_players = reader in board.players
        self.is_readers_turn = bool(reader) and reader == board.mover

    @property
    def options(self) -> str:
        """The options of the game as words, such as ``size 13`` or ``cairo-2``."""
        words = []
        for option in self.row.options.split():
            name, _, value = option.lstrip("-").partition("=")
            words.append(value if value[:1].isalpha() else f"{name} {value}".rstrip())
        return ", ".join(words)

    @property
    def ground(self) -> str:
        """The class of the colours below the board."""
        return svg.ground(self.board.rules.SIDES)

    @property
    def headline(self) -> str:
        """Whose turn it is, or who has won and why, in a few words."""
        if self.is_readers_turn:
            return "Your turn"
        if self.board.mover:
            return f"{display_name(self.board.mover)} is to move"
        if self.board.winner is None:
            return f"A tie{self._ending}"
        if self.board.winner == self.reader:
            return f"You won{self._ending}"
        return f"{display_name(self.board.winner)} won{self._ending}"

    @property
    def _ending(self) -> str:
        """Why the game is over, behind its result, such as ``: bob resigned`` or `` by 10 to -1``."""
        reason = self.row.reason or self.board.reasons[0]
        loser = self.row.opponent(self.board.winner) if self.board.winner else ""
        loser_name = "you" if loser == self.reader else display_name(loser)
        if reason == "rules":
            return self._by_score
        if reason == "agreed":
            return " by agreement"
        if reason == "adjudicated":
            return ": adjudicated by the director"
        if reason == "forfeited":
            return f": {loser_name} took too long for a turn"
        if reason == "total time":
            return f": the time of {loser_name} was used up"
        if reason == "withdrawn":
            return f": {loser_name} left the tournament"
        return f": {loser_name} {reason}"  # resigned, or signed off

    @property
    def _by_score(self) -> str:
        """The scores of a game that has ended by its rules, the winner's first, such as `` by 10 to -1``."""
        state = self.point.state
        numbers = state.view()["scores"].values()
        scores = {self.board.players[seat]: score for seat, score in zip(state.seats, numbers, strict=False)}
        winner = self.board.winner
        if not winner or len(set(scores.values())) < 2:
            return " by the rules"
        return f" by {scores[winner]:g} to {scores[self.row.opponent(winner)]:g}"

    @property
    def puzzle(self) -> Puzzle | None:
        """The position of this game in which a single turn wins; None if none is known."""
        puzzle = self.session.store.robots.puzzle(*self.row.place)
        return puzzle if puzzle and puzzle.answer else None

    @property
    def title(self) -> str:
        """The title of the reader's tab."""
        return f"{self.headline}: {self.name}"

    @property
    def until(self) -> datetime | None:
        """When the awaited player loses by time, if nothing else happens; None if nobody does."""
        if self.is_over or clocks.awaited(self.row) in self.board.about.robots:
            return None
        # Without a reminder so far, the end is counted from now: in whole hours, so that the page does not change all
        # the time.
        now = self.session.now.replace(minute=0, second=0, microsecond=0) + HOUR
        return now + clocks.time_left(self.session.store, self.row, now)

    @property
    def seats(self) -> list[Seat]:
        """Both players, the reader last: that seat stands next to their thumb."""
        board = self.board
        seats = []
        for side, seat in enumerate(self.point.state.seats):
            player = board.players[seat]
            side_name = board.rules.SIDES[side]
            seats.append(
                Seat(
                    player=player,
                    side=side,
                    side_name=side_name,
                    hue=self.hues[side],
                    sign=side_name if len(side_name) == 1 else "",
                    rating=self.session.store.players.get(self.row.game, player).rating,
                    is_robot=player in board.about.robots,
                    is_former=is_former(player),
                    is_reader=player == self.reader,
                    is_to_move=not self.is_over and side == self.point.state.turn,
                    clock=self._clock(seat),
                )
            )
        return sorted(seats, key=lambda seat: seat.is_reader)

    def _clock(self, seat: int) -> str:
        row = self.row
        if clock := clocks.clock_of(row):
            left = (row.second_left if seat else row.first_left) or 0.0
            return f"{letters.short_days(left)} left of {clock.words}"
        if row.total_days:
            used = row.second_used if seat else row.first_used
            return f"{letters.short_days(used)} used of {row.total_days} days"
        return ""

    @property
    def turns(self) -> list[Turn]:
        """All turns."""
        return [self._turn(number, turn) for number, turn in enumerate(self.board.turns, 1)]

    def _turn(self, number: int, turn: TurnRow) -> Turn:
        state = self.board.states[number - 1]
        sides = [side for side in (0, 1) if self.board.player(state, side) == turn.userid]
        side = state.turn if len(sides) != 1 else sides[0]
        player = display_name(turn.userid)
        if self.is_guest and turn.userid == self.reader:
            player = "you"
        return Turn(number, player, letters.turn_text(turn), turn.dice, self.hues[side])

    @property
    def talk(self) -> list[TalkEntry]:
        """What was said, in order."""
        return [
            TalkEntry(
                writer=self._writer(entry),
                text=entry.text,
                is_own=self._is_own(entry),
                is_chat=entry.kind == CHAT,
                moves=entry.moves,
                is_taken_back=entry.taken_back,
                said=entry.said,
            )
            for entry in self.said
        ]

    def _is_own(self, entry: TalkRow) -> bool:
        return bool(entry.userid) and entry.userid == self.reader

    def _writer(self, entry: TalkRow) -> str:
        if not entry.userid:
            return "the challenger"
        if entry.userid == self.reader:
            return "you"
        return display_name(entry.userid)

    @property
    def mine(self) -> dict[str, Any]:
        """What only the reader sees of the board, as data."""
        return letters.private_data_for(self.point, self.reader) if self.reader else {}

    @property
    def rematch(self) -> str:
        """The number of the board on which both play once more; empty if there is none."""
        row = self.row
        if row.rematch and self.session.store.boards.get(row.game, row.rematch):
            return row.rematch
        return ""

    @property
    def proposal(self) -> str:
        """What is proposed, in words for the reader."""
        return letters.proposal(self.board, self.reader) if self.row.vote else ""

    @property
    def chances(self) -> list[int]:
        """The chances of the first player, move by move, in percent from the top of a curve down; none if unknown."""
        analysis = self.session.store.robots.analysis(*self.row.place)
        if not analysis:
            return []
        return [round(100 - 100 * chance) for chance in json.loads(analysis)["curve"]]

    def html(self, part: str) -> str:
        """A part of the page as HTML: one of PAGE_PARTS."""
        return str(getattr(_macros(), part)(self)).strip()

    def news(self, known: Sequence[str], seen: str) -> dict[str, Any]:
        """What a page lacks that shows the steps *known*, the last one first, and was *seen* as this version.

        If that is nothing, it is the version alone.
        """
        ids = step_ids(self.board)
        parts = {part: self.html(part) for part in PAGE_PARTS}
        entries = self.talk
        digests = [_digest(text) for text in parts.values()]
        version = ".".join([ids[-1], *digests, f"{len(entries)}-{_digest(entries)}"])
        answer: dict[str, Any] = {"version": version}
        if version == seen and known[:1] == [ids[-1]]:
            return answer

        start = next((ids.index(step) + 1 for step in known if step in ids), 0)
        answer |= {
            "place": f"{self.row.game}/{self.row.board}",
            "moves": len(ids) - 1,
            "from": start,
            "steps": list(self._steps(ids, start)),
            "turns": self.html_of_turns(start),
            "title": self.title,
            "headline": self.headline,
            "userid": self.reader,
            "turn": self.board.mover,
            "over": self.is_over,
        }
        seen_digests = seen.split(".")[1:-1]
        if len(seen_digests) != len(digests):
            seen_digests = [""] * len(digests)
        changed = [part for part, now, then in zip(PAGE_PARTS, digests, seen_digests, strict=True) if now != then]
        answer["html"] = {part: parts[part] for part in changed}
        seen_talk = seen.rpartition(".")[2]
        if seen_talk != version.rpartition(".")[2]:
            said = _count_known(entries, seen_talk)
            answer["talk"] = {"from": said, "html": str(_macros().entries(entries[said:]))}
        return answer

    def preview(self, words: Sequence[str]) -> dict[str, Any]:
        """What can be done with the text of a turn that is put together on the page, as of `tap_answer`."""
        if self.is_over:
            return {"error": f"The game has ended: {self.status}"}
        is_planned = len(words) > 1 or not self.is_readers_turn
        figure = page_figure(self.point)
        drawn = Drawn(figure, page_canvas(self.board, figure)) if figure else None
        return tap_answer(self.board, words, drawn, is_planned=is_planned)

    def html_of_turns(self, start: int) -> str:
        """The list of turns from a number on; step 0 has none."""
        return str(_macros().turns(self.turns[max(0, start - 1) :], self.page))

    def _steps(self, ids: Sequence[str], start: int) -> Iterator[dict[str, Any]]:
        """The steps from a number on, each with those parts that are not as in the one before it."""
        figures = figures_of(self.board, max(0, start - 1))
        if not figures:
            yield {"id": ids[-1], "picture": images.board_svg(self.point, style="")}
            return
        canvas = page_canvas(self.board, figures[-1])
        before = {} if start == 0 else canvas.parts(figures.pop(0))
        for number, figure in enumerate(figures, start):
            now = canvas.parts(figure)
            parts = {part: "".join(map(canvas.markup, shapes)) for part, shapes in changed_parts(before, now)}
            before = now
            yield {
                "id": ids[number],
                # in JSON each double quote takes two characters; no text of a picture has a quote of either kind
                "parts": {part: shapes.replace('"', "'").replace("\n", "") for part, shapes in parts.items()},
                "notes": notes_of(figure),
            }


def _macros() -> Any:
    return markup.TEMPLATES.get_template("parts.html").module


def _count_known(entries: Sequence[TalkEntry], seen: str) -> int:
    """How many entries a page has already, by its ``COUNT-DIGEST``; 0 if it has others."""
    count, _, digest = seen.partition("-")
    if not count.isdecimal() or _digest(entries[: int(count)]) != digest:
        return 0
    return min(int(count), len(entries))


def _digest(what: object) -> str:
    return blake2b(repr(what).encode(), digest_size=4).hexdigest()


def step_ids(board: Board) -> list[str]:
    """An id for the start and for the position after each turn. Positions with another history have other ids."""
    digest = _digest((board.thread, board.row.options))
    ids = [digest]
    for turn in board.turns:
        digest = _digest((digest, turn.userid, turn.text, turn.dice))
        ids.append(digest)
    if board.is_over:  # perhaps without a turn, as by a draw
        ids[-1] = _digest((ids[-1], board.winner))
    return ids


def figures_of(board: Board, start: int = 0) -> list[Figure]:
    """The figures of all positions from one on; none for a game without figures."""
    points = [board.after(moves) for moves in range(start, len(board.states))]
    return [figure for point in points if (figure := page_figure(point))]


def page_figure(point: Point) -> Figure | None:
    """The figure of a position without repeated coordinates, for on a telephone each pixel counts."""
    figure = images.figure(point)
    if figure is None:
        return None
    return figure._replace(labels=tuple(label for label in figure.labels if not label.is_repeated))


def page_canvas(board: Board, figure: Figure) -> svg.Canvas:
    """Draws the figures of a board in the size in which pages show them."""
    return svg.Canvas(figure, board.rules.SIDES, margin=PAGE_MARGIN)


def notes_of(figure: Figure) -> list[dict[str, Any]]:
    """What a figure says of the sides and of the game, for a page; empty fields are left out."""
    notes = map(_note, figure.notes)
    return [{name: value for name, value in note.items() if value not in {"", None, ()}} for note in notes]


def _note(note: Note) -> dict[str, Any]:
    text = note.text
    if note.side is not None:  # the seat names the side, and shows its score
        parts = (text.partition(": ")[2] or text).split(", ")
        text = ", ".join(part for part in parts if part.removeprefix("score ") != note.score)
    return {"side": note.side, "text": text, "score": note.score, "dice": note.dice, "is_task": note.is_task or None}


def changed_parts(
    before: dict[int, list[svg.Shape]], now: dict[int, list[svg.Shape]]
) -> Iterator[tuple[int, list[svg.Shape]]]:
    """The parts of a picture that are not as before; one that is gone has no shapes."""
    for number in sorted(before.keys() | now.keys()):
        if now.get(number) != before.get(number):
            yield number, now.get(number, [])


def pictured(board: Board) -> tuple[str, dict[str, Any]]:
    """A board as it is now in SVG without a style sheet, and what a page needs to draw all positions, ready for JSON.

    The data have ``sides``, the names of both by their colours; the ``shapes`` of all positions; and ``steps``, one for
    each position. A step has its ``id``, its ``notes``, and the ``parts`` that differ from the position before, by
    their numbers. A part is the numbers of its shapes. Without figures a position has an ``id`` alone.
    """
    ids = step_ids(board)
    sides = dict(zip(svg.hues(board.rules.SIDES), board.rules.SIDES, strict=True))
    figures = figures_of(board)
    if not figures:
        return images.board_svg(board.present, style=""), {"sides": sides, "steps": [{"id": step} for step in ids[-1:]]}

    canvas = page_canvas(board, figures[-1])
    shape_numbers: dict[svg.Shape, int] = {}
    parts_before: dict[int, list[svg.Shape]] = {}
    steps = []
    for step, figure in zip(ids, figures, strict=True):
        parts = canvas.parts(figure)
        step_parts = {}
        for number, shapes in changed_parts(parts_before, parts):
            step_parts[number] = [shape_numbers.setdefault(shape, len(shape_numbers)) for shape in shapes]
        steps.append({"id": step, "parts": step_parts, "notes": notes_of(figure)})
        parts_before = parts

    picture = canvas.picture(figures[-1], images.caption(board.present), style="", has_notes=False)
    return picture, {"sides": sides, "shapes": [canvas.markup(shape) for shape in shape_numbers], "steps": steps}
