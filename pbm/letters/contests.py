"""Texts about tournaments: their tables, their rounds, and how far they are."""

import csv
import html
import io
from collections.abc import Mapping, Sequence
from typing import Any

from pbm import texts
from pbm.blocks import Block, Content, NextCommand, Paragraph, Preformatted, Rule, Table, text_of
from pbm.board import growing
from pbm.letters.headings import heading
from pbm.letters.letter import Letter, plain_letter
from pbm.tournaments import tables
from pbm.tournaments.kinds import NOBODY, WORTH, Pair, Progress, Tournament, meetings_of
from pbm.tournaments.tables import BOARD_POINTS, Rows, Standing

REPEATED = "No", "Player", "Team"
"""The columns that stand in each part of a table that is too wide for a line."""
FORMATS = "text", "markdown", "csv", "json", "html"


class TournamentTable(Progress):
    """A tournament, and how it is shown."""

    __slots__ = ()

    @property
    def title(self) -> str:
        """The tournament's name at the beginning of a sentence, such as ``Pool s of Symple``."""
        return f"Pool {self.tournament.pool} of {self.tournament.game.capitalize()}"

    @property
    def order(self) -> list[str]:
        """The tie-breaks between equal points, such as ``["sb", "wins"]``; empty if the kind has its own order."""
        return [] if self.tournament.kind.explained else self.tournament.tie_breaks.split(",")

    @property
    def lines(self) -> Sequence[Standing]:
        """The table, by points or by what decides instead of them."""
        names = list(self.by_name)
        for meeting in self.meetings:  # also of players on boards that were named one by one
            names += [name for name in meeting.pair if name != NOBODY]
        lines = tables.places_of(names, self.meetings, self.tournament.tie_breaks.split(","))
        places = self.tournament.kind.places(self)
        if places is None:
            return lines
        behind_all = len(places) + 1
        placed = [line._replace(place=places.get(line.name, behind_all)) for line in lines]
        return sorted(placed, key=lambda line: line.place)

    @property
    def teams(self) -> list[Standing]:
        """The table of teams; nothing if there are none."""
        if not self.has_teams:
            return []
        return tables.team_standings(self.entrants, self.meetings)

    def rows(self, *, fits: bool, is_spreadsheet: bool = False) -> Rows:
        """The table with all results; for *fits*, columns are numbered where names would be too wide.

        In a spreadsheet, the results of a team stand in the lines of its players.
        """
        lines = self.lines
        has_rounds = self.tournament.kind.has_rounds
        places = tables.of_places(lines, self.order)
        if self.has_teams:
            teams = self.teams if is_spreadsheet else []
            for place, team in zip(places, tables.of_members(lines, self.team_of, teams), strict=True):
                place[2:2] = team  # behind the name
        if has_rounds:
            results = tables.of_rounds(lines, self.meetings, is_spreadsheet=is_spreadsheet)
        else:
            results = tables.of_results(lines, self.meetings, is_spreadsheet=is_spreadsheet)
        rows = [place + cells for place, cells in zip(places, results, strict=True)]
        if has_rounds:  # their cells name opponents by number
            return _numbered(rows)
        if not fits or max(map(len, texts.table(rows).split("\n"))) <= texts.WIDTH:
            return rows
        rows[0] = places[0] + [str(number) for number, _ in enumerate(lines, 1)]
        return _numbered(rows)

    @property
    def heading(self) -> str:
        """How far it is, such as ``Pool s of Symple, round 1 of 3, 0 of 2 games played``."""
        tournament = self.tournament
        if tournament.state == "open":
            return f"{self.title}, open: {texts.counted(len(self.entrants), 'player')}"
        text = self.title
        if tournament.kind.has_rounds:
            text += f", round {present_round(tournament)}"
            if not tournament.is_on:
                text += f", {tournament.state}"
        games = [meeting for meeting in self.meetings if not meeting.is_bye]
        over = len(games) - len(self.running)
        return f"{text}, {over} of {texts.counted(len(games), 'game')} played"

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
            row = line.as_data("userid", ["sb"] + self.tournament.tie_breaks.split(","))
            row |= self._results_data(line.name)
            if line.name in team_of:
                row["team"] = team_of[line.name]
            rows.append(row)
        data = {
            **self.tournament.place_data,
            "table": rows,
            "order": ["points"] + self.order,
        }
        if self.has_teams:
            members = self.team_players
            data["teams"] = [
                team.as_data("team", BOARD_POINTS) | {"players": members[team.name]} for team in self.teams
            ]
        return data

    def _results_data(self, name: str) -> dict[str, Any]:
        """What a player has reached, for programs: the points of each game by opponent, the time used, and byes."""
        results: dict[str, list[float | None]] = {}
        used: list[float] = []
        byes = 0
        for meeting in meetings_of(name, self.meetings):
            used_by_first, used_by_second = meeting.used
            own_used = used_by_first if name == meeting.first else used_by_second
            used.append(max(0.0, own_used))  # less than none if days were given
            if meeting.is_bye:
                byes += 1
                continue
            outcome = meeting.outcome_of(name)
            reached = None if outcome is None else WORTH[outcome]
            results.setdefault(meeting.opponent(name), []).append(reached)
        data: dict[str, Any] = {"results": results, "used_seconds": round(sum(used), 3)}
        if byes:
            data["byes"] = byes
        return data

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
        if not self.has_teams:
            return [self.rows(fits=fits)]
        return [tables.of_places(self.teams, BOARD_POINTS, "Team"), self.rows(fits=fits)]

    @property
    def blocks(self) -> list[Block]:
        """The table for letters."""
        blocks: list[Block] = [Paragraph(self.heading)]
        blocks += [Table(rows, repeated=REPEATED) for rows in self.tables(fits=True)]
        blocks.append(Paragraph(texts.wrapped_turns(self.legend)))
        return blocks

    def text(self, form: str = "text") -> str:
        """The table in one of FORMATS but JSON."""
        if form == "text":
            return text_of(self.blocks)
        if form == "csv":
            return comma_separated(self.rows(fits=False, is_spreadsheet=True))
        if form == "markdown":
            parts = [f"**{self.heading}**"]
            parts += [marked_down(rows) for rows in self.tables(fits=False)]
            parts.append(self.legend)
            return "\n\n".join(parts)
        parts = [f"<p>{html.escape(self.heading)}</p>"]
        parts += [hypertext(rows) for rows in self.tables(fits=False)]
        parts.append(f"<p>{html.escape(self.legend)}</p>")
        return "\n".join(parts)


