"""Counterfactual regret minimisation."""
