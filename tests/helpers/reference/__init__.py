"""The rules of each game, plans, and the server once more: slow, plain, and written without a look at what they check.

``from helpers.reference.spora import Reference`` plays Spora by the rulebook alone, without `games.spora`.
"""
