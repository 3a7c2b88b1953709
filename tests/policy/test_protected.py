"""What no restricted mode may write: named places, and only those."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from plan_mode.policy.protected import Protected, protected_places, protecting


@pytest.fixture
def base(tmp_path: Path) -> Path:
    base = tmp_path.resolve()
    for folder in ("home", "project", "plugin"):
        (base / folder).mkdir()
    return base


@pytest.fixture
def protected(base: Path) -> Protected:
    return protected_places(str(base / "home"), str(base / "project"), str(base / "plugin"))


@pytest.mark.parametrize(("path", "place"), [
    ("home/config.yaml", "home/config.yaml"),
    ("home/.env", "home/.env"),
    ("home/SOUL.md", "home/SOUL.md"),
    ("home/skills", "home/skills"),
    ("home/skills/deep/down/SKILL.md", "home/skills"),
    ("home/plugins/other/__init__.py", "home/plugins"),
    ("home/modes/x.yaml", "home/modes"),
    ("home/cron/jobs.json", "home/cron"),
    ("home/plugin-data/agent-plugin-plan-mode/state", "home/plugin-data"),
    ("home/rules-plan/a.md", "home/rules-plan"),
    ("home/rules-plan", "home/rules-plan"),
    ("home/rules-/a.md", "home/rules-"),
    ("project/.roomodes", "project/.roomodes"),
    ("project/.hermes-modes.yaml", "project/.hermes-modes.yaml"),
    ("project/.hermes/modes/x.yaml", "project/.hermes/modes"),
    ("project/.hermes/rules-code/a.md", "project/.hermes/rules-code"),
    ("project/.roo/rules-code/a/b.md", "project/.roo/rules-code"),
    ("project/.git/hooks/pre-commit", "project/.git"),
    ("project/.git/config", "project/.git"),
    ("project/.git", "project/.git"),
    ("home/auth.json", "home/auth.json"),
    ("home/profiles/x/config.yaml", "home/profiles"),
    ("home/hooks/a.py", "home/hooks"),
    ("plugin/policy/decide.py", "plugin"),
    ("plugin", "plugin"),
])
def test_protected(base: Path, protected: Protected, path: str, place: str) -> None:
    assert protecting(str(base / path), protected) == str(base / place)


@pytest.mark.parametrize("path", [
    "home/plans/2026-01-01_120000-x.md", "home/notes.md", "home", "home/config.yaml.bak", "home/.envrc", "home/skillset/a.md",
    "home/rules", "home/rules/a.md", "home/sub/config.yaml", "home/sub/rules-x/a.md",
    "project/.hermes/plans/a.md", "project/.hermes/plans/rules-x.md", "project/README.md", "project/rules-x/a.md",
    "project/.gitignore", "project/.github/x.yml",
    "project/sub/.git/x", "project/sub/.roomodes", "project/.roomodes.md", "plugin-b/x.py",
    "plugins", "elsewhere",
])
def test_free(base: Path, protected: Protected, path: str) -> None:
    assert protecting(str(base / path), protected) is None


def test_a_place_is_known_by_its_real_path(base: Path) -> None:
    (base / "dotfiles").mkdir()
    (base / "home" / "config.yaml").symlink_to(base / "dotfiles" / "hermes.yaml")
    (base / "home-link").symlink_to(base / "home")
    protected = protected_places(str(base / "home-link"), "", "")
    assert protecting(str(base / "dotfiles" / "hermes.yaml"), protected) == str(base / "dotfiles" / "hermes.yaml")
    assert protecting(str(base / "home" / "SOUL.md"), protected) == str(base / "home" / "SOUL.md")
    assert protecting(str(base / "home" / "rules-x" / "a"), protected) == str(base / "home" / "rules-x")


@pytest.mark.parametrize("path", ["/", "/config.yaml", "/rules-x/a", os.getcwd()])
def test_what_is_not_known_protects_nothing(path: str) -> None:
    nothing = protected_places("", "", "")
    assert nothing == Protected((), ())
    assert protecting(path, nothing) is None


def test_the_home_directory_itself_may_be_the_project(base: Path) -> None:
    """Where a session works in ``~``, its plans lie in the Hermes home, and stay writable."""
    home = base / "home" / ".hermes"
    protected = protected_places(str(home), str(base / "home"), str(base / "plugin"))
    assert protecting(str(home / "plans" / "a.md"), protected) is None
    assert protecting(str(home / "modes" / "a.yaml"), protected) == str(home / "modes")
    assert protecting(str(home / "rules-plan" / "a.md"), protected) == str(home / "rules-plan")
