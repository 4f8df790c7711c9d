"""Robots: programs that choose moves. They know the games and nothing of users, boards' numbers, mail or storage."""
