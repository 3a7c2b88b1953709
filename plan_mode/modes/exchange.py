"""A mode as plain data again, in the words of a mode file: what is exported is what is read."""

from __future__ import annotations

from typing import Any

from .model import EditRule, Mode


def to_data(mode: Mode) -> dict[str, Any]:
    """The fields of a mode as a mode file has them; reading them back gives an equal mode.

    Does not: take modes whose edit rule is the plan directory; no file can say that.
    """
    grants = mode.grants
    given: dict[str, Any] = {
        "slug": mode.slug, "name": mode.name, "roleDefinition": mode.role_definition, "description": mode.description,
        "whenToUse": mode.when_to_use, "customInstructions": mode.custom_instructions,
        "groups": [_group(name, grants.edit_rule) for name in sorted(grants.groups)],
        "tools": {key: sorted(names) for key, names in (("allow", grants.allow), ("deny", grants.deny)) if names},
        "model": {"model": mode.model.model, **({"provider": mode.model.provider} if mode.model.provider else {})}
        if mode.model else None,
        "childMode": mode.child_mode,
    }
    needed = ("slug", "name", "roleDefinition", "groups")
    return {key: value for key, value in given.items() if value or key in needed}


def _group(name: str, rule: EditRule | None) -> Any:
    if name != "edit" or rule is None or rule.pattern is None:
        return name
    options = {"fileRegex": rule.pattern.source, **({"description": rule.description} if rule.description else {})}
    return [name, options]
