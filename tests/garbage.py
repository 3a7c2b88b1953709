"""What no host should hand to a plugin: values, keyword arguments and typed lines for the fuzzed callbacks."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from hypothesis import strategies as st

HUGE = 60_000


class Boom(Exception):
    """What a hostile object raises. It can't even be shown."""

    def __str__(self) -> str:
        raise ZeroDivisionError

    __repr__ = __str__


@dataclass(frozen=True)
class Made:
    """A value under a name, made anew each time: what it makes may be impossible to show, to copy or to compare."""

    name: str
    make: Callable[[], Any]

    def __repr__(self) -> str:
        return f"<{self.name}>"


def _raises(*_: Any, **__: Any) -> Any:
    raise Boom


def hostile(base: type, names: str, *arguments: Any) -> Made:
    """An object that raises in each of those methods."""
    made = type("Hostile", (base,), {f"__{name}__": _raises for name in names.split()})
    return Made(f"{base.__name__} that raises in {names}", lambda: made(*arguments))


class Anything:
    """Has every attribute, can be called, and never says anything else."""

    def __getattr__(self, name: str) -> Anything:
        return self

    def __call__(self, *_: Any, **__: Any) -> Anything:
        return self

    def __iter__(self) -> Iterator[Any]:
        return iter(())


class OnceThis(str):
    """Text that is something else for whoever asks by ``str()``."""

    __slots__ = ()

    def __str__(self) -> str:
        return "read_file"

    def __eq__(self, other: object) -> bool:
        return True

    def __hash__(self) -> int:
        return hash("read_file")


class Claims:
    """No text at all, and looks like the name of an allowed tool."""

    def __str__(self) -> str:
        return "read_file"


class EndlessMapping(Mapping[str, Any]):
    """A mapping that isn't a dict, and holds itself under every key."""

    def __getitem__(self, key: str) -> Any:
        return self

    def __iter__(self) -> Iterator[str]:
        return iter(WORDS)

    def __len__(self) -> int:
        return len(WORDS)


WORDS = ("path", "file_path", "content", "mode", "patch", "name", "arguments", "calls", "messages", "role", "tools", "input",
         "function", "goal", "tasks", "action", "context", "mode_slug", "reason", "summary", "toolConfig", "text", "type",
         "model", "api_content", "output_path", "pattern", "cache_control")
"""Keys that somebody reads somewhere."""


def _own_child(kind: type) -> Any:
    if kind is list:
        rows: list[Any] = []
        rows += [rows, {"role": "user", "content": rows}]
        return rows
    table: dict[str, Any] = {}
    table.update(dict.fromkeys(WORDS, table), calls=[table], messages=[table], tasks=[table], tools=[table], content=[table])
    return table


def _nested(kind: type) -> Any:
    inner: Any = kind()
    for _ in range(1500):
        inner = [inner] if kind is list else {"arguments": inner}
    return inner


MADE = [
    *(hostile(object, names) for names in (
        "str repr", "repr", "eq", "hash", "getattr", "iter", "len", "bool", "str repr eq hash getattr iter len bool ne lt",
        "getattribute", "deepcopy reduce_ex", "contains getitem", "format", "fspath", "int index")),
    *(hostile(str, names, "new") for names in (
        "str repr", "eq ne", "hash", "len", "bool", "eq ne hash len bool str repr iter contains getitem", "getattribute", "add")),
    *(hostile(dict, names) for names in ("getitem iter len bool contains eq", "getattribute")),
    *(hostile(list, names, [{"role": "user", "content": "x"}]) for names in ("iter len bool getitem", "getattribute")),
    hostile(int, "eq ne hash str bool", 404),
    *(Made(f"{kind.__name__} in itself", lambda kind=kind: _own_child(kind)) for kind in (list, dict)),
    *(Made(f"{kind.__name__} 1,500 deep", lambda kind=kind: _nested(kind)) for kind in (list, dict)),
    Made("huge text", lambda: "x" * HUGE), Made("huge lone surrogates", lambda: "\ud800" * HUGE),
    Made("huge control characters", lambda: "\x1b" * HUGE), Made("huge markup", lambda: "![[<img MEDIA:/a.png\n" * 4000),
    Made("huge bytes", lambda: b"\xff" * HUGE), Made("huge int", lambda: 10 ** 6000), Made("many lines", lambda: "\n" * HUGE),
    Made("3,000 keys", lambda: {f"k{number}": number for number in range(3000)}),
    Made("3,000 rows", lambda: [{"role": "user", "content": "x"}] * 3000),
    Made("anything", Anything), Made("endless mapping", EndlessMapping), Made("object", object), Made("type", lambda: dict),
    Made("once this", lambda: OnceThis("terminal")), Made("claims a name", Claims),
    Made("generator", lambda: (each for each in ())), Made("an exception", Boom), Made("set", lambda: {1, "a"}),
    Made("mixed keys", lambda: {1: 2, None: 3, ("a",): 4, b"path": 5}),
]
PLAIN = st.one_of(
    st.none(), st.booleans(), st.integers(-2, 500), st.floats(allow_nan=True), st.binary(max_size=4),
    st.text(max_size=12), st.text(st.characters(categories=["Cc", "Cf", "Cs", "Zl"]), max_size=6),
    st.sampled_from(["", "..", "/", "~", "/etc/x", "x" * 300, "child", "subagent", "cli", "gateway", "user", "assistant", "tool",
                     "session_boundary", "shutdown", "model_not_found", "plugin_rule:x", "spawn", "replace", "once", "deny",
                     "[mode: code] x", "[mode: nothing] x", "*** Update File: /etc/x", "read_file", "write_file", "patch",
                     "terminal", "tool_call", "delegate_task", "skill_view", "search_files", "text_to_speech", "submit_plan",
                     "switch_mode", "default", "none"]),
)
VALUES = st.one_of(st.sampled_from(MADE), PLAIN)
SHAPES = st.recursive(
    VALUES, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(WORDS), inner, max_size=5), max_leaves=6)

