"""Where is the Hermes home, and where in it may we keep files?"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any, Final

from .seams import seam

PLUGIN_DATA: Final = os.path.join("plugin-data", "agent-plugin-plan-mode-d1b87d9f")
"""The folder that a host with plugin state gives this plugin; older hosts get the same."""

_BY_DEFAULT: Final = ("HOME", "HERMES_DATA_DIR_SUFFIX")
"""What decides the home where it isn't named, beside the system."""


class OfTheHome:
    """An answer that depends on the Hermes home. Remembered for as long as nothing that decides the home has changed."""

    def __init__(self, ask: Callable[[], str]) -> None:
        self._ask = ask
        self._known: dict[object, str] = {}
        self._override: Any = None

    def __call__(self) -> str:
        override = self._override or seam("home_override")
        if override is None:
            return self._ask()
        self._override = override
        deciding = override() or os.environ.get("HERMES_HOME") or tuple(map(os.environ.get, _BY_DEFAULT))
        found = self._known.get(deciding)
        if found is None:
            found = self._known[deciding] = self._ask()
        return found


def _ask_home() -> str:
    get = seam("home")
    if get is not None:
        return str(get())
    return os.environ.get("HERMES_HOME") or os.path.join(os.path.expanduser("~"), ".hermes")


home: Final = OfTheHome(_ask_home)
"""The Hermes home of the current context (the profile of a bound session, else the process's own)."""


def data_dir_of(context: Any) -> OfTheHome:
    """The folder for our state."""
    def ask() -> str:
        try:
            return str(context.state.data_dir)
        except Exception:  # an older host has no state; it is the same folder there
            return os.path.join(home(), PLUGIN_DATA)
    return OfTheHome(ask)
