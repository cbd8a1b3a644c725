"""Training: self-play and the configs that drive it."""

__distribution__ = "tonk"
