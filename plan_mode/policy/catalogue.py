"""Every tool we know: which group it belongs to, which toolsets may own its name, which arguments name files it writes.

A tool that isn't here belongs to no group. To add one, add a row.
"""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType
from typing import Final


@dataclass(frozen=True, slots=True)
class Tool:
    """One row. ``toolsets``: the host's own owners of the name; anybody else's tool of that name is unknown."""

    name: str
    group: str
    toolsets: frozenset[str]
    writes: tuple[str, ...] = ()


ALWAYS: Final = "always"
"""Group of the tools that every mode has, an empty one too."""

OWN: Final = "plan-mode"
"""The toolset of our own tools."""

ASKING: Final = ("switch_mode", "submit_plan")
"""Our own tools: they change nothing unless a person says yes."""

_ROWS: Final = (
    # group, toolsets, names
    ("read", "file", "read_file search_files"),
    ("edit", "file", "write_file patch"),
    ("command", "terminal", "terminal process_manage"),
    ("command", "code_execution", "execute_code"),
    ("command", "browser-cdp", "browser_cdp browser_dialog"),
    ("command", "browser-use", "browser_exec"),
    ("command", "browser", "browser_console"),
    ("command", "computer_use", "computer_use"),
    ("read", "web", "web_search web_extract"),
    ("read", "x_search", "x_search"),
    ("read", "vision", "vision_analyze"),
    ("read", "video", "video_analyze"),
    ("read", "browser", "browser_snapshot browser_get_images browser_vision"),
    ("browser", "browser", "browser_navigate browser_click browser_type browser_press browser_scroll browser_back browser_vault"),
    ("browser", "desktop_ui", "drive_preview"),
    ("read", "skills", "skills_list skill_view"),
    ("manage", "skills", "skill_manage"),
    ("manage", "catalog", "manage_catalog"),
    ("manage", "connections", "manage_connections"),
    ("manage", "onboarding", "setup_beat"),
    ("manage", "project", "desktop_project project_create project_list project_switch"),
    ("read", "session_search", "session_search"),
    ("delegate", "delegation", "delegate_task"),
    ("memory", "memory", "memory"),
    (ALWAYS, "todo", "todo_list"),
    (ALWAYS, "clarify", "clarify"),
    (ALWAYS, OWN, " ".join(ASKING)),
    (ALWAYS, "tool_search", "tool_search tool_describe tool_call"),
    ("schedule", "cronjob", "cronjob_manage"),
    ("schedule", "kanban", (
        "kanban_show kanban_list kanban_attachments kanban_create kanban_link kanban_unblock kanban_schedule kanban_block "
        "kanban_complete kanban_request_review kanban_request_changes kanban_comment kanban_attach kanban_attach_url "
        "kanban_heartbeat")),
    ("media", "image_gen", "image_generate"),
    ("media", "video_gen", "video_generate xai_video_edit xai_video_extend"),
    ("media", "tts", "text_to_speech"),
    ("message", "a2a", "a2a_call a2a_orchestrate a2a_discover a2a_list a2a_history"),
    ("message", "discord", "discord"),
    ("message", "discord_admin", "discord_admin"),
    ("message", "feishu_doc", "feishu_doc_read"),
    ("message", "feishu_drive", (
        "feishu_drive_add_comment feishu_drive_reply_comment feishu_drive_list_comments feishu_drive_list_comment_replies")),
    ("message", "hermes-yuanbao",
     "yb_send_dm yb_send_sticker yb_query_group_info yb_query_group_members yb_search_sticker"),
    ("message", "mqtt", "mqtt_publish mqtt_device_command mqtt_subscribe_recent"),
    ("message", "homeassistant", "ha_call_service ha_get_state ha_list_entities ha_list_services"),
    ("message", "spotify", (
        "spotify_albums spotify_devices spotify_library spotify_playback spotify_playlists spotify_queue spotify_search")),
    ("read", "desktop_ui terminal", "read_terminal read_window_below"),
    ("ui", "desktop_ui terminal", (
        "annotate_preview close_terminal desktop_preview focus_pane gui_tour react_to_message set_theme show_tip")),
)

_WRITES: Final = {"write_file": ("path",), "patch": ("path", "patch"), "text_to_speech": ("output_path",)}

CATALOGUE: Final = MappingProxyType({
    name: Tool(name, group, frozenset(toolsets.split()), _WRITES.get(name, ()))
    for group, toolsets, names in _ROWS
    for name in names.split()
})

ALIASES: Final = MappingProxyType({
    "todo": "todo_list", "process": "process_manage", "cronjob": "cronjob_manage", "tour": "gui_tour", "tip": "show_tip",
})
"""Names of older hosts, and names that newer hosts still accept."""

OTHER_NAMES: Final = MappingProxyType({
    name: tuple(alias for alias, known in ALIASES.items() if known == name) for name in CATALOGUE
})

EDITORS: Final = frozenset(name for name, tool in CATALOGUE.items() if tool.group == "edit")

WRITERS: Final = frozenset(name for name, tool in CATALOGUE.items() if tool.writes)
"""Those, and tools that may be told beside their own work where to write a file."""


def canonical(name: str) -> str:
    """The catalogue's name of a tool that the host calls ``name``."""
    return ALIASES.get(name, name)
