"""The modes in examples/modes: each can be read without a fault, and limits what it says it limits."""

from __future__ import annotations

from pathlib import Path

import pytest

from plan_mode.modes.builtin import BUILTIN
from plan_mode.modes.model import Mode
from plan_mode.modes.schema import read_modes

FOLDER = Path(__file__).parents[2] / "examples" / "modes"
FILES = sorted(path.name for path in FOLDER.glob("*.yaml"))

# Mode -> files that it may write, and files that it may not.
WRITES: dict[str, tuple[list[str], list[str]]] = {
    "docs": (["README.md", "docs/guide/a.mdx", "CHANGES.rst"], ["src/app.py", "docs/conf.py", "md", "a.md.py"]),
    "tests": (["tests/test_a.py", "src/__tests__/a.tsx", "a_test.go", "src/a.spec.ts", "pkg/test/helper.rb"],
              ["src/app.py", "contest.py", "latest/app.ts", "attests/a.py", "src/testing.py"]),
    "migrations": (["app/migrations/0001_x.py", "db/migrate/2026_x.rb", "migrations/1.sql"],
                   ["app/models.py", "migrations.py", "app/migrations/deep/0001.py", "immigrations/a.sql"]),
    "research": (["notes/a.md", "docs/research/b.md", "research/c.md"],
                 ["README.md", "src/notes/a.md", "notes/deep/a.md", "notes/a.py"]),
    "review": ([], ["README.md"]),
    "security": ([], ["README.md"]),
}


def mode_of(name: str) -> Mode:
    found = read_modes((FOLDER / name).read_text(encoding="utf-8"), file=name, origin=name)
    assert (found.faults, found.warnings) == ((), ())
    [mode] = found.modes
    return mode


@pytest.mark.parametrize("name", FILES)
def test_an_example(name: str) -> None:
    mode = mode_of(name)
    assert f"{mode.slug}.yaml" == name
    assert mode.slug not in BUILTIN
    assert mode.restricted
    assert all((mode.description, mode.when_to_use, mode.role_definition, mode.custom_instructions))


def test_six_of_them() -> None:
    assert sorted(WRITES) == [name.removesuffix(".yaml") for name in FILES]


@pytest.mark.parametrize("slug", sorted(WRITES))
def test_what_it_may_write(slug: str) -> None:
    grants, (may, may_not) = mode_of(f"{slug}.yaml").grants, WRITES[slug]
    if not may:
        assert "edit" not in grants.groups
        return
    assert grants.edit_rule is not None
    assert grants.edit_rule.pattern is not None
    matches = grants.edit_rule.pattern.matches
    assert [path for path in may if not matches(path)] == []
    assert [path for path in may_not if matches(path)] == []
