"""What refs are called (`docs/git-bridge.md`, "Names of refs"): any text as one component of a ref that git takes on
every file system, and the refs that streams, names and branches have."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Final, NamedTuple

from blake3 import blake3

from pivcs.objects.oid import DIGEST_SIZE

LIMIT: Final = 100
"""Bytes of an encoded component at most: file systems allow 255, and `.lock` and directories want their share."""
_HASH_DIGITS: Final = 8
_CUT: Final = "%-"
"""Stands before the hash of a component that was cut; no escape begins so."""
_EMPTY: Final = "%"

_PLAIN: Final = frozenset(b"abcdefghijklmnopqrstuvwxyz0123456789-_.")
_ESCAPES: Final = [chr(byte) if byte in _PLAIN else f"%{byte:02x}" for byte in range(256)]
_PIECES: Final = re.compile(r"%([0-9a-f]{2})|([a-z0-9_.-])")
_UNSAFE_DOT: Final = re.compile(r"^\.|(?<=\.)\.|\.$|\.(?=lock$)")
_DEVICE: Final = re.compile(r"^(?:con|prn|aux|nul|com[0-9]|lpt[0-9])(?=\.|$)")
"""Names that mean a device on Windows, with any ending."""

LABELS: Final = "label"
ENTRIES: Final = "entry"
SNAPSHOTS: Final = "snapshot"
TAGS: Final = "tag"
"""The components below which labels, entries without a name, snapshots and tags stand beside the branches of a
session."""
_TAKEN: Final = frozenset((LABELS, ENTRIES, SNAPSHOTS, TAGS))

ROOT: Final = "refs/pivcs/"
_REF: Final = re.compile(r"refs/pivcs/([0-9a-f]{64})/(?:s/([0-9a-f]{16})|names/([0-9a-f]{32}))")
_DATE: Final = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_UNDATED: Final = "undated"


def encode_component(text: str) -> str:
    """Return the component of a ref that stands for any text: ASCII, lower case, at most 100 bytes.

    Different texts have different components, also where a file system does not tell cases apart or normalises text;
    only what is cut at 100 bytes relies on its hash for that.
    """
    data = text.encode("utf-8", "surrogatepass")
    encoded = "".join([_ESCAPES[byte] for byte in data])
    encoded = _UNSAFE_DOT.sub("%2e", encoded)
    if encoded.startswith("-"):
        encoded = "%2d" + encoded[1:]
    if _DEVICE.match(encoded):
        encoded = f"%{ord(encoded[0]):02x}" + encoded[1:]
    if len(encoded) <= LIMIT:
        return encoded or _EMPTY
    head = encoded[: LIMIT - len(_CUT) - _HASH_DIGITS]
    broken = re.search(r"%[0-9a-f]?$", head)
    if broken is not None:
        head = head[: broken.start()]
    return head + _CUT + blake3(data).hexdigest()[:_HASH_DIGITS]


def decode_component(component: str) -> str | None:
    """Return the text that a component stands for; None when it was cut, or is no component that is made here."""
    if component == _EMPTY:
        return ""
    data = bytearray()
    at = 0
    while at < len(component):
        piece = _PIECES.match(component, at)
        if piece is None:
            return None
        data.append(int(piece[1], 16) if piece[1] is not None else ord(piece[2]))
        at = piece.end()
    try:
        text = data.decode("utf-8", "surrogatepass")
    except UnicodeDecodeError:
        return None
    return text if component in (encode_component(text), _branch_component(text)) else None


def _branch_component(name: str) -> str:
    """Return the component of a branch: as any other, but it keeps clear of the directories of labels and others."""
    encoded = encode_component(name)
    return f"%{ord(encoded[0]):02x}{encoded[1:]}" if encoded in _TAKEN else encoded


def session_folder(timestamp: str | None, key: bytes, taken: Mapping[str, bytes]) -> str:
    """Return what a session is called in a repository: the date of its header and the beginning of its key.

    `taken` has the folders that are there and the keys of their sessions; a folder of this session is used again.
    """
    if len(key) != DIGEST_SIZE:
        raise ValueError("a session key has 32 bytes")
    for folder, owner in taken.items():
        if owner == key:
            return folder
    found = _DATE.match(timestamp or "")
    date = found[0] if found is not None else _UNDATED
    digits = key.hex()
    for count in (8, 16, 32):
        if f"{date}-{digits[:count]}" not in taken:
            return f"{date}-{digits[:count]}"
    return f"{date}-{digits}"


def branch_ref(folder: str, name: str) -> str:
    """Return the ref of a branch in a review repository."""
    return f"refs/heads/{folder}/{_branch_component(name)}"


def label_ref(folder: str, label: str) -> str:
    """Return the ref of a label in a review repository."""
    return f"refs/heads/{folder}/{LABELS}/{encode_component(label)}"


def tag_ref(folder: str, name: str) -> str:
    """Return the ref of a tag in a review repository."""
    return f"refs/tags/{folder}/{encode_component(name)}"


def entry_ref(folder: str, entry: str) -> str:
    """Return the ref of an entry that has no other name, in a review repository."""
    return f"refs/heads/{folder}/{ENTRIES}/{encode_component(entry)}"


def snapshot_ref(folder: str, name: str) -> str:
    """Return the ref of a snapshot in a review repository."""
    return f"refs/heads/{folder}/{SNAPSHOTS}/{encode_component(name)}"


def stream_ref(key: bytes, digest: bytes) -> str:
    """Return the ref of a stream: `digest` is the BLAKE3 of its bytes."""
    return f"{ROOT}{key.hex()}/s/{digest.hex()[:16]}"


def names_ref(key: bytes, store_id: bytes) -> str:
    """Return the ref of the names that one store has for a session; a store id has 16 bytes."""
    return f"{ROOT}{key.hex()}/names/{store_id.hex()}"


def review_refs(key: bytes, folder: str) -> Callable[[str], str]:
    """Return what gives the refs that review commits have beside a session's streams, from those that they have in a
    review repository, where the session is called `folder`."""
    root = f"{ROOT}{key.hex()}/review/"

    def name(ref: str) -> str:
        branch = ref.removeprefix(f"refs/heads/{folder}/")
        return root + branch if branch != ref else f"{root}{TAGS}/{ref.removeprefix(f'refs/tags/{folder}/')}"

    return name


class PivcsRef(NamedTuple):
    """What a ref below `refs/pivcs/` says: of a stream (`stream` is the beginning of its digest in hex) or of names
    (`store` is the id of the store that wrote them, in hex)."""

    key: bytes
    stream: str | None
    store: str | None


def parse_pivcs_ref(name: str) -> PivcsRef | None:
    """Return what a ref is about; None when it is none of a stream or of names."""
    found = _REF.fullmatch(name)
    return PivcsRef(bytes.fromhex(found[1]), found[2], found[3]) if found is not None else None
