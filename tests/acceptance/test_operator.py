"""``hermes plan-mode check`` and ``modes`` in a real Hermes: its parser, its exit codes, and nothing else on standard output."""

from __future__ import annotations

import json

import pytest

from tests.acceptance.lab import Host, Lab, run_hermes

pytestmark = pytest.mark.long

DOCS = {"slug": "docs", "name": "Docs", "roleDefinition": "You write documentation.",
        "groups": ["read", ["edit", {"fileRegex": "^docs/"}]],
        "rulesFiles": [{"relativePath": "style.md", "content": "Be kind.\n"}]}


def test_a_mode_is_imported_judged_by_and_exported(lab: Lab, host: Host) -> None:
    home = lab.home(host)
    (home.work / "given.yaml").write_text(json.dumps({"customModes": [DOCS]}))
    done = run_hermes(home, "plan-mode", "modes", "import", "given.yaml")
    assert (done.returncode, done.stdout.splitlines()[0]) == (0, "Imported from given.yaml, for all your projects:")

    def verdict(tool: str, **arguments: str) -> tuple[int, str]:
        done = run_hermes(home, "plan-mode", "check", "--mode", "docs", "--json", tool, json.dumps(arguments))
        return done.returncode, json.loads(done.stdout)["rule"]
    assert verdict("write_file", path="docs/a.md") == (0, "edit-rule")
    assert verdict("terminal", command="true") == (1, "not-granted")
    assert run_hermes(home, "plan-mode", "check", "--mode", "nope", "terminal").returncode == 2
    exported = run_hermes(home, "plan-mode", "modes", "export", "docs", "-o", "exported.yaml")
    assert exported.returncode == 0
    done = run_hermes(home, "plan-mode", "modes", "import", "exported.yaml", "--dry-run")
    assert done.stdout.startswith("Nothing to import: all that exported.yaml holds is there already.\n")
    done = run_hermes(home, "plan-mode", "modes", "validate", "--json", "exported.yaml", "none.yaml")
    assert (done.returncode, json.loads(done.stdout)["modes"]) == (1, ["docs"])
