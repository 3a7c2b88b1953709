"""Whatever mode a file can define, with whatever rules beside it: what is exported is what is read."""

from __future__ import annotations

from typing import Any

from hypothesis import assume, given, settings
from hypothesis import strategies as st

from plan_mode.modes import rulesfiles, yaml12
from plan_mode.modes.exchange import exported
from plan_mode.modes.model import GROUPS, definition_digest
from plan_mode.modes.rules import Rule, name_fault
from plan_mode.modes.schema import modes_of, read_modes
from plan_mode.modes.yamlwriter import written

# Pieces that mean something to YAML or to JSON, or that nobody sees.
PIECES = st.sampled_from([
    "a", "x: y", "- ", "? ", "#", " #", "\n", "\n\n", "\n  ", "\n\t", "\t", " ", "  ", "---", "...", "'", '"', "\\", "|", ">",
    "%", "@",
    "`", "&a", "*a", "!!int 1", "null", "~", "no", "012", "1e9", "0o7", "{", "}", "[", "]", ",", "\r", "\r\n", "\x00", "\x1b",
    "\x85",
    "\u2028", "\ufeff", "\u200b", "\u202e", "\ufffe", "\U0010fe01", "\U000e0041", "\U0001f469\u200d\U0001f4bb", "é", "“",
    "\u3000"])
TEXTS = st.one_of(st.text("ab \n\t:#-'", max_size=12), st.text(max_size=30), st.lists(PIECES, max_size=12).map("".join))
SLUGS = st.from_regex(r"[a-zA-Z0-9-]{1,12}", fullmatch=True).filter(lambda slug: slug != "plan")
TOOLS = st.lists(st.from_regex(r"[^\s\x00-\x1f*?]{1,12}", fullmatch=True).filter(lambda name: name != "mcp:"), max_size=3)
PATTERNS = st.sampled_from([r"\.md$", "^docs/", "'", '"', "a|b: c", r"^[^#]*\t$", "é", "^(?!.*x).*$", "(?i)x", r"\u2028", "\n",
                            "\u2028"])


@st.composite
def modes(draw: st.DrawFn) -> dict[str, Any]:
    groups: list[Any] = sorted(draw(st.sets(st.sampled_from(sorted(GROUPS)))))
    if "edit" in groups and draw(st.booleans()):
        options = {"fileRegex": draw(PATTERNS), "description": draw(TEXTS)}
        groups[groups.index("edit")] = ["edit", options]
    optional = dict.fromkeys(("description", "whenToUse", "customInstructions"), TEXTS)
    return {
        "slug": draw(SLUGS), "name": draw(TEXTS.filter(bool)), "roleDefinition": draw(TEXTS.filter(bool)), "groups": groups,
        **draw(st.fixed_dictionaries({}, optional={
            **optional, "tools": st.fixed_dictionaries({}, optional={"allow": TOOLS, "deny": TOOLS}),
            "model": st.fixed_dictionaries({"model": TEXTS.filter(bool)}, optional={"provider": TEXTS.filter(bool)}),
            "childMode": st.sampled_from(["inherit", "code"])})),
    }


NAMES = st.lists(
    st.one_of(st.sampled_from(["a.md", "A.md", "rules", "rules-x", "b", "c..d", "null", "é"]), st.text(max_size=4)), min_size=1,
    max_size=3).map("/".join).filter(lambda name: not name_fault(name) and "//" not in name and not name.endswith("/"))


@settings(max_examples=80, deadline=None)
@given(data=modes(), rules=st.dictionaries(NAMES, TEXTS, max_size=3))
def test_what_is_exported_is_what_is_read(data: dict[str, Any], rules: dict[str, str]) -> None:
    [mode] = modes_of([data], file="f", origin="o").modes
    folded = [name.casefold() for name in rules]
    assume(len(set(folded)) == len(folded))
    assume(not any(one.startswith(f"{other}/") for one in folded for other in folded))
    text = exported(mode, [Rule(name, inner, "home") for name, inner in rules.items()])
    found = read_modes(text, file="f", origin="o", rules=rulesfiles.check)
    assert (found.faults, [definition_digest(each) for each in found.modes]) == ((), [definition_digest(mode)])
    assert found.modes == (mode,)
    assert dict(found.rules) == ({mode.slug: rules} if rules else {})


@settings(max_examples=80, deadline=None)
@given(data=st.recursive(TEXTS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(
    st.sampled_from(["name", "a", "groups"]), inner, max_size=3), max_leaves=8))
def test_both_scanners_read_what_is_written(data: Any) -> None:
    data = {"a": data, "b": [data, data]}
    text = written(data)
    assert yaml12.read(text).data == data
    fast = yaml12._scanner
    try:
        yaml12._scanner = lambda: yaml12._slow_scanner()
        assert yaml12.read(text).data == data
    finally:
        yaml12._scanner = fast
