"""The service: what runs for as long as the server does, and the commands that start it."""
