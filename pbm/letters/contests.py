"""What is said of tournaments: their tables, their rounds, and how far they are."""

import csv
import html
import io
from collections.abc import Mapping, Sequence
from itertools import chain
from typing import Any

from pbm import texts
from pbm.blocks import Block, NextCommand, Paragraph, Preformatted, Rule, Table, Told, text_of
from pbm.letters.headings import heading
from pbm.letters.letter import Letter, plain_letter
from pbm.tournaments import tables
from pbm.tournaments.kinds import WORTH, Pair, Progress, Tournament, meetings_of
from pbm.tournaments.tables import BOARD_POINTS, Rows, Standing

REPEATED = "No", "Player", "Team"
"""The columns that stand in each part of a table that is too wide for a line."""
FORMATS = "text", "markdown", "csv", "json", "html"


class TournamentTable(Progress):
    """A tournament, and how it is shown."""

    __slots__ = ()

    @property
    def title(self) -> str:
        """Its name at the beginning of a sentence, such as ``Pool s of Symple``."""
        return f"Pool {self.tournament.pool} of {self.tournament.game.capitalize()}"

    @property
    def order(self) -> list[str]:
        """The tie-breaks between equal points, such as ``["sb", "wins"]``; empty if the kind has its own order."""
        return [] if self.tournament.kind.explained else self.tournament.tie_breaks.split(",")

    @property
    def lines(self) -> Sequence[Standing]:
        """The table, by points or by what decides instead of them."""
        names = chain(self.by_name, *(one.pair for one in self.meetings))
        lines = tables.places_of(filter(None, names), self.meetings, self.tournament.tie_breaks.split(","))
        places = self.tournament.kind.places(self)
        if places is None:
            return lines
        placed = [line._replace(place=places.get(line.name, len(places) + 1)) for line in lines]
        return sorted(placed, key=lambda line: line.place)

    @property
    def teams(self) -> list[Standing]:
        """The table of teams; nothing if there are none."""
        return tables.team_standings(self.entrants, self.meetings) if self.has_teams else []

    def rows(self, *, fits: bool, is_spreadsheet: bool = False) -> Rows:
        """The table with the results beside it; for *fits*, columns are numbered where names would be too wide.

        In a spreadsheet, the results of a team stand in the lines of its players.
        """
        lines, has_rounds = self.lines, self.tournament.kind.has_rounds
        places = tables.of_places(lines, self.order)
        if self.has_teams:
            members = tables.of_members(lines, self.team_of, self.teams if is_spreadsheet else [])
            for place, team in zip(places, members, strict=True):
                place[2:2] = team
        if has_rounds:
            results = tables.of_rounds(lines, self.meetings, is_spreadsheet=is_spreadsheet)
        else:
            results = tables.of_results(lines, self.meetings, is_spreadsheet=is_spreadsheet)
        rows = [[*front, *cells] for front, cells in zip(places, results, strict=True)]
        if not has_rounds:
            if not fits or max(map(len, texts.table(rows).split("\n"))) <= texts.WIDTH:
                return rows
            rows[0] = [*places[0], *(str(number) for number, _ in enumerate(lines, 1))]
        return [["No", *rows[0]], *([str(number), *row] for number, row in enumerate(rows[1:], 1))]

    @property
    def heading(self) -> str:
        """How far it is, such as ``Pool s of Symple, round 1 of 3, 0 of 2 games played``."""
        games = [one for one in self.meetings if not one.is_bye]
        over = len(games) - len(self.running)
        if self.tournament.state == "open":
            return f"{self.title}, open: {texts.counted(len(self.entrants), 'player')}"
        which = f", round {present_round(self.tournament)}" if self.tournament.kind.has_rounds else ""
        ended = "" if self.tournament.is_on or not which else f", {self.tournament.state}"
        return f"{self.title}{which}{ended}, {over} of {texts.counted(len(games), 'game')} played"

    @property
    def legend(self) -> str:
        """What stands under the table: what decides about places, and what its signs mean."""
        return self.tournament.kind.explained or tables.explained(self.order)

    @property
    def data(self) -> dict[str, Any]:
        """The table for programs."""
        team_of = self.team_of
        rows = []
        for line in self.lines:
            own = meetings_of(line.name, self.meetings)
            found: dict[str, list[float | None]] = {}
            for one in own:
                if not one.is_bye:
                    outcome = one.outcome_of(line.name)
                    found.setdefault(one.opponent(line.name), []).append(None if outcome is None else WORTH[outcome])
            byes = sum(one.is_bye for one in own)
            used = sum(max(0.0, one.used[one.first != line.name]) for one in own)  # less than none if days were given
            rows.append(
                line.as_data("userid", ("sb", *self.tournament.tie_breaks.split(",")))
                | {"results": found, "used_seconds": round(used, 3)}
                | ({"byes": byes} if byes else {})
                | ({"team": team_of[line.name]} if line.name in team_of else {})
            )
        members = self.team_players
        teams = [line.as_data("team", BOARD_POINTS) | {"players": members[line.name]} for line in self.teams]
        data = {
            **self.tournament.place_data,
            "table": rows,
            "order": ["points", *self.order],
        }
        return data | ({"teams": teams} if teams else {})

    def board_rows(self, boards: Mapping[str, Pair]) -> Rows:
        """Boards with their players, and with the teams of these if there are any."""
        if not self.has_teams:
            rows = [["Board", "First", "Second"]]
            rows += [[board, *pair] for board, pair in boards.items()]
            return rows
        team_of = self.team_of
        rows = [["Board", "First", "First team", "Second", "Second team"]]
        for board, (first, second) in boards.items():
            rows.append([board, first, team_of.get(first, ""), second, team_of.get(second, "")])
        return rows

    def tables(self, *, fits: bool) -> list[Rows]:
        """The table, below that of the teams if there are any."""
        teams = self.teams
        return [*([tables.of_places(teams, BOARD_POINTS, "Team")] if teams else []), self.rows(fits=fits)]

    @property
    def blocks(self) -> list[Block]:
        """The table for letters."""
        shown = [Table(rows, repeated=REPEATED) for rows in self.tables(fits=True)]
        return [Paragraph(self.heading), *shown, Paragraph(texts.wrapped_turns(self.legend))]

    def text(self, form: str = "text") -> str:
        """The table in one of FORMATS but JSON."""
        if form == "text":
            return text_of(self.blocks)
        if form == "csv":
            return comma_separated(self.rows(fits=False, is_spreadsheet=True))
        found = self.tables(fits=False)
        if form == "markdown":
            return "\n\n".join([f"**{self.heading}**", *map(marked_down, found), self.legend])
        parts = [f"<p>{html.escape(self.heading)}</p>", *map(hypertext, found)]
        return "\n".join([*parts, f"<p>{html.escape(self.legend)}</p>"])


