"""For mypy alone: every game of ours fits the protocol."""

from games import Game, papagra, spiro, spora, sprout, symple

PAPAGRA: Game[papagra.State] = papagra
SPIRO: Game[spiro.State] = spiro
SPORA: Game[spora.State] = spora
SPROUT: Game[sprout.State] = sprout
SYMPLE: Game[symple.State] = symple
