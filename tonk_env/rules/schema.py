"""The JSON schema of a preset file, for editors that check TOML while it is written."""

from __future__ import annotations

from typing import Any

from tonk_env.rules.spec import CAUGHT_TABLES, NONE, Rules

_ABOUT = {
    "base": "The preset, or the path of a file, that this one differs from; left out: the defaults.",
    "summary": "One sentence for lists.",
    "source": "Where the variant is described.",
}


def preset_schema() -> dict[str, Any]:
    """Returns the JSON schema (draft 2020-12) of a preset file: every option, base, summary, source."""
    schema: dict[str, Any] = _as_written(Rules.model_json_schema())
    caught = schema["$defs"]["Drop"]["properties"]["caught"]
    table = caught.pop("$ref")
    caught.pop("default")
    caught["anyOf"] = [{"enum": list(CAUGHT_TABLES)}, {"$ref": table}]
    about = {name: {"type": "string", "description": text} for name, text in _ABOUT.items()}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        **schema,
        "title": "Tonk rules",
        "description": "A preset: its base, and the options that differ from it.",
        "properties": {**about, **schema["properties"]},
    }


def _as_written(part: Any) -> Any:
    """Puts what a file writes, the text ``none``, in the place of null, which TOML does not have."""
    if isinstance(part, dict):
        if part.get("type") == "null":
            return {"const": NONE}
        written = {name: _as_written(each) for name, each in part.items()}
        if "default" in written and written["default"] is None:
            written["default"] = NONE
        return written
    return [_as_written(each) for each in part] if isinstance(part, list) else part
