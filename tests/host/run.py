"""Runs pytest inside a host's own Python: <venvs>/hermes-0.22/bin/python tests/host/run.py [pytest arguments].

pytest and its plugins come from the environment `dev`, found by PLAN_MODE_VENVS, else in .venv. Only what the host lacks is
taken from there, so that the host runs with the packages it was installed with.
"""

import os
import sys
import sysconfig
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

# What plan-mode itself needs at run time isn't lent: where the host lacks it, the tests must see that.
NOT_LENT = {"yaml", "_yaml", "pyyaml.dist-info"}


def development_packages() -> Path:
    venvs = Path(os.environ.get("PLAN_MODE_VENVS") or ROOT / ".venv")
    packages = venvs / "dev" / "lib" / f"python{sys.version_info.major}.{sys.version_info.minor}" / "site-packages"
    if not (packages / "pytest").is_dir():
        sys.exit(f"There is no pytest in {packages}: `make host` installs it, for the Python that it runs.")
    return packages


def link_missing(source: Path, folder: Path) -> None:
    """Fill `folder` with links to the packages in `source` that this Python doesn't have.

    The end of sys.path alone isn't enough: the workers of pytest-xdist put the folder they were loaded from first for a while.
    """
    there = {project(entry.name) for entry in Path(sysconfig.get_path("purelib")).iterdir()}
    for entry in source.iterdir():
        if project(entry.name) not in there | NOT_LENT:
            (folder / entry.name).symlink_to(entry)


def project(entry: str) -> str:
    """The name without a version: what the host has in another version isn't missing."""
    return entry.partition("-")[0].lower() + ".dist-info" if entry.endswith(".dist-info") else entry


def main(arguments: list[str]) -> int:
    # This folder, put first by Python, would hide modules of the host that are named like a file in it.
    sys.path.remove(str(Path(__file__).resolve().parent))
    os.chdir(ROOT)
    with tempfile.TemporaryDirectory(prefix="plan-mode-pytest-") as folder:
        link_missing(development_packages(), Path(folder))
        sys.path.append(folder)
        import pytest

        # Warnings of the host are its own affair; ours are errors, under whichever name the host has loaded us.
        warnings = "filterwarnings=ignore\nerror:::.*\\bplan_mode\\b"
        return pytest.main(["-o", warnings, *(arguments or ["tests/host"])])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
