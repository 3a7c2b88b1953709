"""What the package may not do, whoever changes it: start processes, talk to a network, reach the host by another way."""

from __future__ import annotations

import ast
import os
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

import plan_mode
from plan_mode.host.seams import SEAMS
from plan_mode.plugin import register
from plan_mode.settings import SETTINGS, DefaultMode

REPOSITORY = Path(__file__).resolve().parents[1]
PACKAGE = REPOSITORY / "plan_mode"
FILES = sorted(PACKAGE.rglob("*.py"))

IMPORTS_HOST_MODULES = PACKAGE / "host" / "seams.py"

FORBIDDEN_MODULES = {
    "socket", "socketserver", "ssl", "http", "urllib", "ftplib", "smtplib", "poplib", "imaplib", "xmlrpc", "webbrowser",
    "wsgiref", "asyncio", "subprocess", "multiprocessing", "concurrent.futures.process", "pty", "ctypes", "cffi", "runpy",
    "code", "pickle", "posix", "_posixsubprocess", "_socket",
}
FORBIDDEN_NAMES = {
    "system", "popen", "startfile", "eval", "exec", "compile", "__import__", "create_subprocess_exec", "create_subprocess_shell",
    *(name for name in dir(os) if name.startswith(("exec", "spawn", "fork", "posix_spawn"))),
}
NOT_THAT_COMPILE = {"re"}
HOST_MODULES = {row.module.partition(".")[0] for row in SEAMS.values()}


def imported(tree: ast.AST) -> Iterator[str]:
    """The full name of everything that is imported from outside of the package; ``from a import b`` may name a module too."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def used(tree: ast.AST) -> Iterator[tuple[str, str]]:
    """(what it is taken from, name) of every name that is used; the first is empty for a plain name."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute):
            yield ast.unparse(node.value), node.attr
        elif isinstance(node, ast.Name):
            yield "", node.id
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            yield from ((node.module or "", alias.name) for alias in node.names)


def faults(source: str, *, may_import_by_name: bool = False) -> list[str]:
    tree = ast.parse(source)
    found = [name for name in imported(tree)
             if any(name == module or name.startswith(f"{module}.") for module in FORBIDDEN_MODULES | HOST_MODULES)]
    known = {*sys.stdlib_module_names, "yaml", "ruamel", "plan_mode"}
    found += [name for name in imported(tree) if name.partition(".")[0] not in known]
    for owner, name in used(tree):
        if name in FORBIDDEN_NAMES and owner not in NOT_THAT_COMPILE:
            found.append(f"{owner}.{name}")
        if name in {"import_module", "importlib"} and not may_import_by_name:
            found.append(name)
    if not may_import_by_name:
        found += [name for name in imported(tree) if name.partition(".")[0] in {"importlib", "pkgutil"}]
    return found


@pytest.mark.parametrize("file", FILES, ids=lambda file: str(file.relative_to(PACKAGE)))
def test_the_package_starts_nothing_and_calls_nobody(file: Path) -> None:
    assert faults(file.read_text(encoding="utf-8"), may_import_by_name=file == IMPORTS_HOST_MODULES) == []


def test_the_door_hands_register_on_and_does_nothing_else() -> None:
    tree = ast.parse((REPOSITORY / "__init__.py").read_text(encoding="utf-8"))
    statements = [node for node in tree.body if not isinstance(node, ast.Expr)]
    assert [ast.unparse(node) for node in statements] == ["from .plan_mode import register", "__all__ = ['register']"]


OF_OS = ["sys" + "tem", "pop" + "en", "execv", "execvp", "spawnl", "fork", "posix_spawn"]


