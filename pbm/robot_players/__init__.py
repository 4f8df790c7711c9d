"""Robots as players of the server: their userids, their moves on boards, and programs that play for somebody."""
