"""Agents that look their strategy up in a table."""