@pytest.mark.parametrize("source", [
    "import socket", "import http.client", "from http import server", "import urllib.request", "from urllib import request",
    "import subprocess as s", "from subprocess import run", "import multiprocessing", "from multiprocessing import Process",
    "def f():\n import socket", "if 1:\n  from concurrent.futures import process", "import asyncio", "import ctypes",
    "import posix",
    *(f"import os\nos.{name}('x')" for name in OF_OS), *(f"import os as o\no.{name}('x')" for name in OF_OS),
    *(f"from os import {name}" for name in OF_OS), *(f"from os import {name} as run" for name in OF_OS),
    *(f"import os\nrun = os.{name}" for name in OF_OS),
    *(f"{name}(source)" for name in ("__import__", "eval", "exec", "compile")), "builtins.eval(source)",
    "import importlib", "from importlib import import_module", "import importlib.util", "import pkgutil",
    "import hermes_cli", "import hermes_cli.config", "from hermes_cli import config", "from tools.registry import registry",
    "import gateway.run", "from agent import runtime_cwd", "import hermes_constants", "from acp_adapter import edit_approval",
    "import requests", "import numpy", "from httpx import get",
])
def test_what_the_walk_finds(source: str) -> None:
    assert faults(source)


@pytest.mark.parametrize("source", [
    "import os\nos.path.join('a')\nos.open('a', 0)", "import os\nos.environ.get('HERMES_HOME')", "import re\nre.compile('a')",
    "from . import host", "from .host import seams", "from .host.seams import seam", "from plan_mode.text import visible",
    "import yaml", "import json, hashlib, secrets, time", "execute = spawned = 1",
])
def test_what_the_walk_lets_be(source: str) -> None:
    assert not faults(source)


def test_only_the_seam_table_imports_by_name() -> None:
    assert faults(IMPORTS_HOST_MODULES.read_text(encoding="utf-8"))


# -- what is said about the package

MANIFEST: dict[str, Any] = yaml.safe_load((REPOSITORY / "plugin.yaml").read_text(encoding="utf-8"))
PROJECT: dict[str, Any] = tomllib.loads((REPOSITORY / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def test_one_version() -> None:
    assert plan_mode.__version__ == MANIFEST["version"] == PROJECT["version"]


def test_one_name_and_license() -> None:
    assert MANIFEST["name"] == PROJECT["name"] == "plan-mode"
    assert MANIFEST["license"] == PROJECT["license"] == "MIT"
    assert "python_dependencies" not in MANIFEST, "the host warns at each start of what isn't installed; nothing needs it yet"
    assert PROJECT["entry-points"]["hermes_agent.plugins"] == {"plan-mode": "plan_mode"}


def test_the_manifest_names_no_version_of_its_own_format() -> None:
    """A host that reads one asks for declarations that another host refuses."""
    assert "manifest_version" not in MANIFEST
    assert MANIFEST["kind"] == "standalone"


def test_the_manifest_describes_the_settings_as_they_are() -> None:
    described = dict(MANIFEST["config_schema"])
    nested = described.pop("plan_mode")
    assert described == {
        name: {
            **({"type": row.type} if row.type else {}), "description": row.description,
            "default": _as_written(row.default),
        }
        for name, row in SETTINGS.items()
    }
    assert (nested["type"], nested["default"]) == ("dict", {})


def _as_written(default: object) -> object:
    if isinstance(default, DefaultMode):
        return default.everywhere
    return sorted(default) if isinstance(default, frozenset) else default


class Recorded:
    """A plugin context that only writes down what is registered."""

    def __init__(self) -> None:
        self.hooks: list[str] = []
        self.middleware: list[str] = []
        self.commands: list[str] = []
        self.tools: list[str] = []

    def register_hook(self, name: str, callback: object) -> None:
        self.hooks.append(name)

    def register_middleware(self, kind: str, callback: object) -> None:
        self.middleware.append(kind)

    def register_command(self, name: str, handler: object, *, description: str = "", args_hint: str = "") -> None:
        assert description
        self.commands.append(name)

    def register_tool(self, name: str, toolset: str, schema: object, handler: object, *, description: str = "") -> None:
        assert (toolset, bool(description)) == ("plan-mode", True)
        self.tools.append(name)

    def register_cli_command(self, name: str, help: str, setup_fn: object, handler_fn: object) -> None:
        assert help
        self.commands.append(f"hermes {name}")


def test_everything_registered_is_declared() -> None:
    recorded = Recorded()
    register(recorded)
    assert recorded.hooks == MANIFEST["provides_hooks"]
    assert list(dict.fromkeys(recorded.middleware)) == MANIFEST["provides_middleware"]
    assert sorted(recorded.commands) == ["hermes plan-mode", "mode", "planmode"]
    assert recorded.tools == MANIFEST["provides_tools"]
