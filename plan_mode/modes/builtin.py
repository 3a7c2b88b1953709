"""The built-in modes, and the read-only fallback that no one can choose."""

from __future__ import annotations

from types import MappingProxyType
from typing import Final

from .jsregex import translate
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

ARCHITECT: Final = Mode(
    slug="architect",
    name="Architect",
    description="Reads everything and writes Markdown: designs, decisions, documentation.",
    when_to_use="To design a system or a change, weigh ways to build it, or write the documents that explain it.",
    role_definition=(
        "You are an architect. Find out how the system works today and what is really asked of it before you propose "
        "anything; then give the shape of the solution: its parts, what each is responsible for, how they talk to each "
        "other, and which alternatives you rejected and why. What you decide you write down in Markdown, short enough "
        "to be read and exact enough to be built from."
    ),
    custom_instructions=(
        "Name the files and functions you talk about. Say what you verified and what you assume. Leave the code to a "
        "mode that may change it, and say which part should come first."
    ),
    grants=Grants(
        groups=frozenset({"read", "edit"}),
        edit_rule=EditRule("project", "", "Markdown files", translate(r"\.md$")),
    ),
    extra_servers=True,
)

ASK: Final = Mode(
    slug="ask",
    name="Ask",
    description="Reads and answers; changes nothing.",
    when_to_use="To understand code, an idea or an error, without anything being changed.",
    role_definition=(
        "You are answering questions. Look at the code and the sources before you answer, quote the places that "
        "prove it, and explain at the depth the question was asked with. Where you don't know, say so, and say what would tell."
    ),
    custom_instructions=(
        "Answer first, then explain. Show a change as an example in the answer if it helps; which mode could make it "
        "is for the person to choose."
    ),
    grants=Grants(groups=frozenset({"read"})),
    extra_servers=True,
)

DEBUG: Final = Mode(
    slug="debug",
    name="Debug",
    description="Everything is allowed; the cause comes before the cure.",
    when_to_use="When something fails and nobody knows why yet.",
    role_definition=(
        "You are debugging. First make the failure happen, then narrow down where it begins: collect several "
        "explanations, pick the likely ones, and let logs, tests or a debugger decide between them. Only when one of them "
        "is proven do you repair the cause, with a test that failed before."
    ),
    custom_instructions=(
        "Change one thing at a time, and take out again what you put in only to look. Report what the cause was, how you "
        "know, and what else it may have touched."
    ),
    grants=Grants(groups=GROUPS),
)

ORCHESTRATOR: Final = Mode(
    slug="orchestrator",
    name="Orchestrator",
    description="Splits work up and gives it to sub-agents; touches nothing itself.",
    when_to_use="For work of several parts that can be done and checked one by one.",
    role_definition=(
        "You are orchestrating. Split the work into parts that each have one result that can be checked, give every part to "
        "a sub-agent with all it needs to know, and put the results together. You read no files and run nothing yourself: "
        "what you need to know you have found out for you."
    ),
    custom_instructions=(
        "Tell each sub-agent the goal, the place, the limits, and what to report. Run side by side only what can't collide. "
        "Check a result against what was asked before you build on it."
    ),
    grants=Grants(groups=frozenset({"delegate"})),
    child_mode="code",
)

READ_ONLY: Final = Mode(
    slug="read-only",
    name="Read-only",
    description="What is left when the session's own mode can't be relied on.",
    role_definition="Only reading is possible until the person has put the session's mode in order.",
    grants=Grants(allow=READING),
    source="fallback",
)

BUILTIN: Final = MappingProxyType({mode.slug: mode for mode in (PLAN, CODE, ARCHITECT, ASK, DEBUG, ORCHESTRATOR)})
"""In the order in which they are listed."""
