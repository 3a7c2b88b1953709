"""How a person gets the plugin into their own Hermes."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from tests.acceptance.lab import Host, Lab, run_hermes
from tests.acceptance.lab.plugins import install_checkout

pytestmark = pytest.mark.long


def git(folder: Path, *arguments: str) -> None:
    who = ("-c", "user.name=tests", "-c", "user.email=tests@localhost")
    subprocess.run(["git", *who, *arguments], cwd=folder, check=True, capture_output=True)


def test_from_git_by_hermes_plugins_install(lab: Lab, host: Host, tmp_path: Path) -> None:
    """The security scan is content, the plugin is enabled, and it works."""
    if host.version == "0.22":
        pytest.skip("this host downloads a Python of its own when it installs any plugin, and there is no network here")
    repository = install_checkout(tmp_path)
    git(repository, "init", "-q", "-b", "main")
    git(repository, "add", "-A")
    git(repository, "commit", "-q", "-m", "plan-mode")
    home = lab.home(host, plugins=())
    installed = run_hermes(home, "plugins", "install", f"file://{repository}", "--enable")
    assert installed.returncode == 0, installed.stdout + installed.stderr
    assert (home.hermes_home / "plugins" / "plan-mode" / "plugin.yaml").is_file()
    cli = lab.cli(home)
    assert "Plan mode is on" in cli.cmd("/planmode on")
    lab.script("try", ("terminal", {"command": "touch made"}))
    cli.turn("try")
    assert "plan mode [not-granted]" in lab.results("try")[0].text


def test_the_security_scan_is_content(lab: Lab, host: Host) -> None:
    if host.version == "0.19":
        pytest.skip("this host has no hermes plugins validate; its install runs the scan")
    home = lab.home(host)
    validated = run_hermes(home, "plugins", "validate", str(home.hermes_home / "plugins" / "plan-mode"))
    assert "security scan — safe" in validated.stdout


def test_uninstalled_it_enforces_nothing(lab: Lab, host: Host) -> None:
    home = lab.home(host)
    cli = lab.cli(home)
    cli.cmd("/planmode on")
    cli.exit()
    shutil.rmtree(home.hermes_home / "plugins" / "plan-mode")
    cli = lab.cli(home)
    lab.script("free", ("terminal", {"command": "touch free"}))
    cli.turn("free")
    assert "plan mode" not in lab.results("free")[0].text
