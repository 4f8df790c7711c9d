"""What is said of tournaments: their tables, their rounds, and how far they are."""

import csv
import html
import io
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from pbm import texts
from pbm.blocks import Block, Paragraph, Rule, Table, Told, text_of
from pbm.letters.letter import Letter, note
from pbm.tournaments import tables
from pbm.tournaments.kinds import Tournament
from pbm.tournaments.meetings import WORTH, Entrant, Meeting, Pair
from pbm.tournaments.tables import Sheet, Standing, TeamLine

REPEATED = "No", "Player", "Team"
"""The columns that stand in each part of a table that is too wide for a line."""
FORMATS = "text", "markdown", "csv", "json", "html"


class Shown(NamedTuple):
    """A tournament with all that is needed to show it."""

    one: Tournament
    entrants: Sequence[Entrant]
    meetings: Sequence[Meeting]

    @property
    def title(self) -> str:
        """What it is called at the beginning of a sentence."""
        return f"Pool {self.one.pool} of {texts.title(self.one.game)}"

    @property
    def order(self) -> list[str]:
        """What decides between equal points."""
        return [] if self.one.kind.explained else self.one.tie_breaks.split(",")

    @property
    def lines(self) -> Sequence[Standing]:
        """The table."""
        found = {entrant.name: None for entrant in self.entrants}
        found |= {name: None for one in self.meetings for name in one.pair if name}
        lines = tables.places_of(found, self.meetings, self.one.tie_breaks.split(","))
        return self.one.kind.ranked(self.one, self.entrants, self.meetings, lines)

    @property
    def teams(self) -> list[TeamLine]:
        """The table of teams; nothing if there are none."""
        has_teams = any(entrant.team for entrant in self.entrants)
        return tables.team_standings(self.entrants, self.meetings) if has_teams else []

    def sheet(self, lines: Sequence[Standing], *, fits: bool) -> Sheet:
        """The table with what stands beside it; for *fits*, columns are numbered where names would be too wide."""
        if self.one.kind.has_rounds:
            return tables.sheet(lines, self.order, tables.by_rounds(lines, self.meetings), numbered=True)
        named = tables.sheet(lines, self.order, tables.cross_table(lines, self.meetings, by_name=True), numbered=False)
        width = max(map(len, texts.table([tuple(named.heading), *map(tuple, named.rows)]).split("\n")))
        if not fits or width <= texts.WIDTH:
            return named
        return tables.sheet(lines, self.order, tables.cross_table(lines, self.meetings, by_name=False), numbered=True)

    @property
    def heading(self) -> str:
        """How far it is."""
        games = [one for one in self.meetings if not one.is_bye]
        over = sum(not one.is_running for one in games)
        if self.one.state == "open":
            return f"{self.title}, open: {texts.counted(len(self.entrants), 'player')}"
        which = f", round {self.one.round}" if self.one.kind.has_rounds else ""
        of = f" of {self.one.rounds}" if which and self.one.rounds else ""
        ended = "" if self.one.is_on or not which else f", {self.one.state}"
        return f"{self.title}{which}{of}{ended}, {over} of {texts.counted(len(games), 'game')} played"

    @property
    def legend(self) -> str:
        """What stands under the table: what decides about places, and what its signs mean."""
        return self.one.kind.explained or tables.explained(self.order)

    @property
    def data(self) -> dict[str, Any]:
        """The table for programs."""
        rows = []
        for line in self.lines:
            found: dict[str, list[float | None]] = {}
            for one in self.meetings:
                if line.name in one.pair and not one.is_bye:
                    outcome = one.outcome_of(line.name)
                    found.setdefault(one.opponent(line.name), []).append(None if outcome is None else WORTH[outcome])
            scores = {
                tables.TIE_BREAKS[kind].key: line.scores[kind]
                for kind in dict.fromkeys(("sb", *self.one.tie_breaks.split(",")))
                if tables.TIE_BREAKS[kind].key
            }
            byes = sum(one.is_bye for one in self.meetings if line.name in one.pair)
            used = sum(one.used[one.first != line.name] for one in self.meetings if line.name in one.pair)
            rows.append(
                {"place": line.place, "userid": line.name, "points": line.points}
                | scores
                | {"won": line.won, "lost": line.lost, "tied": line.tied, "to_play": line.to_play, "results": found}
                | {"used_seconds": round(used, 3)}
                | ({"byes": byes} if byes else {})
            )
        teams = [line._asdict() for line in self.teams]
        data = {"game": self.one.game, "pool": self.one.pool, "table": rows, "order": ["points", *self.order]}
        return data | ({"teams": teams} if teams else {})

    def sheets(self, *, fits: bool) -> list[Sheet]:
        """The table, below that of the teams if there are any."""
        sheets = [self.sheet(self.lines, fits=fits)]
        if teams := self.teams:
            heading = ("Place", "Team", "Points", "Board points", "Won", "Lost", "Tied", "To play")
            sheets.insert(0, Sheet(heading, [[cell_text(value) for value in line] for line in teams]))
        return sheets

    @property
    def blocks(self) -> list[Block]:
        """The table for letters."""
        sheets = ([[*each.heading], *map(list, each.rows)] for each in self.sheets(fits=True))
        shown = [Table(texts.table([*map(tuple, rows)], repeated=REPEATED), rows) for rows in sheets]
        return [Paragraph(self.heading), *shown, Paragraph(texts.broken(self.legend))]

    def text(self, form: str = "text") -> str:
        """The table in one of FORMATS but JSON."""
        if form == "text":
            return text_of(self.blocks)
        sheets = self.sheets(fits=False)
        if form == "csv":
            return comma_separated(_with_points(sheets[-1]))
        if form == "markdown":
            return "\n\n".join([f"**{self.heading}**", *map(marked_down, sheets), self.legend])
        parts = [f"<p>{html.escape(self.heading)}</p>", *map(hypertext, sheets)]
        return "\n".join([*parts, f"<p>{html.escape(self.legend)}</p>"])


