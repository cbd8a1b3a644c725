"""What is said, in one line, of options that are not valid."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from typing import Any, get_args

from pydantic import BaseModel, ValidationError

_IN_A_FILE = {
    "dict_type": "Input should be a table",
    "model_type": "Input should be a table",
    "tuple_type": "Input should be a list",
}


def one_line(error: ValidationError, model: type[BaseModel]) -> str:
    """Returns what to say of options that are not valid: the first that is wrong, and what is allowed.

    Args:
        error: what pydantic found.
        model: the options.
    """
    found = error.errors()
    # Of an option with several kinds of value, what is said of the kind that was meant goes deepest.
    first = max(
        (each for each in found if each["loc"][:2] == found[0]["loc"][:2]), key=lambda e: len(e["loc"])
    )
    where, value = _place(first["loc"]), first["input"]
    if first["type"] == "extra_forbidden":
        names = _names_at(model, first["loc"])
        close = difflib.get_close_matches(str(first["loc"][-1]), names, n=1)
        hint = f" (did you mean {close[0]}?)" if close else ""
        return f"{where}: no such option{hint}" + (f"; there are {', '.join(names)}" if names else "")
    if first["type"] == "value_error" and isinstance(value, Mapping | BaseModel):
        message = str(first["ctx"]["error"])  # of a section: it begins with the option's name
        return f"{where}.{message}" if where else message
    messages = {
        _IN_A_FILE.get(each["type"], each["msg"]): None
        for each in found
        if len(each["loc"]) == len(first["loc"]) and _place(each["loc"]) == where
    }
    given = "" if isinstance(value, Mapping | list | tuple) else f" = {value!r}"
    return f"{where}{given}: {'; or '.join(messages).replace('Value error, ', '')}"


def _place(path: tuple[int | str, ...]) -> str:
    """Names an option as a file does; what stands for a branch of a union is left out."""
    place = ""
    for part in path:
        if isinstance(part, int):
            place += f"[{part}]"
        elif "[" not in part and not part.startswith(("constrained-", "function-")):
            place += f".{part}"
    return place.removeprefix(".")


def _names_at(model: Any, path: tuple[int | str, ...]) -> list[str]:
    """The options of a model that exist beside the one at `path`; none where that is no model's."""
    for part in path[:-1]:
        if isinstance(part, int):
            model = next(iter(get_args(model)), None)
        else:
            field = getattr(model, "model_fields", {}).get(part)
            model = field and field.annotation
    return list(getattr(model, "model_fields", []))
