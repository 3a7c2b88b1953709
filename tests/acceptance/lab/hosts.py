"""Where the hosts are: one virtual environment for each Hermes version we support."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[3]
VENVS_VARIABLE = "PLAN_MODE_VENVS"
_SHIM = Path(__file__).resolve().parent / "shims" / "path_in_builtins"

#: Every host the acceptance tests run on, newest first.
HOSTS = ("0.22", "0.19")


class MissingHost(RuntimeError):
    """The virtual environment of a host isn't there.

    Attributes: ``version`` and ``venv``, the folder that was looked for.
    """

    def __init__(self, version: str, venv: Path) -> None:
        self.version = version
        self.venv = venv
        super().__init__(
            f"Hermes {version} is not installed in {venv}: run `make test` or `make demo`, "
            f"or set {VENVS_VARIABLE} to the folder that holds hermes-{version}"
        )


@dataclass(frozen=True)
class Host:
    """One installed Hermes."""

    version: str
    venv: Path

    @property
    def hermes(self) -> str:
        return str(self.venv / "bin" / "hermes")

    @property
    def python(self) -> str:
        return str(self.venv / "bin" / "python")

    @property
    def shim(self) -> Path | None:
        """The folder to put on PYTHONPATH so that all of this host starts, if it needs one."""
        pattern = "lib/python3.1[123]/site-packages/tui_gateway/methods_onboarding.py"
        return _SHIM if any(self.venv.glob(pattern)) else None


def find_host(version: str) -> Host:
    """Return the host of that version, e.g. ``"0.22"``.

    Raises MissingHost if its environment has no ``hermes``; installs nothing.
    """
    folder = Path(os.environ.get(VENVS_VARIABLE) or REPOSITORY / ".venv")
    host = Host(version, folder.absolute() / f"hermes-{version}")
    if not os.access(host.hermes, os.X_OK):
        raise MissingHost(version, host.venv)
    return host