SEVERAL = ("tool_name", "args", "session_id", "task_id", "request", "platform", "model", "provider", "turn_id")
"""Names that hosts tell to more than one callback."""
HOST = (*SEVERAL, "tool_call_id", "api_request_id", "messages", "conversation_history", "user_message", "response_text", "event",
        "gateway", "reason", "status_code", "old_session_id", "new_session_id", "parent_session_id", "child_session_id",
        "child_goal", "pattern_key", "choice", "decided_by", "is_first_turn", "sender_id", "telemetry_schema_version",
        "original_args", "middleware_trace", "a_name_of_a_later_host")


def names_of(callback: Callable[..., Any]) -> list[str]:
    """What a callback may be told: its own parameters, and more where it says little of them.

    ``next_call`` is the host's own, and is no garbage.
    """
    own = [name for name, parameter in inspect.signature(callback).parameters.items()
           if parameter.kind in (parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY)]
    more = SEVERAL if len(own) < 2 else ()
    return list(dict.fromkeys(name for name in (*own, *more) if name not in ("self", "next_call")))


def kwargs_for(callback: Callable[..., Any]) -> st.SearchStrategy[dict[str, Any]]:
    """Keyword arguments for one callback: some are missing, and some it doesn't know."""
    return st.dictionaries(st.sampled_from(names_of(callback)) | st.sampled_from(HOST), SHAPES, max_size=8)


def made(value: Any) -> Any:
    """The value itself, with all that is in it."""
    if isinstance(value, Made):
        return value.make()
    if type(value) is list:
        return [made(each) for each in value]
    if type(value) is dict:
        return {key: made(each) for key, each in value.items()}
    return value


VERBS = ("on", "off", "approve", "reject", "show", "status", "info", "check", "trust", "model", "export", "import", "use",
         "reload", "help", "plan", "code", "ask", "", "nothing")
TYPED: tuple[str, ...] = (
    "x" * HUGE, "\ud800" * HUGE, "\x1b" * HUGE, "\n" * HUGE, "x " * HUGE, "![[<img MEDIA:/a.png\n" * 4000, "[" * 5000,
    "/a.b" * 5000, "\x00", "{", "NaN", "write_file {", "write_file NaN", "write_file " + "[" * 5000, "'", "..", "~nobody/x",
    "../../etc/passwd", "plan x y z", "plan \x00", "\x00 global --force", "--force --force", "--mode", "x --mode=nothing",
    "--mode " + "x" * HUGE, "plan " + "x" * HUGE, "plan " + "x" * 3000 + "/" + "y" * 300, "\u202e", "\u2060on", "code\x00",
    "x" * 200 + "\ud800")
"""What follows a verb, as a terminal or a chat could hand it on."""
LINES = st.one_of(
    st.builds(lambda *words: " ".join(words), st.sampled_from(VERBS), st.text(max_size=20)),
    st.builds(lambda verb, number: Made(f"{verb} TYPED[{number}]", lambda: f"{verb} {TYPED[number]}"),
              st.sampled_from(VERBS), st.integers(0, len(TYPED) - 1)),
    SHAPES,
)


def walked(value: Any) -> list[Any]:
    """What a value holds, by identity and in order: equal before and after only where nobody changed it. Compares nothing."""
    found: list[Any] = []
    seen: set[int] = set()
    waiting = [value]
    while waiting:
        each = waiting.pop()
        found.append((id(each), type(each)))
        if type(each) in (list, dict) and id(each) not in seen:
            seen.add(id(each))
            inner: Iterable[Any] = each if type(each) is list else [part for pair in each.items() for part in pair]
            held = list(inner)
            found.append(len(held))
            waiting += held
    return found
