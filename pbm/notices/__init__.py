"""Sending notices: to webhooks by the standard library, and to other targets by Apprise."""
