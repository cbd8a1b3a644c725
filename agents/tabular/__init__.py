"""Agents that are tables: what solvers find."""
