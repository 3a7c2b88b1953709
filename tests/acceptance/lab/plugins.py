"""Put plugins into a Hermes home."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from tests.manifest import MANIFEST

from .hosts import REPOSITORY

PLAN_MODE = "plan-mode"
PROBE = "probe"
LABCHAT = "labchat"
FIXTURES = (PROBE, LABCHAT)
_FIXTURES = Path(__file__).resolve().parent / "fixtures"
CHECKOUT_VARIABLE = "PLAN_MODE_PLUGIN_DIR"

#: What a checkout holds and a clone doesn't.
_NOT_IN_GIT = shutil.ignore_patterns(
    ".git", ".venv", "venv", "__pycache__", "*.pyc", ".*_cache", ".hypothesis", ".coverage*",
    "*.egg-info", "build", "dist",
)  # fmt: skip


def checkout() -> Path:
    """Return the folder of the plan-mode plugin under test: the repository, unless overridden.

    Raises FileNotFoundError if it has no plugin.yaml.
    """
    folder = Path(os.environ.get(CHECKOUT_VARIABLE) or REPOSITORY).resolve()
    if not (folder / "plugin.yaml").is_file():
        raise FileNotFoundError(f"no plugin.yaml in {folder}")
    return folder


def install_checkout(plugins: Path) -> Path:
    """Copy plan-mode below ``plugins`` as a clone would put it there; return its folder."""
    # Hermes loads nothing from a folder whose name isn't the manifest's.
    return Path(shutil.copytree(checkout(), plugins / PLAN_MODE, ignore=_NOT_IN_GIT))


def install_fixture(plugins: Path, name: str) -> Path:
    """Copy a plugin from ``fixtures`` below ``plugins``; return its folder."""
    return Path(shutil.copytree(_FIXTURES / name, plugins / name, ignore=_NOT_IN_GIT))


def install_source(plugins: Path, name: str, source: str) -> Path:
    """Write a plugin of one ``__init__.py`` below ``plugins``; return its folder."""
    folder = plugins / name
    folder.mkdir()
    (folder / "plugin.yaml").write_text(MANIFEST.format(name=name), encoding="utf-8")
    (folder / "__init__.py").write_text(source, encoding="utf-8")
    return folder
