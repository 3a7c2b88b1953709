"""Where are we? Facts about surface, process and conversation, as the host tells them."""

from __future__ import annotations

import os
import sys
from typing import Any

from .seams import seam


def bound(variable: str) -> str:
    """A session variable that is bound in this context; "" where it isn't. ``os.environ`` never counts."""
    variables = seam("bound_session")
    try:
        value = variables[variable].get("")
    except (TypeError, KeyError, LookupError, AttributeError):
        return ""
    return value if isinstance(value, str) else ""


def interactive_cli(manager: object) -> bool | None:
    """Whether this process has a live interactive CLI; None where the host doesn't say.

    A single-query run has a CLI object too, and isn't one.
    """
    missing = object()
    cli = getattr(manager, "_cli_ref", missing)
    if cli is missing:
        return None
    return cli is not None and not getattr(cli, "_single_query_mode", False) and not getattr(cli, "is_slash_worker", False)


def current_conversation(manager: object) -> str:
    """The conversation that the interactive CLI of this process is in; "" where it can't be told."""
    session_id = getattr(getattr(manager, "_cli_ref", None), "session_id", "")
    return session_id if isinstance(session_id, str) else ""


def runs_gateway() -> bool:
    """Whether a gateway runner lives in this process. Having imported its module proves nothing."""
    reference = seam("gateway_runner")
    if reference is None:
        return False
    try:
        return (reference() if callable(reference) else reference) is not None
    except Exception:  # a reference of another kind: somebody set it, so a runner was started
        return True


def is_slash_worker() -> bool:
    """Whether this process is the TUI's helper for slash commands."""
    return _main_module() == "tui_gateway.slash_worker"


def is_isolated() -> bool:
    """Whether the host runs this plugin in a child process."""
    return bool(os.environ.get("HERMES_PLUGIN_HOST_PROCESS"))


def serves_other_sessions() -> bool:
    return bool(os.environ.get("HERMES_GATEWAY_SESSION"))


def _main_module() -> str:
    main: Any = sys.modules.get("__main__")
    return getattr(getattr(main, "__spec__", None), "name", "") or ""
