"""The `tonk` command: parses, calls, prints."""

__distribution__ = "tonk"
