"""The base of every error that a user can cause."""

from __future__ import annotations


class TonkError(ValueError):
    """Something given by the user is wrong; the message is one line that says what and what is allowed."""
