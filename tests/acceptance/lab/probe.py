"""What the ``probe`` plugin wrote down: which session each callback was told of.

    home = lab.home(host, plugins=("plan-mode", "probe"))   # /probe is its command
    facts(home, "command")[-1]["KEY"]
"""

from __future__ import annotations

import json
from typing import Any

from .home import Home


def facts(home: Home, *kinds: str) -> list[dict[str, Any]]:
    """Return the lines of those kinds (all, if none is named), oldest first; see the plugin for the keys."""
    log = home.user / "probe.jsonl"
    lines = log.read_text(encoding="utf-8").splitlines() if log.exists() else []
    found = [json.loads(line) for line in lines]
    return [fact for fact in found if not kinds or fact["kind"] in kinds]
