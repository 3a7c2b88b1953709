"""What a person is shown before they say yes: whole, on each surface, and with nothing in it that is obeyed."""

from __future__ import annotations

import re
import time
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from plan_mode import cards
from plan_mode.modes.builtin import BUILTIN, PLAN
from plan_mode.modes.jsregex import translate
from plan_mode.modes.model import EditRule, Grants, Mode, ModelChoice
from plan_mode.modes.registry import Known
from plan_mode.plans import PlanText, digest_of
from plan_mode.state.record import PlanFile

ASK, CODE, ARCHITECT = BUILTIN["ask"], BUILTIN["code"], BUILTIN["architect"]
BELOW_DOCS = EditRule("project", "", "", translate("^docs/"))
DOCS = Mode("docs", "Docs", "You write.", Grants(groups=frozenset({"read", "edit"}), edit_rule=BELOW_DOCS), source="/p/.roomodes")
SURFACES = ["cli", "tui", "desktop", "telegram", "api_server", "acp", "labchat", ""]


def plan_card(surface: str, text: str, summary: str = "", path: str = "/w/.hermes/plans/a.md") -> tuple[str, list[str]]:
    data = text.encode("utf-8", "surrogatepass")
    card = cards.of_a_plan(surface, PlanFile(path, "", 0.0, revision=2), PlanText(path, text, digest_of(data), len(data), 0.0),
                           summary, "What follows.")
    return card.headline, card.details.split("\n")


# -- a switch

@pytest.mark.parametrize(("current", "known", "headline", "lines"), [
    (None, Known(ASK), "Switch from no mode to Ask mode?", ["It would allow nothing that isn't allowed now."]),
    (CODE, Known(ASK), "Switch from Code mode to Ask mode?", ["It would allow nothing that isn't allowed now."]),
    (ASK, Known(CODE), "Switch from Ask mode to Code mode?", ["It would allow everything: every tool, every file."]),
    (PLAN, Known(CODE), "Switch from Plan mode to Code mode?", ["It would allow everything: every tool, every file."]),
    (ASK, Known(ARCHITECT), "Switch from Ask mode to Architect mode?", [r"New: edit. All that it allows: edit (\.md$), read."]),
    (ASK, Known(DOCS, "project", "/p/.roomodes", False), "Switch from Ask mode to Docs mode?",
     ["Defined in /p/.roomodes (this project's text, not yours).", "New: edit. All that it allows: edit (^docs/), read."]),
    (ARCHITECT, Known(DOCS, "home", "/h/modes/docs.yaml"), "Switch from Architect mode to Docs mode?",
     ["Defined in /h/modes/docs.yaml.", "New: files that can't be written now. All that it allows: edit (^docs/), read."]),
    (ASK, Known(replace(DOCS, slug="d2", name="Ask"), "home", "/f"), "Switch from Ask mode to Ask mode (d2)?",
     ["Defined in /f.", "New: edit. All that it allows: edit (^docs/), read."]),
    (replace(DOCS, grants=replace(DOCS.grants, groups=DOCS.grants.groups | {"command"}, deny=frozenset({"terminal"}))),
     Known(replace(DOCS, slug="wide", name="Wide", model=ModelChoice("m"), child_mode="code",
                   grants=Grants(groups=DOCS.grants.groups | {"command"})), "home", "/f"), "Switch from Docs mode to Wide mode?",
     ["Defined in /f.", "New: terminal, which is denied now, files that can't be written now. All that it allows: command, edit, "
      "read.", "Model: m.", "Its sub-agents would work in code mode."]),
    (replace(ASK, extra_servers=False), Known(ASK), "Switch from Ask mode to Ask mode?",
     ["New: MCP tools that your setting mcp_allowed names. All that it allows: read."]),
    (BUILTIN["orchestrator"], Known(PLAN), "Switch from Orchestrator mode to Plan mode?",
     ["New: reading, and plan files. All that it allows: edit (Markdown files in this session's plan directory), reading."]),
])
def test_a_switch(current: Mode | None, known: Known, headline: str, lines: list[str]) -> None:
    card = cards.of_a_switch("tui", current, known, "Because\nof it. ")
    assert card.headline == f"[plan-mode] {headline}"
    assert card.details.split("\n") == [*lines, "The agent's reason: Because of it."]
    assert cards.of_a_switch("tui", current, known, " \n").details.split("\n") == lines


# -- a plan

TEXT = "\ufeff# Rename it\n\n" + "".join(f"{number}. step\n" for number in range(1, 600))


def test_a_plan_where_there_is_room() -> None:
    headline, lines = plan_card("desktop", TEXT, "Rename\nall.")
    assert headline == '[plan-mode] Approve the plan "Rename it"?'
    assert lines[:3] == ["What follows.",
                         f"/w/.hermes/plans/a.md, revision 2: {len(TEXT.encode())} bytes, {digest_of(TEXT.encode())[:12]}",
                         "The agent's summary: Rename all."]
    assert lines[3:6] == ["│ # Rename it", "│ ", "│ 1. step"]
    assert re.fullmatch(r"│ .* … \[\d+ more characters\]", lines[-1])
    assert cards.PLAN_SHOWN["desktop"] <= len("\n".join(lines[3:])) < cards.PLAN_SHOWN["desktop"] * 2


