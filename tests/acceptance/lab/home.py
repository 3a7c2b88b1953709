"""A disposable home: a user's folder with a Hermes home, a project, and plugins installed."""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from .config import DEAD_END, merged, quiet_config
from .hosts import Host
from .plugins import FIXTURES, PLAN_MODE, install_checkout, install_fixture, install_source

_KEPT_VARIABLES = ("PATH", "LC_ALL", "TZ", "TMPDIR")
_PROXIES = tuple(f"{scheme}_proxy" for scheme in ("http", "https", "all"))


class Home:
    """One user's machine as Hermes sees it: ``user`` holds ``.hermes`` and ``project``.

    ``plugins`` are the installed and enabled ones, in order: plan-mode, those in ``fixtures``, and
    those of ``sources``, which maps the name of a test's own plugin to the text of its
    ``__init__.py``; one that ``plugins`` doesn't name comes last. ``settings`` are plan-mode's;
    ``extra`` is merged into config.yaml.
    """

    def __init__(
        self,
        host: Host,
        model_url: str,
        *,
        plugins: Sequence[str] = (PLAN_MODE,),
        sources: Mapping[str, str] | None = None,
        settings: Mapping[str, Any] | None = None,
        extra: Mapping[str, Any] | None = None,
    ) -> None:
        self.host = host
        self.user = Path(tempfile.mkdtemp(prefix="plan-mode-home-")).resolve()
        self.hermes_home = self.user / ".hermes"
        self.work = self.user / "project"
        self.work.mkdir()
        self._sources = dict(sources or {})
        names = [*plugins, *(name for name in self._sources if name not in plugins)]
        self._install(self.hermes_home, names)
        self.config = merged(quiet_config(model_url, names, self.work), extra or {})
        if settings:
            entry = {"entries": {PLAN_MODE: {"settings": dict(settings)}}}
            self.config = merged(self.config, {"plugins": entry})
        self.write_config()

    def _install(self, hermes_home: Path, names: Sequence[str]) -> None:
        folder = hermes_home / "plugins"
        folder.mkdir(parents=True, exist_ok=True)
        for name in names:
            if name in self._sources:
                install_source(folder, name, self._sources[name])
            elif name == PLAN_MODE:
                install_checkout(folder)
            elif name in FIXTURES:
                install_fixture(folder, name)
            else:
                raise ValueError(f"no source for plugin {name!r}")

    def add_plugin(self, name: str) -> None:
        """Install and enable one more plugin, unless it is there; before Hermes is started."""
        enabled = self.config["plugins"]["enabled"]
        if name not in enabled:
            self._install(self.hermes_home, [name])
            enabled.append(name)
            self.write_config()

    def add_profile(self, name: str, extra: Mapping[str, Any] | None = None) -> Path:
        """Make a second profile with the same plugins and configuration; return its Hermes home.

        Give its name to ``tab(profile=...)``. ``extra`` is merged into its config.yaml.
        """
        folder = self.hermes_home / "profiles" / name
        self._install(folder, self.config["plugins"]["enabled"])
        _write_config(folder, merged(self.config, extra or {}))
        return folder

    def configure(self, changes: Mapping[str, Any]) -> None:
        """Merge changes into config.yaml; a running Hermes may or may not notice."""
        self.config = merged(self.config, changes)
        self.write_config()

    def write_config(self) -> None:
        """Write ``config`` to config.yaml; a running Hermes may or may not notice."""
        _write_config(self.hermes_home, self.config)

    @property
    def plans(self) -> Path:
        """The plan directory of a session started in ``work``."""
        return self.work / ".hermes" / "plans"

    def env(self, **more: str) -> dict[str, str]:
        """Return the whole environment of a Hermes process; outbound connections fail at once."""
        env = {name: os.environ[name] for name in _KEPT_VARIABLES if name in os.environ}
        env |= dict.fromkeys((*_PROXIES, *map(str.upper, _PROXIES)), DEAD_END)
        env |= dict.fromkeys(("no_proxy", "NO_PROXY"), "127.0.0.1,localhost,::1")
        env |= {
            "HOME": str(self.user),
            "HERMES_HOME": str(self.hermes_home),
            "HERMES_DISABLE_LAZY_INSTALLS": "1",
            # Below a pytest, 0.22 takes ~/.hermes for somebody's real home and stores no conversation.
            "HERMES_STATE_DB_GUARD_BYPASS": "1",
            "LANG": "C.UTF-8",
            "NO_COLOR": "1",
            "PYTHONDONTWRITEBYTECODE": "1",
            "TERM": "xterm-256color",
        }
        if self.host.shim:
            env["PYTHONPATH"] = str(self.host.shim)
        return env | more

    def remove(self) -> None:
        shutil.rmtree(self.user, ignore_errors=True)


def _write_config(hermes_home: Path, config: Mapping[str, Any]) -> None:
    text = json.dumps(config, indent=1)  # JSON is YAML
    (hermes_home / "config.yaml").write_text(text, encoding="utf-8")
    (hermes_home / "SOUL.md").write_text("You are a scripted test agent.\n")
