"""What no restricted mode may write, whatever else it allows: the places that decide what an agent may do."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Final

_OF_THE_HOME: Final = (
    "config.yaml", ".env", "auth.json", "mcp.json", "state.db", "SOUL.md", "skills", "plugins", "hooks", "modes", "cron",
    "profiles", "plugin-data",
)
_OF_THE_PROJECT: Final = (".roomodes", ".hermes-modes.yaml", ".hermes/modes", ".git")
_RULES: Final = "rules-"
_RULES_PARENTS_OF_THE_PROJECT: Final = (".hermes", ".roo")


@dataclass(frozen=True, slots=True)
class Protected:
    """Real paths whose files and folders stay untouched; ``rules`` are folders whose ``rules-*`` children do."""

    places: tuple[str, ...]
    rules: tuple[str, ...]


def protected_places(trusted_home: str, trusted_project: str, trusted_plugin: str) -> Protected:
    """The protected places of one session, from the Hermes home, the project root and this plugin's own folder.

    Names single files and folders, never the whole Hermes home: where the session's folder is the home directory,
    ``~/.hermes/plans`` stays writable.
    """
    return Protected(
        places=_below(trusted_home, _OF_THE_HOME) + _below(trusted_project, _OF_THE_PROJECT) + _below(trusted_plugin, ("",)),
        rules=_below(trusted_home, ("",)) + _below(trusted_project, _RULES_PARENTS_OF_THE_PROJECT),
    )


def _below(root: str, names: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(os.path.realpath(os.path.join(root, name)) for name in names) if root else ()


def protecting(real: str, protected: Protected) -> str | None:
    """The protected place that ``real``, a real path, is or lies in; None where it is free."""
    for place in protected.places:
        if real == place or real.startswith(place + os.sep):
            return place
    for parent in protected.rules:
        if real.startswith(os.path.join(parent, _RULES)):
            return parent + os.sep + real[len(parent) + 1:].split(os.sep, 1)[0]
    return None
