"""The tables of README.md are the tables of the code."""

from __future__ import annotations

import re
from pathlib import Path

from plan_mode.host.seams import SEAMS
from plan_mode.settings import SETTINGS

README = (Path(__file__).parent.parent / "README.md").read_text(encoding="utf-8")


def test_every_seam_is_in_the_readme() -> None:
    for seam in SEAMS.values():
        assert f"| `{seam.module}.{seam.name}` | {seam.if_missing} |" in README


def test_every_setting_is_in_the_readme() -> None:
    for name, setting in SETTINGS.items():
        default = {"list": "`[]`"}.get(setting.type, f"`{setting.default!r}`" if setting.default else "none")
        assert f"| `{name}` | {default} | {setting.description} |" in README


def test_the_excerpt_is_from_the_transcript() -> None:
    """The transcript itself is compared with a real run in tests/acceptance/test_demo.py."""
    excerpt, transcript = re.findall(r"```text\n(.*?)```", README, re.DOTALL)
    lines = [line for line in excerpt.splitlines() if "[…]" not in line]
    missing = [line for line in lines if line not in transcript.splitlines()]
    assert missing == []
