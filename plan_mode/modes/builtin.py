"""The built-in modes, and the read-only fallback that no one can choose."""

from __future__ import annotations

from types import MappingProxyType
from typing import Final

from .model import GROUPS, EditRule, Grants, Mode

READING: Final = frozenset({
    "read_file", "search_files", "web_search", "web_extract", "skills_list", "skill_view", "session_search",
    "vision_analyze", "video_analyze", "browser_snapshot", "browser_get_images", "browser_vision",
    "read_terminal", "read_window_below",
})
"""Tools that look and change nothing (``skill_view`` has a rule of its own)."""

PLAN: Final = Mode(
    slug="plan",
    name="Plan",
    description="Read, think and write plan files; nothing else until a person approves the plan.",
    when_to_use="Before work whose shape should be agreed first.",
    role_definition=(
        "You are planning, not doing. Explore the code and the question until you understand them, ask the person "
        "what only they can decide, and write a plan that somebody else could carry out: the goal, what you found, "
        "the steps with the files they touch, how each will be checked, and what could go wrong."
    ),
    grants=Grants(
        groups=frozenset({"edit"}),
        allow=READING,
        edit_rule=EditRule("plans", ".md", "Markdown files in this session's plan directory"),
    ),
    extra_tools=True,
)

CODE: Final = Mode(
    slug="code",
    name="Code",
    description="Everything is allowed.",
    when_to_use="To write, change and run code.",
    role_definition=(
        "You are implementing. Make the change that was asked for, in the style of the code around it, run what "
        "checks it, and say plainly what you did and what you left alone."
    ),
    grants=Grants(groups=GROUPS),
)

READ_ONLY: Final = Mode(
    slug="read-only",
    name="Read-only",
    description="What is left when the session's own mode can't be relied on.",
    role_definition="Only reading is possible until the person has put the session's mode in order.",
    grants=Grants(allow=READING),
    source="fallback",
)

BUILTIN: Final = MappingProxyType({mode.slug: mode for mode in (PLAN, CODE)})