def present_round(tournament: Tournament) -> str:
    """Which round is played, such as ``2 of 5``."""
    return f"{tournament.round} of {tournament.rounds}" if tournament.rounds else str(tournament.round)


def comma_separated(rows: Sequence[Sequence[str]]) -> str:
    """A table for spreadsheets, with headings as programs call them."""
    out = io.StringIO()
    keys = {one.heading: one.key for one in tables.TIE_BREAKS.values() if one.heading}
    keys |= {"Player": "userid"}
    heading = [keys.get(cell, cell.lower().replace(" ", "_")) for cell in rows[0]]
    csv.writer(out, lineterminator="\n").writerows([heading, *rows[1:]])
    return out.getvalue().rstrip("\n")


def marked_down(rows: Rows) -> str:
    """A table in Markdown."""
    lines = [rows[0], ["---"] * len(rows[0]), *rows[1:]]
    return "\n".join(f"| {' | '.join(cell.replace('|', '') for cell in row)} |" for row in lines)


def hypertext(rows: Sequence[Sequence[str]]) -> str:
    """A table in HTML, which scrolls by itself where it is wider than the screen."""

    def line(cells: Sequence[str], tag: str) -> str:
        return f"<tr>{''.join(f'<{tag}>{html.escape(cell)}</{tag}>' for cell in cells)}</tr>"

    lines = [line(rows[0], "th"), *(line(cells, "td") for cells in rows[1:])]
    return "\n".join(['<div style="overflow-x: auto">', "<table>", *lines, "</table>", "</div>"])