def _with_points(sheet: Sheet) -> Sheet:
    """A table whose results are points, with a blank between where there are several."""
    results = [at for at in range(len(sheet.heading)) if at > sheet.heading.index("To play")]
    meant = {"=": "0.5", ".": "-"}

    def cell(at: int, text: str) -> str:
        if at not in results or ":" in text or text == "-" or text.startswith("bye"):
            return text
        return " ".join(meant.get(sign, sign) for sign in text)

    return sheet._replace(rows=[[cell(at, text) for at, text in enumerate(row)] for row in sheet.rows])


def cell_text(value: float | str) -> str:
    """A cell as it is written."""
    return value if isinstance(value, str) else tables.numeral(value)


def comma_separated(sheet: Sheet) -> str:
    """A table for spreadsheets, with headings as programs call them and results as points."""
    out = io.StringIO()
    keys = {one.heading: one.key for one in tables.TIE_BREAKS.values() if one.heading}
    keys |= {"Player": "userid", "To play": "to_play"}
    heading = [keys.get(cell, cell.lower()) for cell in sheet.heading]
    csv.writer(out, lineterminator="\n").writerows([heading, *sheet.rows])
    return out.getvalue().rstrip("\n")


def marked_down(sheet: Sheet) -> str:
    """A table in Markdown."""
    rows = [sheet.heading, ["---"] * len(sheet.heading), *sheet.rows]
    return "\n".join(f"| {' | '.join(cell.replace('|', '') for cell in row)} |" for row in rows)


def hypertext(sheet: Sheet) -> str:
    """A table in HTML, which scrolls by itself where it is wider than the screen."""

    def row(cells: Sequence[str], tag: str) -> str:
        return f"<tr>{''.join(f'<{tag}>{html.escape(cell)}</{tag}>' for cell in cells)}</tr>"

    rows = [row(sheet.heading, "th"), *(row(cells, "td") for cells in sheet.rows)]
    return "\n".join(['<div style="overflow-x: auto">', "<table>", *rows, "</table>", "</div>"])


# What players, and the director, are told


