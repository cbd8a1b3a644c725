"""Counterfactual regret minimisation, and how far an agent is from equilibrium."""
