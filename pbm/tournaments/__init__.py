"""Tournaments: rules for pairing, and tables. They take and return names and results, and know no storage or mail."""

from collections.abc import Mapping

from pbm.tournaments.arena import Arena
from pbm.tournaments.kinds import Kind
from pbm.tournaments.knockout import Knockout
from pbm.tournaments.ladder import Ladder
from pbm.tournaments.roundrobin import Pairs, RoundRobin
from pbm.tournaments.swiss import Swiss

TOURNAMENT_KINDS: Mapping[str, Kind] = {
    kind.name: kind for kind in (RoundRobin(), Pairs(), Swiss(), Knockout(), Ladder(), Arena())
}
"""The kinds of tournaments by name, in the order of lists for people."""
