"""Key files and record files: whole or not at all, cached only as long as they are the same, read without a lock."""

from __future__ import annotations

import json
import os
import shutil
import socket
import stat
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from plan_mode.errors import LockTimeout, StateError
from plan_mode.state import store as store_module
from plan_mode.state.lock import locked
from plan_mode.state.record import Damaged, PlanFile, SessionRecord, blank, checksum, to_text
from plan_mode.state.store import Folder, Store, Writer

RECORD = replace(blank(), id="0123456789abcdef", mode="plan")
OTHER = replace(blank(), mode="code")


@pytest.fixture
def data_dir(tmp_path: Path) -> Path:
    return tmp_path / "home" / "data"


@pytest.fixture
def store(data_dir: Path) -> Store:
    return Store(lambda: str(data_dir))


def keep(store: Store, key: str, record: SessionRecord) -> Folder:
    with store.writing(create=True) as writer:
        writer.put_record(writer.folder, record)
        writer.put_key(writer.folder, writer.folder.hashed(key), record.id)
    return writer.folder


def age(*paths: str | Path) -> None:
    """Make files old enough to be cached. (Their ctime can't be set: time itself is moved on instead.)"""
    for path in paths:
        os.utime(path, (1, 1))


@pytest.fixture
def later(monkeypatch: pytest.MonkeyPatch) -> None:
    """A clock that is ahead: everything that is written now was written long ago."""
    monkeypatch.setattr(time, "time_ns", lambda: 2**62)


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of all files that were opened for reading."""
    names: list[str] = []
    real = store_module._read_file
    monkeypatch.setattr(store_module, "_read_file", lambda path: names.append(os.path.basename(path)) or real(path))
    return names


# -- nothing there

def test_before_the_first_record(store: Store, data_dir: Path) -> None:
    assert store.folders() == ()
    assert store.look_up("k") == []
    with store.writing() as writer:
        assert writer.folders == ()
    assert not data_dir.exists()


def test_a_folder_that_is_a_file(store: Store, data_dir: Path) -> None:
    data_dir.parent.mkdir()
    data_dir.touch()
    assert store.look_up("k") == []
    with pytest.raises(StateError), store.writing(create=True):
        pytest.fail("there is no folder to write to")


# -- reading back

def test_a_key_leads_to_its_record(store: Store) -> None:
    folder = keep(store, "k", RECORD)
    assert store.look_up("k") == [RECORD]
    assert store.look_up("another") == []
    assert store.record_id(folder, folder.hashed("k")) == RECORD.id
    assert store.load(folder, RECORD.id) == RECORD
    assert store.load(folder, OTHER.id) is None


def test_what_lies_on_disk_tells_no_key_and_is_private(store: Store, data_dir: Path) -> None:
    folder = keep(store, "id:secret-session", RECORD)
    names = sorted(os.listdir(folder.path))
    assert names == sorted([f"{folder.hashed('id:secret-session')}.key", f"{RECORD.id}.json"])
    for name in names:
        path = Path(folder.path, name)
        assert b"secret" not in path.read_bytes()
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(os.stat(folder.path).st_mode) == 0o700
    assert stat.S_IMODE(data_dir.stat().st_mode) == 0o700


def test_the_salt_is_in_the_folders_name_and_counts(store: Store) -> None:
    folder = keep(store, "k", RECORD)
    salt = os.path.basename(folder.path).removeprefix("sessions-")
    assert len(salt) == 32
    assert folder.salt == salt.encode()
    assert replace(folder, salt=b"another").hashed("k") != folder.hashed("k")
    assert folder.hashed("\ud800") != folder.hashed("?")


@pytest.mark.parametrize("name", ["sessions-", "sessions-" + "a" * 31, "sessions-" + "A" * 32, "sessions-" + "a" * 32 + ".bak",
                                  "sessions.lock", "state.json"])
def test_other_things_in_the_data_folder(name: str, store: Store, data_dir: Path) -> None:
    (data_dir / name).mkdir(parents=True)
    assert store.folders() == ()
    keep(store, "k", RECORD) if name != "sessions.lock" else None
    assert len(store.folders()) == (name != "sessions.lock")


# -- the cache

def test_an_unchanged_file_is_read_once(store: Store, later: None, opened: list[str]) -> None:
    keep(store, "k", RECORD)
    opened.clear()
    for _ in range(5):
        assert store.look_up("k") == [RECORD]
    assert len(opened) <= 2
    assert len(set(opened)) == len(opened)


def test_a_young_file_is_read_again(store: Store, opened: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    folder = keep(store, "k", RECORD)
    status = os.stat(folder.record_path(RECORD.id))
    written = max(status.st_mtime_ns, status.st_ctime_ns)
    for after, reads in ((0, 2), (49_999_999, 2), (50_000_001, 1)):
        store._files.clear()
        opened.clear()
        monkeypatch.setattr(time, "time_ns", lambda after=after: written + after)
        for _ in range(2):
            assert store.load(folder, RECORD.id) == RECORD
        assert len(opened) == reads, after


def test_a_clock_that_was_set_back(store: Store, opened: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    folder = keep(store, "k", RECORD)
    monkeypatch.setattr(time, "time_ns", lambda: 1)
    opened.clear()
    for _ in range(2):
        assert store.load(folder, RECORD.id) == RECORD
    assert len(opened) == 2


@pytest.mark.usefixtures("later")
def test_what_another_process_writes_is_seen_at_once(store: Store, data_dir: Path) -> None:
    keep(store, "k", RECORD)
    assert store.look_up("k") == [RECORD]
    other_process = Store(lambda: str(data_dir))
    for changed in (replace(RECORD, mode="code"), replace(RECORD, mode="nope"), RECORD):
        keep(other_process, "k", changed)
        assert store.look_up("k") == [changed]
    with other_process.writing() as writer:
        writer.drop_record(writer.folder, RECORD.id)
    assert store.look_up("k") == []


@pytest.mark.usefixtures("later")
def test_a_file_changed_in_its_place_is_seen(store: Store) -> None:
    folder = keep(store, "k", RECORD)
    assert store.look_up("k") == [RECORD]
    path = Path(folder.record_path(RECORD.id))
    path.write_text(path.read_text().replace("plan", "code"))
    assert store.look_up("k") == [Damaged(str(path), "damaged")]


@pytest.mark.usefixtures("later")
def test_the_first_record_of_another_process_is_seen(store: Store, data_dir: Path) -> None:
    data_dir.mkdir(parents=True)
    assert store.look_up("k") == []
    keep(Store(lambda: str(data_dir)), "k", RECORD)
    assert store.look_up("k") == [RECORD]
    shutil.rmtree(data_dir)
    assert store.look_up("k") == []


@pytest.mark.usefixtures("later")
def test_each_profile_has_its_own(tmp_path: Path) -> None:
    current = ["one"]
    store = Store(lambda: str(tmp_path / current[0]))
    keep(store, "k", RECORD)
    current[0] = "two"
    assert store.look_up("k") == []
    keep(store, "k", OTHER)
    assert store.look_up("k") == [OTHER]
    current[0] = "one"
    assert store.look_up("k") == [RECORD]


@pytest.mark.usefixtures("later")
def test_the_cache_is_bounded(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store_module, "_MOST_CACHED", 10)
    for number in range(40):
        keep(store, str(number), replace(blank(), mode="plan"))
        assert store.look_up(str(number))
        assert len(store._files) <= 10


def test_the_cost_doesnt_depend_on_other_sessions(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(30):
        keep(store, str(number), replace(blank(), mode="plan"))
    monkeypatch.setattr(time, "time_ns", lambda: 2**62)
    store.look_up("1"), store.look_up("nobody's")
    asked: list[str] = []
    real = os.stat
    monkeypatch.setattr(os, "stat", lambda path, **more: asked.append(str(path)) or real(path, **more))
    assert store.look_up("nobody's") == []
    assert len(asked) == 2  # the data folder, and the key that isn't there
    asked.clear()
    assert store.look_up("1")
    assert len(asked) == 3


# -- reading takes no lock

def test_reading_asks_for_no_lock(store: Store, lockless: Callable[[], None]) -> None:
    keep(store, "k", RECORD)
    lockless()
    assert store.look_up("k") == [RECORD]


def test_writing_waits_no_longer_than_the_bound(store: Store, data_dir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    keep(store, "k", RECORD)
    monkeypatch.setattr("plan_mode.state.store.locked", lambda path: locked(path, 0.05))
    with locked(str(data_dir / "sessions.lock")), pytest.raises(LockTimeout), store.writing():
        pytest.fail("the lock was given to two")


def test_a_key_that_is_pointed_elsewhere_while_it_is_read(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of two records that meet, the loser is removed: a reader between key and record must not find nothing."""
    keep(store, "k", OTHER)
    real, once = Store.load, [True]

    def load(self: Store, folder: Folder, record_id: str) -> object:
        if once.pop() if once else False:
            with store.writing() as writer:
                writer.put_record(folder, RECORD)
                writer.put_key(folder, folder.hashed("k"), RECORD.id)
                writer.drop_record(folder, OTHER.id)
        return real(self, folder, record_id)

    monkeypatch.setattr(Store, "load", load)
    assert store.look_up("k") == [RECORD]


