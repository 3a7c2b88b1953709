"""For which profile was this plugin registered?"""

from __future__ import annotations

import os

from .seams import seam


def own_profile(manager: object) -> str:
    """The profile whose plugin manager this is; "" where it can't be told.

    Taken from the manager's own home where that is a named profile's, else the host is asked for the active one.
    """
    home = getattr(manager, "home_path", None)
    parent, name = os.path.split(os.path.normpath(str(home))) if home is not None else ("", "")
    if name and os.path.basename(parent) == "profiles":
        return name
    ask = seam("active_profile")
    try:
        active = ask()
    except Exception:  # missing, or it can't tell
        return ""
    return active if isinstance(active, str) else ""
