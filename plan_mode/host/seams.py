"""The table of seams: every place of the host we touch beyond the plugin context, and what its absence means.

A seam is probed at each use, never assumed: hosts differ, and modules are imported late. This is the one place that
imports the host.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from importlib import import_module
from types import MappingProxyType
from typing import Any, Final


@dataclass(frozen=True, slots=True)
class Seam:
    """``module`` and ``name`` in the host. ``loaded_only``: looked at only if the host has imported it already."""

    module: str
    name: str
    if_missing: str
    loaded_only: bool = False


SEAMS: Final = MappingProxyType({
    "bound_session": Seam(
        "gateway.session_context", "_VAR_MAP",
        "No session is seen as bound; a server is then known by its process alone.", loaded_only=True),
    "engaged": Seam(
        "gateway.session_context", "session_context_engaged",
        "Server processes are known by their runner and by HERMES_GATEWAY_SESSION only.", loaded_only=True),
    "tabs": Seam(
        "tui_gateway.server", "_sessions",
        "Side agents of a tab (/background) are known by the tab's id alone, from its first turn on; commands don't know the "
        "tab, so what it carries to a conversation of unreadable origin can't be left there.", loaded_only=True),
    "active_profile": Seam(
        "hermes_cli.profiles", "get_active_profile_name",
        "A server session of an unnamed profile refuses every command that changes something."),
    "plan_prompt": Seam(
        "agent.plan_prompt", "build_plan_prompt", "This host has no /plan of its own."),
    "out_of_band_open": Seam(
        "agent.prompt_builder", "STEER_MARKER_OPEN",
        "A command that was sent while a turn runs is recognised only where it stands alone."),
    "out_of_band_close": Seam("agent.prompt_builder", "STEER_MARKER_CLOSE", "As out_of_band_open."),
    "gateway_runner": Seam(
        "gateway.run", "_gateway_runner_ref",
        "Only HERMES_GATEWAY_SESSION tells a gateway process; a CLI that imports gateway code stays a CLI.", loaded_only=True),
    "home": Seam(
        "hermes_constants", "get_hermes_home", "The state folder is looked for below HERMES_HOME, else below ~/.hermes."),
    "home_override": Seam(
        "hermes_constants", "get_hermes_home_override", "The home is asked for at every call, which is slower."),
    "cwd": Seam(
        "agent.runtime_cwd", "resolve_agent_cwd",
        "on takes an existing absolute TERMINAL_CWD, else the folder of the classic CLI process."),
    "task_folder": Seam(
        "tools.file_tools", "_resolve_base_dir",
        "Relative paths aren't completed; in modes that limit files they are refused."),
    "skills_config": Seam(
        "agent.skill_preprocessing", "load_skills_config", "skill_view is denied while planning."),
    "config": Seam(
        "hermes_cli.config", "load_config_readonly",
        "Settings are read through the plugin context; model runtime and file back-end aren't checked, and status says so."),
    "registry": Seam(
        "tools.registry", "registry", "A tool is taken for what the catalogue says of its name."),
    "edit_approval": Seam(
        "acp_adapter.edit_approval", "set_edit_approval_requester",
        "Checked arguments are pinned and compared after the call; a difference locks the session down."),
    "edit_approval_reset": Seam(
        "acp_adapter.edit_approval", "reset_edit_approval_requester", "As edit_approval."),
    "edit_approval_current": Seam(
        "acp_adapter.edit_approval", "_EDIT_APPROVAL_REQUESTER", "An editor's own approval isn't asked after ours."),
    "fail_closed_hooks": Seam(
        "hermes_cli.plugins_dispatch", "_policy_error_block_directive",
        "The execution middleware decides every call as well, because a failing hook would let it run."),
    "await_decision": Seam(
        "tools.approval", "_await_gateway_decision",
        "Questions of the agent to the person of a tab, a chat or a run go by the host's approval of the call."),
    "notifiers": Seam(
        "tools.approval", "_gateway_notify_cbs", "As await_decision."),
    "approval_session": Seam(
        "tools.approval", "get_current_session_key", "Nobody is asked in tabs, chats and runs; what a person types decides."),
    "blocking_approval": Seam(
        "tools.approval", "has_blocking_approval",
        "A question of ours may stand beside one of the host's; an answer in words goes to the older one."),
    "panel": Seam(
        "tools.approval", "prompt_dangerous_approval",
        "Questions of the agent in the classic CLI and in editors go by the host's approval of the call."),
    "panel_callback": Seam(
        "tools.terminal_tool", "_get_approval_callback",
        "Nobody is asked in the classic CLI and in editors; what a person types decides."),
    "redact": Seam(
        "agent.redact", "redact_sensitive_text", "Secrets in a plan are shown in its card as they are."),
    "interrupted": Seam(
        "tools.interrupt", "is_interrupted", "A yes that comes while the turn is being stopped still counts."),
    "session_store": Seam(
        "hermes_state", "SessionDB",
        "Where a conversation came from can't be read: the stricter answer holds, and status says so."),
})


_absent: set[str] = set()


def seam(name: str) -> Any:
    """The host's object behind a row of the table, or None where this host has none."""
    row = SEAMS[name]
    module = sys.modules.get(row.module)
    if module is None and not row.loaded_only and row.module not in _absent:
        try:
            module = import_module(row.module)
        except Exception:  # a host module may fail in any way while it is imported; asking again costs a search each time
            _absent.add(row.module)
    return getattr(module, row.name, None)
