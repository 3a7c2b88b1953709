"""A mode in the words of a mode file again: what is exported is what is read."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ..errors import Refusal, YamlError, YamlMissing
from ..text import one_line
from . import rulesfiles, yaml12
from .builtin import PLAN
from .model import EditRule, Mode
from .rules import Rule
from .yamlwriter import written

MOST_OF_A_GRANT = 600
"""Characters: a pattern has 512 at most."""


def exported(mode: Mode, rules: Iterable[Rule] = ()) -> str:
    """The text of a file that holds one mode and its rules, as an import and Roo Code read it.

    Raises Refusal for what no file can say: a rule for plan files, text that would be too long or can't be written.
    """
    rule = mode.grants.edit_rule
    if rule is not None and rule.root == "plans":
        raise Refusal("not-exportable", f"{mode.name} mode can't be exported: no file can say that it writes plans only.",
                      "It is there wherever plan-mode is.")
    carried = rulesfiles.to_data(mode.slug, rules)
    data = {"customModes": [{**to_data(mode), **({"rulesFiles": carried} if carried else {})}]}
    text = written(data)
    try:
        reads_back = yaml12.read(text).data == data
    except YamlMissing:
        return text
    except YamlError as exc:
        raise Refusal("not-exportable",
                      f"{mode.slug} can't be exported, because its file couldn't be read: {exc.reason}.") from exc
    assert reads_back, f"the export of {mode.slug} says something else"
    return text


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


def granted(mode: Mode) -> str:
    """What a mode grants, in the words of a mode file."""
    grants, rule = mode.grants, mode.grants.edit_rule
    limit = "" if rule is None else f" ({rule.description})" if rule.pattern is None else f" ({rule.pattern.source})"
    parts = [f"edit{limit}" if group == "edit" else group for group in sorted(grants.groups)]
    parts += sorted(grants.allow) if mode.source != "built-in" or mode.slug != PLAN.slug else ["reading"]
    parts += [f"not {name}" for name in sorted(grants.deny)]
    return ", ".join(one_line(part, MOST_OF_A_GRANT) for part in parts) or "nothing but asking, the todo list and finding tools"


def _group(name: str, rule: EditRule | None) -> Any:
    if name != "edit" or rule is None or rule.pattern is None:
        return name
    options = {"fileRegex": rule.pattern.source, **({"description": rule.description} if rule.description else {})}
    return [name, options]