def test_readers_never_see_half_of_a_write(store: Store) -> None:
    """Two records take turns under one key while others read: each look finds one of them, whole."""
    keep(store, "k", RECORD)
    stop, seen, wrong = threading.Event(), set(), []

    def read() -> None:
        while not stop.is_set():
            found = store.look_up("k")
            seen.update(each.id for each in found if isinstance(each, SessionRecord))
            if found not in ([RECORD], [OTHER]):
                wrong.append(found)

    readers = [threading.Thread(target=read) for _ in range(3)]
    for reader in readers:
        reader.start()
    for number in range(60):
        record, gone = ((OTHER, RECORD), (RECORD, OTHER))[number % 2]
        with store.writing() as writer:
            writer.put_record(writer.folder, record)
            writer.put_key(writer.folder, writer.folder.hashed("k"), record.id)
            writer.drop_record(writer.folder, gone.id)
    stop.set()
    for reader in readers:
        reader.join()
    assert not wrong
    assert seen


# -- writing

def test_a_failed_write_leaves_the_old_record(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = keep(store, "k", RECORD)

    def fail(*_: object) -> None:
        raise OSError(28, "No space left on device")

    for name in ("write", "fsync", "replace"):
        with monkeypatch.context() as patch, store.writing() as writer:
            patch.setattr(os, name, fail)
            with pytest.raises(StateError) as caught:
                writer.put_record(folder, replace(RECORD, mode="code"))
            with pytest.raises(StateError):
                writer.put_key(folder, folder.hashed("new"), RECORD.id)
        assert caught.value.path == folder.record_path(RECORD.id)
        assert caught.value.cause == "No space left on device"
    assert store.look_up("k") == [RECORD]
    assert store.look_up("new") == []
    assert len(os.listdir(folder.path)) == 2


def test_a_short_write_is_continued(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    real = os.write
    monkeypatch.setattr(os, "write", lambda descriptor, data: real(descriptor, data[:7]))
    keep(store, "k", RECORD)
    assert store.look_up("k") == [RECORD]


def test_a_folder_that_cant_be_synced(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    real = os.fsync

    def only_files(descriptor: int) -> None:
        if stat.S_ISDIR(os.fstat(descriptor).st_mode):
            raise OSError(22, "Invalid argument")
        real(descriptor)

    monkeypatch.setattr(os, "fsync", only_files)
    keep(store, "k", RECORD)
    assert store.look_up("k") == [RECORD]


def test_a_record_that_couldnt_be_read_back_isnt_written(store: Store) -> None:
    folder = keep(store, "k", RECORD)
    huge = replace(RECORD, plans=tuple(PlanFile(f"/{number}/" + "x" * 5000, "d", 1.0) for number in range(64)))
    with store.writing() as writer, pytest.raises(StateError, match="larger than 262144 bytes"):
        writer.put_record(folder, huge)
    assert store.look_up("k") == [RECORD]


def test_gone_is_gone(store: Store) -> None:
    keep(store, "k", RECORD)
    with store.writing() as writer:
        hashed = writer.folder.hashed("k")
        for _ in range(2):
            assert writer.drop_record(writer.folder, RECORD.id)
            assert writer.drop_key(writer.folder, hashed)
    assert os.listdir(writer.folder.path) == []


def test_a_key_without_its_record_means_nothing_and_is_removed(store: Store) -> None:
    keep(store, "k", RECORD)
    with store.writing() as writer:
        hashed = writer.folder.hashed("k")
        writer.drop_record(writer.folder, RECORD.id)
        assert store.look_up("k") == []
        assert writer.pointed_to(writer.folder, hashed) == RECORD.id
        assert writer.find(writer.folder, hashed) is None
    assert os.listdir(writer.folder.path) == []


def test_seen_at_most_once_a_day(store: Store) -> None:
    folder = keep(store, "k", RECORD)
    path = folder.record_path(RECORD.id)
    with store.writing() as writer:
        for age_in_hours, touched in ((1, False), (25, True)):
            then = time.time() - age_in_hours * 3600
            os.utime(path, (then, then))
            writer.touch(folder, RECORD.id)
            assert (os.stat(path).st_mtime > then + 60) is touched
        writer.touch(folder, "0" * 16)
    assert store.look_up("k") == [RECORD]


# -- two folders

def test_two_folders_are_both_searched(store: Store, data_dir: Path) -> None:
    keep(store, "k", RECORD)
    second = Folder(str(data_dir / ("sessions-" + "f" * 32)), b"f" * 32)
    os.mkdir(second.path)
    assert store.look_up("k") == [RECORD]
    with store.writing() as writer:
        assert len(writer.folders) == 2
        writer.put_record(second, OTHER)
        writer.put_key(second, second.hashed("k"), OTHER.id)
    assert {each.id for each in store.look_up("k") if isinstance(each, SessionRecord)} == {RECORD.id, OTHER.id}
    with store.writing(create=True) as writer:
        assert len(writer.folders) == 2


# -- damage

def a_link(path: Path) -> None:
    path.symlink_to(path.with_suffix(".saved"))


def a_dangling_link(path: Path) -> None:
    path.symlink_to("nowhere")


def a_link_to_itself(path: Path) -> None:
    path.symlink_to(path.name)


def a_pipe(path: Path) -> None:
    os.mkfifo(path)


def a_socket(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as server:
        os.chdir(path.parent)  # its name may be too long for a socket
        server.bind(path.name)


def something_large(path: Path) -> None:
    with path.open("wb") as file:
        file.truncate(2**34)


def text_and_more(path: Path) -> None:
    path.write_bytes(path.with_suffix(".saved").read_bytes() + b"\n")


# What may stand in the place of a key file or of a record.
IN_ITS_PLACE: list[Callable[[Path], object]] = [
    a_link, a_dangling_link, a_link_to_itself, a_pipe, a_socket, something_large, text_and_more, Path.mkdir, Path.touch,
    lambda path: path.write_bytes(b"\xff\xfe\x00"), lambda path: path.write_bytes(os.urandom(500)),
]


@pytest.mark.parametrize("of", ["key", "record"])
@pytest.mark.parametrize("put", IN_ITS_PLACE, ids=lambda put: put.__name__)
def test_something_else_in_its_place(put: Callable[[Path], object], of: str, store: Store,
                                     monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir("/")
    folder = keep(store, "k", RECORD)
    path = Path(folder.key_path(folder.hashed("k")) if of == "key" else folder.record_path(RECORD.id))
    path.rename(path.with_suffix(".saved"))
    put(path)
    open_before = len(os.listdir("/proc/self/fd"))
    for clock in (time.time_ns, lambda: 2**62, lambda: 2**62):
        monkeypatch.setattr(time, "time_ns", clock)
        assert store.look_up("k") == [Damaged(str(path), "damaged")]
        assert store.look_up("another") == []
    assert len(os.listdir("/proc/self/fd")) == open_before


def test_a_file_that_may_not_be_read_is_damaged(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = keep(store, "k", RECORD)

    def refuse(path: str) -> object:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(store_module, "_read_file", refuse)
    assert store.look_up("k") == [Damaged(folder.key_path(folder.hashed("k")), "damaged")]
    assert store.look_up("another") == []


@pytest.mark.parametrize("text", ["", "x", "\n", f"{RECORD.id}\n", f"{RECORD.id}\n{checksum('x')}\n",
                                  f"../../{RECORD.id}\n{checksum(f'../../{RECORD.id}')}\n", f"\n{checksum('')}\n"])
def test_a_key_file_that_is_none(text: str, store: Store) -> None:
    folder = keep(store, "k", RECORD)
    path = Path(folder.key_path(folder.hashed("k")))
    path.write_text(text)
    assert store.look_up("k") == [Damaged(str(path), "damaged")]
    with store.writing() as writer:
        assert writer.pointed_to(folder, folder.hashed("k")) is None


def test_a_newer_version(store: Store) -> None:
    folder = keep(store, "k", RECORD)
    body = json.dumps(json.loads(to_text(RECORD).split("\n")[0]) | {"version": 2, "surprise": [1]})
    path = Path(folder.record_path(RECORD.id))
    path.write_text(f"{body}\n{checksum(body)}\n")
    assert store.look_up("k") == [Damaged(str(path), "newer")]


@pytest.mark.parametrize("what", ["data folder", "state folder"])
def test_an_unreadable_folder(what: str, store: Store, data_dir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = keep(store, "k", RECORD)
    hidden = str(data_dir) if what == "data folder" else folder.key_path("")[:-4]
    real = os.stat

    def refuse(path: str, **more: object) -> object:
        if str(path).startswith(hidden):
            raise PermissionError(13, "Permission denied")
        return real(path, **more)  # type: ignore[arg-type]

    monkeypatch.setattr(os, "stat", refuse)
    with pytest.raises(StateError) as caught:
        store.look_up("k")
    assert caught.value.cause == "Permission denied"
    assert str(data_dir) in str(caught.value)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_folder_without_permissions(store: Store, data_dir: Path) -> None:
    folder = keep(store, "k", RECORD)
    os.chmod(folder.path, 0)
    try:
        with pytest.raises(StateError):
            store.look_up("k")
        with store.writing() as writer, pytest.raises(StateError):
            writer.put_record(folder, RECORD)
    finally:
        os.chmod(folder.path, 0o700)


def test_the_writer_is_no_more_than_the_store(store: Store) -> None:
    keep(store, "k", RECORD)
    with store.writing() as writer:
        assert isinstance(writer, Writer)
        assert writer.load(writer.folder, RECORD.id) == RECORD
        assert writer.follow(writer.folder, writer.folder.hashed("k")) == RECORD
