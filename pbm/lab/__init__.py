"""The laboratory: programs play each other, games are analysed, and matches are judged. Nothing else imports it."""