def status_of_tournament(shown: Shown) -> dict[str, Any]:
    """How far a tournament is, for programs."""
    one = shown.one
    asked = {entrant.name: sorted(entrant.byes) for entrant in shown.entrants if entrant.byes}
    data = {
        "game": one.game,
        "pool": one.pool,
        "type": one.kind.name,
        "state": one.state,
        "round": one.round,
        "rounds": one.rounds,
        "director": one.director,
        "starts": one.starts and one.starts.isoformat(),
        "most": one.most,
        "players": [entrant.name for entrant in shown.entrants if entrant.withdrawn is None],
        "withdrawn": [entrant.name for entrant in shown.entrants if entrant.withdrawn is not None],
        "running": [meeting.board for meeting in shown.meetings if meeting.is_running],
    }
    return data | ({"never": one.apart} if one.never else {}) | ({"byes": asked} if asked else {})


def described_tournament(shown: Shown) -> list[Block]:
    """The same for people."""
    one, data = shown.one, status_of_tournament(shown)
    rows = [("Type", one.kind.title), ("State", one.state)]
    if one.round:
        rows.append(("Round", f"{one.round}{f' of {one.rounds}' if one.rounds else ''}"))
    rows += [("Options", one.options)] * bool(one.options)
    rows += [("Director", one.director or "")] * bool(one.director)
    rows += [("Starts", f"{one.starts:%Y-%m-%d %H:%M} UTC")] if one.starts and one.state == "open" else []
    rows += [("At most", texts.counted(one.most, "player"))] if one.most else []
    rows += [("Byes", f"{texts.counted(one.byes, 'bye')} of half a point for a player who asks")] if one.byes else []
    rows += [("Apart", ", ".join(" and ".join(group) for group in one.apart))] if one.never else []
    lines = [f"{name:11}{text}" for name, text in rows]
    for name in ("players", "withdrawn", "running"):
        if data[name]:
            lines += texts.folded(f"{name.capitalize():11}{', '.join(data[name])}")
    return [Paragraph(shown.title), Table("\n".join(lines))]


def of_tournament(shown: Shown, subject: str, told: Told, *, answer: str = "") -> Letter:
    """A letter about a tournament, to whoever gives the command."""
    one = shown.one
    return note(
        told,
        subject=f"{texts.title(one.game)} tournament {one.pool}: {subject}",
        answer=answer or f"{one.game} table {one.pool}",
        data=status_of_tournament(shown),
    )._replace(is_urgent=True)


def of_pairs(shown: Shown, number: int, boards: Mapping[str, Pair], idle: Sequence[str]) -> list[Block]:
    """Who meets whom in a round."""
    rows = [("Board", "First", "Second"), *((board, *pair) for board, pair in boards.items())]
    told: list[Block] = [Paragraph(f"Round {number} of pool {shown.one.pool} of {texts.title(shown.one.game)}:")]
    told += [Table(texts.table(rows))] if boards else []
    asked = {each.name for each in shown.entrants if number in each.byes}
    byes = (f"{name} has a bye, which counts as {'half a point' if name in asked else 'a win'}." for name in idle)
    return [*told, *map(Paragraph, byes)]


def of_new_boards(letters: Sequence[Letter], shown: Shown, number: int) -> Letter:
    """All new boards of a player in one letter, each with the command to answer with."""
    first, *_ = letters
    count = f"{texts.counted(len(letters), 'board')} of yours"
    heading = f"Round {number} of pool {shown.one.pool} of {texts.title(shown.one.game)} has begun: {count}."
    told = [block for letter in letters for block in (Rule("="), *letter.blocks, Paragraph(letter.answer))]
    return Letter(
        to=first.to,
        subject=f"{texts.title(shown.one.game)} tournament {shown.one.pool}: your boards of round {number}",
        blocks=(Paragraph(heading), *told, Rule("=", is_end=True)),
        answer=f"{first.game} games {first.to} next",
        facts=lambda: {"boards": [letter.data for letter in letters]},
        notation=first.notation,
        is_urgent=True,
    )
