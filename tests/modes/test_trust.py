"""What a person has vouched for is remembered by digest."""

from __future__ import annotations

import threading
from hashlib import sha256
from pathlib import Path

import pytest

from plan_mode.modes.trust import trust, trusted

DIGESTS = [sha256(bytes([number])).hexdigest() for number in range(12)]


def is_vouched(file: str, digest: str, slug: str = "a") -> bool:
    return digest in trusted(file).get(slug, ())


def test_remembered(tmp_path: Path) -> None:
    file = str(tmp_path / "data" / "trusted")
    assert not is_vouched(file, DIGESTS[0])
    trust(file, "a", DIGESTS[0])
    trust(file, "a", DIGESTS[1])
    trust(file, "a", DIGESTS[0])
    assert [is_vouched(file, digest) for digest in DIGESTS[:3]] == [True, True, False]
    assert Path(file).read_text().split() == ["a", DIGESTS[0], "a", DIGESTS[1]]
    assert not is_vouched(file, DIGESTS[0], "b")
    assert Path(file).stat().st_mode & 0o777 == 0o600


def test_what_an_interrupted_write_left_spoils_nothing(tmp_path: Path) -> None:
    file = tmp_path / "trusted"
    file.write_text(f"a {DIGESTS[0][:20]}")
    trust(str(file), "a", DIGESTS[1])
    assert not is_vouched(str(file), DIGESTS[0])
    assert is_vouched(str(file), DIGESTS[1])


@pytest.mark.parametrize("content", [
    b"", b"\xff\xfe\0", b"all\n*\n", f"a {DIGESTS[0].upper()}".encode(), f" a {DIGESTS[0]}".encode(), f"a  {DIGESTS[0]}".encode(),
    DIGESTS[0].encode(), f"a {DIGESTS[0]} ".encode(), f"* {DIGESTS[0]}".encode(),
])
def test_what_is_no_digest_vouches_for_nothing(tmp_path: Path, content: bytes) -> None:
    file = tmp_path / "trusted"
    file.write_bytes(content)
    assert not is_vouched(str(file), DIGESTS[0])


@pytest.mark.parametrize("digest", ["", "x", "0" * 63, "0" * 64 + "\n", DIGESTS[0] + "\n" + DIGESTS[1]])
def test_only_a_digest_can_be_trusted(tmp_path: Path, digest: str) -> None:
    with pytest.raises(ValueError, match="is no slug and digest"):
        trust(str(tmp_path / "trusted"), "a", digest)
    assert not (tmp_path / "trusted").exists()


def test_through_a_link_nothing_is_written(tmp_path: Path) -> None:
    (tmp_path / "trusted").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(OSError, match="symbolic links"):
        trust(str(tmp_path / "trusted"), "a", DIGESTS[0])
    assert not (tmp_path / "elsewhere").exists()


def test_at_the_same_time(tmp_path: Path) -> None:
    file = str(tmp_path / "trusted")
    threads = [threading.Thread(target=trust, args=(file, "a", digest)) for digest in DIGESTS]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert all(is_vouched(file, digest) for digest in DIGESTS)


@pytest.mark.parametrize("slug", ["", "a b", "a\n", "ä", "*"])
def test_only_of_a_slug(tmp_path: Path, slug: str) -> None:
    with pytest.raises(ValueError, match="is no slug and digest"):
        trust(str(tmp_path / "trusted"), slug, DIGESTS[0])
