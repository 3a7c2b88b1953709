"""The one table of tools: every row is well formed, and the tools people ask about stand where they belong."""

from __future__ import annotations

from dataclasses import FrozenInstanceError
from typing import Any

import pytest

from plan_mode.modes.builtin import READING
from plan_mode.modes.model import GROUPS
from plan_mode.policy import catalogue
from plan_mode.policy.catalogue import ALIASES, ALWAYS, CATALOGUE, EDITORS, Tool, canonical


def test_no_tool_stands_in_two_rows() -> None:
    names = [name for _, _, named in catalogue._ROWS for name in named.split()]
    assert sorted(names) == sorted(CATALOGUE)


@pytest.mark.parametrize("row", CATALOGUE.values(), ids=lambda row: row.name)
def test_each_row_is_whole(row: Tool) -> None:
    assert row.group in GROUPS | {ALWAYS}
    assert row.toolsets
    assert CATALOGUE[row.name] is row


@pytest.mark.parametrize("group", sorted(GROUPS - {"mcp"}))
def test_each_group_has_tools(group: str) -> None:
    assert any(row.group == group for row in CATALOGUE.values())


def test_mcp_tools_are_never_known_by_name() -> None:
    assert not [name for name, row in CATALOGUE.items() if row.group == "mcp" or name.startswith(("mcp_", "connectors__"))]


@pytest.mark.parametrize(("name", "group"), [
    ("read_file", "read"), ("search_files", "read"), ("web_extract", "read"), ("read_terminal", "read"),
    ("browser_snapshot", "read"), ("skill_view", "read"), ("session_search", "read"),
    ("write_file", "edit"), ("patch", "edit"),
    ("todo_list", ALWAYS), ("clarify", ALWAYS), ("tool_search", ALWAYS), ("tool_describe", ALWAYS), ("tool_call", ALWAYS),
    # What looks like reading and isn't.
    ("terminal", "command"), ("process_manage", "command"), ("execute_code", "command"), ("browser_console", "command"),
    ("browser_cdp", "command"), ("computer_use", "command"), ("browser_navigate", "browser"), ("drive_preview", "browser"),
    ("memory", "memory"), ("text_to_speech", "media"), ("image_generate", "media"), ("kanban_show", "schedule"),
    ("cronjob_manage", "schedule"), ("delegate_task", "delegate"), ("discord", "message"), ("skill_manage", "manage"),
    ("project_switch", "manage"), ("close_terminal", "ui"),
])
def test_group_of(name: str, group: str) -> None:
    assert CATALOGUE[name].group == group


@pytest.mark.parametrize("name", sorted(READING))
def test_what_plan_mode_reads_with_is_in_the_group_read(name: str) -> None:
    assert CATALOGUE[name].group == "read"


def test_the_editors_are_two() -> None:
    assert sorted(EDITORS) == ["patch", "write_file"]


@pytest.mark.parametrize(("name", "arguments"), [
    ("write_file", ("path",)), ("patch", ("path", "patch")), ("text_to_speech", ("output_path",)), ("read_file", ()),
])
def test_arguments_that_name_files(name: str, arguments: tuple[str, ...]) -> None:
    assert CATALOGUE[name].writes == arguments


@pytest.mark.parametrize(("name", "canonical_name"), [
    ("todo", "todo_list"), ("process", "process_manage"), ("cronjob", "cronjob_manage"),
    ("tour", "gui_tour"), ("tip", "show_tip"),
    ("todo_list", "todo_list"), ("read_file", "read_file"), ("nobody_knows_it", "nobody_knows_it"), ("", ""),
    # Not repaired: the host runs exactly the name that it hands to us.
    ("Todo", "Todo"), ("todo ", "todo "),
])
def test_canonical(name: str, canonical_name: str) -> None:
    assert canonical(name) == canonical_name


@pytest.mark.parametrize(("alias", "name"), ALIASES.items())
def test_an_alias_leads_to_a_row_and_hides_none(alias: str, name: str) -> None:
    assert name in CATALOGUE
    assert alias not in CATALOGUE


@pytest.mark.parametrize("table", [CATALOGUE, ALIASES])
def test_the_tables_cannot_be_changed(table: Any) -> None:
    with pytest.raises(TypeError):
        table["terminal"] = CATALOGUE["read_file"]
    with pytest.raises(FrozenInstanceError):
        CATALOGUE["terminal"].group = "read"  # type: ignore[misc]
