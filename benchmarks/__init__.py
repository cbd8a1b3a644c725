"""Longer measurements than tests allow, and what ours are measured beside."""
