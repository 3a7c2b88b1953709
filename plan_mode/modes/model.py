"""Mode: a frozen description of who the agent is and what it may do."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Final

from ..text import one_line
from .jsregex import Pattern

GROUPS: Final = frozenset({
    "read", "edit", "command", "mcp", "browser", "delegate", "message", "memory", "schedule", "media", "manage", "ui",
})
"""Every group that grants tools (``policy.catalogue`` says which)."""


MOST_OF_A_NAME: Final = 60

INHERIT: Final = "inherit"
"""The child mode of a mode whose sub-agents work in it as well."""

WORDS: Final = frozenset({"off", "info", "check", "model", "trust", "export", "import", "use", "reload", "help"})
"""What ``/mode`` takes for words of its own: a mode of such a slug is chosen by ``/mode use``."""


@dataclass(frozen=True, slots=True)
class EditRule:
    """Which files the ``edit`` tools may write.

    ``root == "plans"``: those below the session's own plan directory whose name ends in ``suffix``, whatever its case;
    ``description`` completes "only ...". ``root == "project"``: those whose path from the project root ``pattern`` is found
    in; ``description`` is the author's own, or "".
    """

    root: str
    suffix: str
    description: str
    pattern: Pattern | None = None


@dataclass(frozen=True, slots=True)
class ModelChoice:
    """The model a mode asks for; without ``provider`` the session's own."""

    model: str
    provider: str = ""


@dataclass(frozen=True, slots=True)
class Grants:
    """What a mode lets the agent use: whole groups, single tools, an edit rule; ``deny`` beats all of them."""

    groups: frozenset[str] = frozenset()
    allow: frozenset[str] = frozenset()
    deny: frozenset[str] = frozenset()
    edit_rule: EditRule | None = None


@dataclass(frozen=True, slots=True)
class Mode:
    """One mode. ``source`` says where the definition came from."""

    slug: str
    name: str
    role_definition: str
    grants: Grants
    description: str = ""
    when_to_use: str = ""
    custom_instructions: str = ""
    extra_tools: bool = False
    """Whether the operator's ``extra_allowed_tools`` count in this mode."""
    extra_servers: bool = False
    """Whether the operator's ``mcp_allowed`` counts in this mode."""
    model: ModelChoice | None = None
    child_mode: str = ""
    """Slug of the mode that sub-agents work in, or ``INHERIT``; "" says nothing about it."""
    source: str = "built-in"
    restricted: bool = field(init=False)
    """Whether it denies at least one known tool or limits ``edit``: only then is anything enforced."""

    def __post_init__(self) -> None:
        g = self.grants
        object.__setattr__(self, "restricted", bool(GROUPS - g.groups or g.deny or g.edit_rule))

    @property
    def title(self) -> str:
        """Its name as it is shown: one line, and bounded."""
        return one_line(self.name, MOST_OF_A_NAME)

    @property
    def edits_freely(self) -> bool:
        """Whether ``edit`` is granted for more than plan files."""
        return "edit" in self.grants.groups and (self.grants.edit_rule is None or self.grants.edit_rule.root != "plans")


def widens(a: Mode, b: Mode) -> bool:
    """Whether ``b`` allows anything that ``a`` doesn't, or can't be shown not to. Slug and source don't matter.

    False is a promise: the same texts, model and child mode, and every call that ``b`` allows ``a`` allows too. So another
    text, model or child mode always widens, even where less is granted. See ``grants_more`` for the tools and files alone.
    """
    return _persona(a) != _persona(b) or grants_more(a, b)


def grants_more(a: Mode, b: Mode) -> bool:
    """Whether ``b`` grants a tool or a file that ``a`` doesn't, or can't be shown not to.

    Which tools a group holds isn't known here. So a single tool is granted by ``a`` only if it stands in its own ``allow``,
    or if ``a`` isn't restricted at all; what ``a`` denies ``b`` must deny too; and rules for files are compared as text.
    """
    if not a.restricted or not b.restricted:
        return a.restricted
    mine, theirs = a.grants, b.grants
    return bool(
        (theirs.groups - mine.groups) & GROUPS
        or (theirs.allow - theirs.deny) - (mine.allow - mine.deny)
        or mine.deny - theirs.deny
        or (b.extra_tools and not a.extra_tools)
        or (b.extra_servers and not a.extra_servers)
        or _edits_more(mine, theirs)
    )


def definition_digest(mode: Mode) -> str:
    """SHA-256, in hexadecimal, of everything a mode says and grants; the same for the same definition in any process.

    Does not: cover where the definition came from, or its rules directories.
    """
    grants, rule = mode.grants, mode.grants.edit_rule
    told = {
        "format": 1, "slug": mode.slug, "persona": _persona(mode), "extra": mode.extra_tools,
        "servers": mode.extra_servers,
        "groups": sorted(grants.groups & GROUPS), "allow": sorted(grants.allow), "deny": sorted(grants.deny),
        "edit": None if rule is None else _told(rule),
    }
    return sha256(json.dumps(told, sort_keys=True).encode("ascii")).hexdigest()


def _persona(mode: Mode) -> tuple[str, ...]:
    """What a mode tells and makes of the agent, beside what it grants."""
    chosen, rule = mode.model or ModelChoice(""), mode.grants.edit_rule
    return (mode.name, mode.role_definition, mode.description, mode.when_to_use, mode.custom_instructions,
            "" if rule is None else rule.description, chosen.model, chosen.provider, mode.child_mode)


def _edits_more(mine: Grants, theirs: Grants) -> bool:
    if mine.edit_rule is None or not (theirs.allow or "edit" in theirs.groups):
        return False  # nothing limits the files of ``mine``, or nothing of ``theirs`` writes any
    return theirs.edit_rule is None or _told(theirs.edit_rule) != _told(mine.edit_rule)


def _told(rule: EditRule) -> tuple[str, str, str]:
    """What a rule for files says, without its description."""
    return rule.root, rule.suffix, "" if rule.pattern is None else rule.pattern.source
