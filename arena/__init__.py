"""Arena: duplicate deals between agents, and what they show."""

__distribution__ = "tonk"
