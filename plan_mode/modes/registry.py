"""Every mode there is for a session: built-in, from config.yaml, from files of the home and of the project, in that order.

A later definition replaces an earlier one of the same slug whole. A project's is somebody else's text: it chooses no model,
hands nothing on to sub-agents, and takes the place of another mode only where it can't allow more, or where a person has
said that it may.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from hashlib import sha256
from types import MappingProxyType
from typing import Any, Final, Literal

from . import schema
from .builtin import BUILTIN
from .faults import Fault
from .model import Mode, definition_digest, widens
from .rules import Rules, read_rules
from .schema import ModeFile
from .sources import MOST_BYTES, Source, read_text, sources_of
from .trust import Trusted, trust, trusted

Origin = Literal["built-in", "home", "project"]

CONFIG: Final = "agent.modes in config.yaml"


@dataclass(frozen=True, slots=True)
class Known:
    """One mode as it counts. ``file`` is "" for a built-in; ``vouched`` whether it is the user's own text, or trusted."""

    mode: Mode
    origin: Origin = "built-in"
    file: str = ""
    vouched: bool = True


@dataclass(frozen=True, slots=True)
class Offered:
    """A project's definition whole, with its rules and the digest that stands for both."""

    known: Known
    rules: Rules
    digest: str


@dataclass(frozen=True, slots=True)
class Untrusted:
    """A project's definition that isn't used, because it would take the place of ``instead_of`` and may allow more.

    ``offered`` is what the project's file says, whole.
    """

    offered: Known
    instead_of: Known


@dataclass(frozen=True, slots=True)
class Listing:
    """The modes by slug, in the order in which people read them, and everything that was wrong with the files."""

    modes: Mapping[str, Known]
    untrusted: Mapping[str, Untrusted] = field(default_factory=dict)
    faults: tuple[Fault, ...] = ()
    warnings: tuple[Fault, ...] = ()


def digest_of(mode: Mode, rules: Rules) -> str:
    """SHA-256, in hexadecimal, of a definition and of the rules that are read beside it."""
    told = [definition_digest(mode), *(f"{rule.scope}\0{rule.name}\0{rule.text}" for rule in rules.texts)]
    return sha256("\0\0".join(told).encode("utf-8", "surrogatepass")).hexdigest()


class Registry:
    """The modes of one profile. Thread-safe: what is remembered is replaced whole, and made again at the worst.

    ``home`` and ``trusted_file`` are asked at each use; ``config_modes`` gives what config.yaml holds at ``agent.modes``.
    """

    def __init__(self, home: Callable[[], str], trusted_file: Callable[[], str], config_modes: Callable[[], Any]) -> None:
        self._home, self._trusted_file, self._config_modes = home, trusted_file, config_modes
        self._files: dict[str, tuple[tuple[int, ...], ModeFile]] = {}
        self._good: dict[str, Mapping[str, Mode]] = {}
        self._config: tuple[Any, ModeFile] = (None, ModeFile())

    def listing(self, project: str) -> Listing:
        """The modes of a session in ``project``. Files are looked at each time, and read when they are others than before."""
        modes: dict[str, Known] = {slug: Known(mode) for slug, mode in BUILTIN.items()}
        untrusted: dict[str, Untrusted] = {}
        faults: list[Fault] = []
        warnings: list[Fault] = []
        vouched = trusted(self._trusted_file())
        for origin, path, file in self._files_of(project):
            faults += file.faults
            warnings += file.warnings
            for mode in self._usable(path, file, faults):
                self._place(modes, untrusted, Known(mode, origin, path, origin != "project"), project, vouched)
        return Listing(MappingProxyType(modes), MappingProxyType(untrusted), tuple(faults), tuple(warnings))

    def offered(self, slug: str, project: str) -> Offered | None:
        """What a project says of that mode now, its rules included; None where nobody need vouch for anything."""
        offered = [Known(mode, origin, path, False) for origin, path, file in self._files_of(project) if origin == "project"
                   for mode in self._usable(path, file, []) if mode.slug == slug]
        if not offered or self._is_vouched(offered[-1].mode, project, trusted(self._trusted_file())):
            return None
        rules = self.rules(slug, project)
        return Offered(offered[-1], rules, digest_of(offered[-1].mode, rules))

    def vouch(self, offered: Offered) -> None:
        """Trust exactly that, whatever the files say by now. Raises OSError."""
        trust(self._trusted_file(), offered.known.mode.slug, offered.digest)

    def rules(self, slug: str, project: str) -> Rules:
        """The rules of a mode, as they are now."""
        return read_rules(slug, self._home(), project)

    def _files_of(self, project: str) -> Iterator[tuple[Origin, str, ModeFile]]:
        """(origin, path, content) of everything that defines modes, the weakest first."""
        config = self._config_modes()
        if config is not None:
            if self._config[0] is not config:
                self._config = (config, schema.modes_of(config, file=CONFIG, origin=CONFIG))
            yield "home", CONFIG, self._config[1]
        for source in sources_of(self._home(), project):
            yield source.scope, source.path, self._read(source)

    def _read(self, source: Source) -> ModeFile:
        known = self._files.get(source.path)
        if source.stray:
            return ModeFile(faults=(Fault(source.path, "it leads out of the project; it is left out"),))
        if known is not None and known[0] == source.seen:
            return known[1]
        file = read_mode_file(source.path)
        self._files[source.path] = (source.seen, file)
        return file

    def _usable(self, path: str, file: ModeFile, faults: list[Fault]) -> list[Mode]:
        """The modes of a file; those that it had and that are broken now stay as they were, and that is said."""
        current = {mode.slug: mode for mode in file.modes}
        whole = any(not fault.mode for fault in file.faults)
        broken = {fault.mode for fault in file.faults}
        before = self._good.get(path, {})
        kept = {slug: mode for slug, mode in before.items() if slug not in current and (whole or slug in broken)}
        faults += [Fault(path, "the definition that was read before it broke is still used", mode=slug,
                         hint="Mend the file, or remove the mode from it.") for slug in kept]
        self._good[path] = {**current, **kept}
        return list(self._good[path].values())

    def _place(self, modes: dict[str, Known], untrusted: dict[str, Untrusted], offered: Known, project: str,
               vouched: Trusted) -> None:
        """Let a definition take the place of the one before, if it may."""
        slug = offered.mode.slug
        before = modes.get(slug) or next((known for other, known in modes.items() if other.lower() == slug.lower()), None)
        untrusted.pop(slug, None)
        if offered.origin == "project":
            if self._is_vouched(offered.mode, project, vouched):
                offered = replace(offered, vouched=True)
            else:
                bare = replace(offered, mode=replace(offered.mode, model=None, child_mode=""))
                if before is not None and widens(before.mode, bare.mode):
                    untrusted[slug] = Untrusted(offered, before)
                    return
                offered = bare
        modes[slug] = offered

    def _is_vouched(self, mode: Mode, project: str, vouched: Trusted) -> bool:
        digests = vouched.get(mode.slug, frozenset())
        return bool(digests) and digest_of(mode, self.rules(mode.slug, project)) in digests


def read_mode_file(path: str) -> ModeFile:
    """What a mode file has come to, as it is now. Never raises."""
    try:
        text = read_text(path)
    except OSError as exc:
        return ModeFile(faults=(Fault(path, f"it can't be read ({exc.strerror or exc})"),))
    if len(text) > MOST_BYTES:
        return ModeFile(faults=(Fault(path, f"it is larger than {MOST_BYTES} bytes", hint="Make several files of it."),))
    return schema.read_modes(text, file=path, origin=path)