def _numbered(rows: Rows) -> Rows:
    """A table with a number in front of each line."""
    headings, *lines = rows
    numbered = [["No", *headings]]
    for number, line in enumerate(lines, 1):
        numbered.append([str(number), *line])
    return numbered


def present_round(tournament: Tournament) -> str:
    """Which round is played, such as ``2 of 5``."""
    if tournament.rounds:
        return f"{tournament.round} of {tournament.rounds}"
    return str(tournament.round)


def comma_separated(rows: Sequence[Sequence[str]]) -> str:
    """A table for spreadsheets, with headings as programs call them."""
    keys = {tie_break.heading: tie_break.key for tie_break in tables.TIE_BREAKS.values() if tie_break.heading}
    keys["Player"] = "userid"
    headings, *lines = rows
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow([keys.get(cell, cell.lower().replace(" ", "_")) for cell in headings])
    writer.writerows(lines)
    return out.getvalue().rstrip("\n")


def marked_down(rows: Rows) -> str:
    """A table in Markdown."""
    headings, *lines = rows
    marked = []
    for cells in [headings, ["---"] * len(headings), *lines]:
        text = " | ".join(cell.replace("|", "") for cell in cells)
        marked.append(f"| {text} |")
    return "\n".join(marked)


def hypertext(rows: Sequence[Sequence[str]]) -> str:
    """A table in HTML, which scrolls by itself where it is wider than the screen."""
    headings, *lines = rows
    parts = ['<div style="overflow-x: auto">', "<table>", _hypertext_row(headings, "th")]
    parts += [_hypertext_row(cells, "td") for cells in lines]
    parts += ["</table>", "</div>"]
    return "\n".join(parts)


def _hypertext_row(cells: Sequence[str], tag: str) -> str:
    """A row of a table in HTML, in which each cell is a *tag*, ``th`` or ``td``."""
    text = "".join(f"<{tag}>{html.escape(cell)}</{tag}>" for cell in cells)
    return f"<tr>{text}</tr>"


# What players, and the director, are told


