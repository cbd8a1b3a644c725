"""A tournament as one page of HTML that needs nothing else: no script, no font, no file beside it."""

from __future__ import annotations

from arena.page.document import FILE_NAME, command_of, page, write_page

__all__ = ["FILE_NAME", "command_of", "page", "write_page"]
