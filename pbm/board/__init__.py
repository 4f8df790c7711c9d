"""A board replayed from its turns, its clocks, its dice, and what it does to ratings."""