def status_of_tournament(progress: TournamentTable) -> dict[str, Any]:
    """How far a tournament is, for programs."""
    tournament = progress.tournament
    byes = {entrant.name: sorted(entrant.byes) for entrant in progress.entrants if entrant.byes}
    data: dict[str, Any] = {
        **tournament.place_data,
        "type": tournament.kind.name,
        "state": tournament.state,
        "round": tournament.round,
        "rounds": tournament.rounds,
        "director": tournament.director,
        "starts": tournament.starts and tournament.starts.isoformat(),
        "most": tournament.most,
        "players": progress.players,
        "withdrawn": [entrant.name for entrant in progress.entrants if entrant.withdrawn is not None],
        "running": list(progress.running),
    }
    if tournament.clock:
        data["clock"] = tournament.clock
    if tournament.never:
        data["never"] = tournament.apart
    if byes:
        data["byes"] = byes
    if progress.has_teams:
        data["teams"] = progress.team_players
    return data


def described_tournament(progress: TournamentTable) -> list[Block]:
    """How far a tournament is, for people."""
    lines = [_fact(name, text) for name, text in _facts(progress.tournament).items()]
    for team, players in progress.team_players.items():
        lines += texts.lines_of_turns(_fact("Team", f"{team}: {', '.join(players)}"))
    data = status_of_tournament(progress)
    for name in ("players", "withdrawn", "running"):
        if data[name]:
            lines += texts.lines_of_turns(_fact(name.capitalize(), ", ".join(data[name])))
    return [Paragraph(progress.title), Preformatted("\n".join(lines))]


def _facts(tournament: Tournament) -> dict[str, str]:
    """The state and the settings of a tournament, without what is not set."""
    facts = {
        "Type": tournament.kind.title,
        "State": tournament.state,
    }
    if tournament.round:
        facts["Round"] = present_round(tournament)
    if tournament.options:
        facts["Options"] = tournament.options
    if tournament.clock:
        facts["Clock"] = growing.parse(tournament.clock).words
    if tournament.director:
        facts["Director"] = tournament.director
    if tournament.starts and tournament.state == "open":
        facts["Starts"] = f"{tournament.starts:{texts.TIME_FORMAT}}"
    if tournament.most:
        facts["At most"] = texts.counted(tournament.most, "player")
    if tournament.byes:
        facts["Byes"] = f"{texts.counted(tournament.byes, 'bye')} of half a point for a player who asks"
    if tournament.apart:
        facts["Apart"] = ", ".join(" and ".join(group) for group in tournament.apart)
    return facts


def _fact(name: str, text: str) -> str:
    """A line about a tournament, such as ``State      open``."""
    return f"{name:11}{text}"


def of_tournament(
    progress: TournamentTable, subject: str, content: Content, *, answer: str = "", to: str | None = None
) -> Letter:
    """A letter about a tournament, to a user or to the sender of the command.

    *answer* is the command to reply with; by default, the one for the table.
    """
    tournament = progress.tournament
    return plain_letter(
        content,
        subject=f"{tournament.game.capitalize()} tournament {tournament.pool}: {subject}",
        answer=answer or f"{tournament.game} table {tournament.pool}",
        to=to,
        **status_of_tournament(progress),
    )


def of_pairs(progress: TournamentTable, number: int, boards: Mapping[str, Pair], idle: Sequence[str]) -> list[Block]:
    """The pairs of a round: its *boards* with their players, and the *idle* players, who have a bye."""
    tournament = progress.tournament
    blocks: list[Block] = [Paragraph(f"Round {number} of pool {tournament.pool} of {tournament.game.capitalize()}:")]
    if boards:
        blocks.append(Table(progress.board_rows(boards)))
    askers = progress.with_bye(number)
    for name in idle:
        worth = "half a point" if name in askers else "a win"
        blocks.append(Paragraph(f"{name} has a bye, which counts as {worth}."))
    return blocks


def of_new_boards(letters: Sequence[Letter], progress: TournamentTable, number: int) -> Letter:
    """All new boards of a player in one letter, each with the command to answer with."""
    game = progress.tournament.game.capitalize()
    pool = progress.tournament.pool
    count = texts.counted(len(letters), "board")
    blocks: list[Block] = [Paragraph(heading("round", number=number, pool=pool, game=game, boards=count))]
    for letter in letters:
        blocks.append(Rule("="))
        blocks += letter.blocks
        blocks.append(Paragraph(letter.command.text))
    blocks.append(Rule("=", is_end=True))
    first_letter = letters[0]
    return Letter(
        to=first_letter.to,
        subject=f"{game} tournament {pool}: your boards of round {number}",
        blocks=tuple(blocks),
        command=NextCommand(f"{first_letter.game} games {first_letter.to} next"),
        data={},
        point=first_letter.point,
    )
