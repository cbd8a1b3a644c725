"""How exploitable an agent is: the best response to it, or a good one where the best is out of reach."""
