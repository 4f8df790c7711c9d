"""For mypy alone, as ``game: Game[State] = module`` is an error where it does not: our games fit the protocol."""

from games import Game, papagra, spiro, spora, sprout, symple

PAPAGRA: Game[papagra.State] = papagra
SPIRO: Game[spiro.State] = spiro
SPORA: Game[spora.State] = spora
SPROUT: Game[sprout.State] = sprout
SYMPLE: Game[symple.State] = symple
