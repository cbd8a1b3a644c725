"""`python -m tonk_cli` is the `tonk` command."""

from tonk_cli.main import main

main()
