"""Mode: a frozen description of who the agent is and what it may do."""

from __future__ import annotations

from dataclasses import dataclass, field

GROUPS = frozenset({
    "read", "edit", "command", "mcp", "browser", "delegate", "message", "memory", "schedule", "media", "manage", "ui",
})
"""Every group that grants tools (``policy.catalogue`` says which)."""


@dataclass(frozen=True, slots=True)
class EditRule:
    """Which files the ``edit`` tools may write.

    ``root == "plans"`` means the session's own plan directory; ``suffix`` is compared without regard to case;
    ``description`` completes "only ...".
    """

    root: str
    suffix: str
    description: str


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
    source: str = "built-in"
    restricted: bool = field(init=False)
    """Whether it denies at least one known tool or limits ``edit``: only then is anything enforced."""

    def __post_init__(self) -> None:
        g = self.grants
        object.__setattr__(self, "restricted", bool(GROUPS - g.groups or g.deny or g.edit_rule))

    @property
    def edits_freely(self) -> bool:
        """Whether ``edit`` is granted for more than plan files."""
        return "edit" in self.grants.groups and (self.grants.edit_rule is None or self.grants.edit_rule.root != "plans")