# What players, and the director, are told


def status_of_tournament(shown: TournamentTable) -> dict[str, Any]:
    """How far a tournament is, for programs."""
    tournament = shown.tournament
    asked = {entrant.name: sorted(entrant.byes) for entrant in shown.entrants if entrant.byes}
    data: dict[str, Any] = {
        **tournament.place_data,
        "type": tournament.kind.name,
        "state": tournament.state,
        "round": tournament.round,
        "rounds": tournament.rounds,
        "director": tournament.director,
        "starts": tournament.starts and tournament.starts.isoformat(),
        "most": tournament.most,
        "players": shown.players,
        "withdrawn": [entrant.name for entrant in shown.entrants if entrant.withdrawn is not None],
        "running": [*shown.running],
    }
    if tournament.never:
        data["never"] = tournament.apart
    if asked:
        data["byes"] = asked
    if shown.has_teams:
        data["teams"] = shown.team_players
    return data


def described_tournament(shown: TournamentTable) -> list[Block]:
    """How far a tournament is, for people."""
    tournament, data = shown.tournament, status_of_tournament(shown)
    starts, byes = tournament.starts, tournament.byes
    rows = {
        "Type": tournament.kind.title,
        "State": tournament.state,
        "Round": present_round(tournament) if tournament.round else "",
        "Options": tournament.options,
        "Director": tournament.director,
        "Starts": f"{starts:{texts.TIME_FORMAT}}" if starts and tournament.state == "open" else "",
        "At most": texts.counted(tournament.most, "player") if tournament.most else "",
        "Byes": f"{texts.counted(byes, 'bye')} of half a point for a player who asks" if byes else "",
        "Apart": ", ".join(" and ".join(group) for group in tournament.apart),
    }
    lines = [f"{name:11}{text}" for name, text in rows.items() if text]
    for team, players in shown.team_players.items():
        lines += texts.lines_of_turns(f"{'Team':11}{team}: {', '.join(players)}")
    for name in ("players", "withdrawn", "running"):
        if data[name]:
            lines += texts.lines_of_turns(f"{name.capitalize():11}{', '.join(data[name])}")
    return [Paragraph(shown.title), Preformatted("\n".join(lines))]


def of_tournament(
    shown: TournamentTable, subject: str, told: Told, *, answer: str = "", to: str | None = None
) -> Letter:
    """A letter about a tournament, to a user or to whoever gives the command."""
    tournament = shown.tournament
    return plain_letter(
        told,
        subject=f"{tournament.game.capitalize()} tournament {tournament.pool}: {subject}",
        answer=answer or f"{tournament.game} table {tournament.pool}",
        to=to,
        **status_of_tournament(shown),
    )


def of_pairs(shown: TournamentTable, number: int, boards: Mapping[str, Pair], idle: Sequence[str]) -> list[Block]:
    """Who meets whom in a round."""
    tournament = shown.tournament
    told: list[Block] = [Paragraph(f"Round {number} of pool {tournament.pool} of {tournament.game.capitalize()}:")]
    if boards:
        told.append(Table(shown.board_rows(boards)))
    asked = shown.with_bye(number)
    byes = (f"{name} has a bye, which counts as {'half a point' if name in asked else 'a win'}." for name in idle)
    return [*told, *map(Paragraph, byes)]


def of_new_boards(letters: Sequence[Letter], shown: TournamentTable, number: int) -> Letter:
    """All new boards of a player in one letter, each with the command to answer with."""
    first, *_ = letters
    title, pool = shown.tournament.game.capitalize(), shown.tournament.pool
    boards = texts.counted(len(letters), "board")
    begun = Paragraph(heading("round", number=number, pool=pool, game=title, boards=boards))
    told = [block for letter in letters for block in (Rule("="), *letter.blocks, Paragraph(letter.command.text))]
    return Letter(
        to=first.to,
        subject=f"{title} tournament {pool}: your boards of round {number}",
        blocks=(begun, *told, Rule("=", is_end=True)),
        command=NextCommand(f"{first.game} games {first.to} next"),
        data={},
        point=first.point,
    )