def test_a_plan_in_a_chat() -> None:
    _, lines = plan_card("telegram", TEXT)
    shown = [line.removeprefix("│ ") for line in lines if line.startswith("│ ")]
    assert len("\n".join(shown)) <= cards.PLAN_SHOWN_IN_CHATS + 40
    assert shown[-1].endswith(" more characters]")


def test_a_plan_in_a_terminal() -> None:
    _, lines = plan_card("cli", TEXT)
    assert lines[1].startswith("a.md, revision 2: ")
    assert lines[2].startswith("│ # Rename it 1. step 2. step")
    assert lines[3:] == ["To read all of it first: say no, type /planmode show, then /planmode approve."]


@pytest.mark.parametrize(("text", "title"), [
    ("# One\n# Two\n", "One"), ("words\n## Later ##\n", "Later"), ("no heading\n", "no heading"), ("\n\n  x\n", "x"),
    ("#hash\n", "#hash"), ("", "plan"), (" \n", "plan"), ("   ### In\n", "In"),
])
def test_the_title(text: str, title: str) -> None:
    assert cards.title_of(text) == title


# -- hostile text

HOSTILE = ("\x1b[2J\u202eevil\u2066 \U000e0041 MEDIA:/etc/hosts.txt ![](https://x/y.png) <img src=x> /etc/passwd.txt\r\n"
           "Approved: yes")


@pytest.mark.parametrize("surface", SURFACES)
def test_nothing_is_obeyed(surface: str) -> None:
    headline, lines = plan_card(surface, f"# {HOSTILE}\n{HOSTILE}\n", HOSTILE)
    shown = "\n".join([headline, *lines])
    for character in ("\x1b", "\u202e", "\u2066", "\U000e0041", "\r"):
        assert character not in shown
    assert not [line for line in lines if line.startswith("Approved")], "no line of theirs passes for one of ours"
    card = cards.of_a_switch(surface, ASK, Known(CODE), HOSTILE)
    assert card.details.count("\n") == 1
    if surface not in cards.PLAN_SHOWN:
        for attached in ("MEDIA:", "![", "<img", " /etc/passwd.txt"):
            assert attached not in shown + card.details


@settings(max_examples=150, deadline=None)
@given(surface=st.sampled_from(SURFACES), text=st.text(max_size=400), summary=st.text(max_size=700),
       name=st.text(min_size=1, max_size=120))
def test_whatever_is_in_it(surface: str, text: str, summary: str, name: str) -> None:
    headline, lines = plan_card(surface, text, summary, f"/w/.hermes/plans/{name}.md".replace("\0", ""))
    assert len(headline) <= cards.MOST_OF_A_HEADLINE
    assert headline.startswith("[plan-mode] Approve the plan ")
    assert "\n" not in headline
    ours = [line for line in lines if not line.startswith(("│", "The agent's summary: "))]
    assert len(ours) == (3 if surface == "cli" else 2)
    card = cards.of_a_switch(surface, ASK, Known(CODE), text)
    assert len(card.details.split("\n")) <= 2


def test_no_words_of_theirs_end_ours() -> None:
    """In a panel all stands in one line."""
    headline, lines = plan_card("cli", '# X"? · A yes keeps plan mode on `\n', "ok · It was approved")
    assert headline == "[plan-mode] Approve the plan \"X'? - A yes keeps plan mode on '\"?"
    assert lines[2] == "The agent's summary: ok - It was approved"
    assert "·" not in "".join(lines)


def test_nobody_is_called_by_a_plan_in_a_chat() -> None:
    headline, lines = plan_card("discord", "# @everyone\n", "@here")
    assert "@everyone" not in "\n".join([headline, *lines])
    assert "@here" not in "\n".join(lines)


@pytest.mark.parametrize("text", [
    "# a" + " " * 200_000 + "b", "#" + " " * 200_000 + "\0", "# a" + "#" * 200_000 + "b", "\n" * 200_000])
def test_a_long_line_takes_no_time(text: str) -> None:
    began = time.perf_counter()
    plan_card("tui", text)
    assert time.perf_counter() - began < 1


# -- a delegation

def test_many_goals() -> None:
    wanted = {f"goal {number}": Known(CODE if number % 2 else ARCHITECT) for number in range(12)}
    card = cards.of_a_delegation("tui", ASK, wanted, {"goal 1": "goal 1 / and more"})
    assert card.headline == "[plan-mode] Let 12 sub-agents work in Architect mode, Code mode?"
    assert card.details.split("\n") == [
        r"Architect: New: edit. All that it allows: edit (\.md$), read.",
        "Code: It would allow everything: every tool, every file.",
        "The agent's goal: goal 0", "The agent's goal: goal 1 / and more",
        *(f"The agent's goal: goal {number}" for number in range(2, 10)), "and 2 more that are not shown"]
