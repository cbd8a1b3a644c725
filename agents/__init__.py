"""Players of Tonk: rule bots, checkpoints and the protocol that all follow."""

__distribution__ = "tonk"
