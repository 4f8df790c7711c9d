"""The laboratory: programs play each other, and matches are judged. Nothing else imports it."""
