"""Tables, format version and features: the one place that knows the store's SQL schema.

The format version is SQLite's `user_version`, with an `application_id` so that no other database is taken for a store.
Features are words in the table `feature`; one that is unknown here means that a newer pivcs wrote the store.
"""

from __future__ import annotations

from typing import Final

APPLICATION_ID: Final = 0x70697663
"""The letters `pivc`."""
FORMAT_VERSION: Final = 1
FEATURES: Final = frozenset[str]()
"""Features beyond version 1 that this pivcs understands."""

MOVED: Final = "moved to "
"""Begins the feature that a store gets when it has moved: its path follows. Such a file is about to be deleted."""

PAGE_SIZE: Final = 8192

TABLES: Final = """
CREATE TABLE feature (name TEXT PRIMARY KEY) WITHOUT ROWID;

CREATE TABLE session (
    id INTEGER PRIMARY KEY,
    key BLOB NOT NULL UNIQUE
);

-- A real path at which bytes of sessions were seen, or `git:...` for what came from a repository. `gone`: no file is
-- there now.
CREATE TABLE source (
    id INTEGER PRIMARY KEY,
    path BLOB NOT NULL UNIQUE,
    gone INTEGER NOT NULL DEFAULT 0
);

-- One generation of a source. `size` bytes are stored; complete lines end at `line_end`. `file_*` and `device`, `inode`
-- are what stat() said when the file was last read to its end. `probes` are digests of a few pieces of the file.
CREATE TABLE stream (
    id INTEGER PRIMARY KEY,
    source INTEGER NOT NULL REFERENCES source,
    generation INTEGER NOT NULL,
    session INTEGER REFERENCES session,
    size INTEGER NOT NULL,
    line_end INTEGER NOT NULL,
    row_count INTEGER NOT NULL,
    tail_start INTEGER NOT NULL,
    version1 INTEGER,
    last_row INTEGER,
    last_oid BLOB,
    conversation INTEGER,
    verified_size INTEGER NOT NULL,
    probes BLOB NOT NULL,
    file_size INTEGER NOT NULL,
    file_mtime INTEGER NOT NULL,
    file_ctime INTEGER NOT NULL,
    device INTEGER NOT NULL,
    inode INTEGER NOT NULL,
    summary BLOB NOT NULL,
    UNIQUE (source, generation)
);
CREATE INDEX stream_session ON stream (session);

CREATE TABLE chunk (
    id INTEGER PRIMARY KEY,
    hash BLOB NOT NULL UNIQUE,
    size INTEGER NOT NULL,
    codec INTEGER NOT NULL,
    data BLOB NOT NULL
);

CREATE TABLE stream_chunk (
    stream INTEGER NOT NULL REFERENCES stream,
    offset INTEGER NOT NULL,
    chunk INTEGER NOT NULL REFERENCES chunk,
    PRIMARY KEY (stream, offset)
) WITHOUT ROWID;
CREATE INDEX stream_chunk_chunk ON stream_chunk (chunk);

-- Bytes behind the last cut, in the pieces in which they came. `crc`: CRC-32 of the raw bytes.
CREATE TABLE tail (
    id INTEGER PRIMARY KEY,
    stream INTEGER NOT NULL REFERENCES stream,
    offset INTEGER NOT NULL,
    size INTEGER NOT NULL,
    codec INTEGER NOT NULL,
    crc INTEGER NOT NULL,
    data BLOB NOT NULL,
    UNIQUE (stream, offset)
);

-- Packed columns of `row_count` rows from `first_row` on. `crc`: CRC-32 of `data`.
CREATE TABLE segment (
    id INTEGER PRIMARY KEY,
    stream INTEGER NOT NULL REFERENCES stream,
    first_row INTEGER NOT NULL,
    row_count INTEGER NOT NULL,
    crc INTEGER NOT NULL,
    data BLOB NOT NULL,
    UNIQUE (stream, first_row)
);

-- The ids in full segments as sorted numbers, by their highest byte: says quickly that an id is new.
CREATE TABLE known_id (
    stream INTEGER NOT NULL REFERENCES stream,
    bucket INTEGER NOT NULL,
    ids BLOB NOT NULL,
    PRIMARY KEY (stream, bucket)
) WITHOUT ROWID;

-- Rows of nodes that have no child in their stream.
CREATE TABLE tip (
    stream INTEGER NOT NULL REFERENCES stream,
    row INTEGER NOT NULL,
    PRIMARY KEY (stream, row)
) WITHOUT ROWID;

-- Names of rows of a stream. `automatic`: found from the lines alone, not made or renamed by the user. `deleted`: the
-- user removed it, and it must not come back.
CREATE TABLE branch (
    stream INTEGER NOT NULL REFERENCES stream,
    name TEXT NOT NULL,
    row INTEGER NOT NULL,
    automatic INTEGER NOT NULL,
    deleted INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (stream, name)
) WITHOUT ROWID;
CREATE INDEX branch_row ON branch (stream, row);

-- What label entries say, in file order: the entry's row, the id of the entry that is labelled, and the text in UTF-8
-- (lone surrogates as three bytes), empty to clear.
CREATE TABLE label (
    stream INTEGER NOT NULL REFERENCES stream,
    row INTEGER NOT NULL,
    target BLOB NOT NULL,
    text BLOB NOT NULL,
    PRIMARY KEY (stream, row)
) WITHOUT ROWID;

CREATE TABLE tag (
    session INTEGER NOT NULL REFERENCES session,
    name TEXT NOT NULL,
    oid BLOB NOT NULL,
    PRIMARY KEY (session, name)
) WITHOUT ROWID;

-- One change of refs, whole. `kind` is `sync`, `user`, `undo` or `redo`; the latter two name what they are about.
CREATE TABLE operation (
    id INTEGER PRIMARY KEY,
    time INTEGER NOT NULL,
    kind TEXT NOT NULL,
    command TEXT NOT NULL,
    about INTEGER REFERENCES operation
);

-- `ref` is `branch` or `tag`, with object ids as `old` and `new`; or it says what was appended to the session file:
-- `label` and `session-name`, with texts, `position` and `entries`, with object ids; or `files` of a work tree, which
-- `kept_file` has. Null is where there was nothing. `stream` is null for a tag.
CREATE TABLE ref_change (
    operation INTEGER NOT NULL REFERENCES operation,
    session INTEGER NOT NULL REFERENCES session,
    stream INTEGER REFERENCES stream,
    ref TEXT NOT NULL,
    name TEXT NOT NULL,
    old BLOB,
    new BLOB,
    was_automatic INTEGER NOT NULL DEFAULT 0
);
CREATE INDEX ref_change_operation ON ref_change (operation);

-- The directory whose files an operation changed. `token` is in the names of its temporary files, which may be there
-- while it is `busy`: being done, undone or done again, or stopped in the middle of it.
CREATE TABLE kept_tree (
    operation INTEGER PRIMARY KEY REFERENCES operation,
    root BLOB NOT NULL,
    token TEXT NOT NULL,
    busy INTEGER NOT NULL
);

-- A file, symbolic link or directory below that directory, as it was before and was to be after: mode as stat() has it
-- (null: nothing was there) and content (null for a directory). `outcome` is `planned`, `done`, `changed` (it was not
-- touched: somebody was faster) or `failed`.
CREATE TABLE kept_file (
    operation INTEGER NOT NULL REFERENCES kept_tree,
    place INTEGER NOT NULL,
    path BLOB NOT NULL,
    old_mode INTEGER,
    old_content INTEGER REFERENCES kept_content,
    new_mode INTEGER,
    new_content INTEGER REFERENCES kept_content,
    outcome TEXT NOT NULL,
    PRIMARY KEY (operation, place)
) WITHOUT ROWID;

-- The bytes of a file, or what a symbolic link says. `hash`: their BLAKE3 digest.
CREATE TABLE kept_content (
    id INTEGER PRIMARY KEY,
    hash BLOB NOT NULL UNIQUE,
    size INTEGER NOT NULL
);

CREATE TABLE kept_piece (
    content INTEGER NOT NULL REFERENCES kept_content,
    offset INTEGER NOT NULL,
    chunk INTEGER NOT NULL REFERENCES chunk,
    PRIMARY KEY (content, offset)
) WITHOUT ROWID;
CREATE INDEX kept_piece_chunk ON kept_piece (chunk);

-- A work tree that was taken when HEAD was `oid`. The files are in the git repository beside the store, below the tree
-- object `tree`, which a ref with the number `id` keeps. `root` is the directory, `prefix` where the session's working
-- directory is below it. `deleted`: it was removed, 2: its files too. The number must not come back.
CREATE TABLE snapshot (
    id INTEGER PRIMARY KEY,
    session INTEGER NOT NULL REFERENCES session,
    oid BLOB,
    time INTEGER NOT NULL,
    message TEXT NOT NULL,
    tree BLOB NOT NULL,
    root BLOB NOT NULL,
    prefix BLOB NOT NULL,
    files INTEGER NOT NULL,
    deleted INTEGER NOT NULL DEFAULT 0
);
CREATE INDEX snapshot_session ON snapshot (session);

-- One row, once it was needed: 16 random bytes that tell this store from others in repositories that they share.
CREATE TABLE identity (id BLOB NOT NULL);

-- What another store, `store`, calls branches and tags of a session: the text of its `names.json`, as imported.
CREATE TABLE remote_names (
    session INTEGER NOT NULL REFERENCES session,
    store BLOB NOT NULL,
    data BLOB NOT NULL,
    PRIMARY KEY (session, store)
) WITHOUT ROWID;

-- A commit of a stream or of names that was taken from a repository, told by the real path of its common directory, and
-- the key of the session that it is about: sessions that came through a project's repository belong to the project.
CREATE TABLE taken (
    repository BLOB NOT NULL,
    ident BLOB NOT NULL,
    session BLOB NOT NULL,
    PRIMARY KEY (repository, ident, session)
) WITHOUT ROWID;

-- Records that must not be kept again, by their object id, wherever they come from. `time` and `entry_id` are theirs,
-- `content` is the digest of what they say: a copy of one has these, even where its object id is another.
CREATE TABLE forgotten (
    oid BLOB PRIMARY KEY,
    time INTEGER,
    entry_id BLOB,
    content BLOB
) WITHOUT ROWID;

-- Sessions of which nothing must be kept again.
CREATE TABLE forgotten_session (key BLOB PRIMARY KEY) WITHOUT ROWID;

-- Streams in repositories that hold something forgotten, by the first 8 bytes of their digest: they need not be read
-- again to know it.
CREATE TABLE forgotten_stream (
    session BLOB NOT NULL,
    digest BLOB NOT NULL,
    PRIMARY KEY (session, digest)
) WITHOUT ROWID;

-- Refs with something forgotten that a remote had when a repository asked it last.
CREATE TABLE forgotten_ref (
    repository BLOB NOT NULL,
    remote TEXT NOT NULL,
    name TEXT NOT NULL,
    PRIMARY KEY (repository, remote, name)
) WITHOUT ROWID;

-- Streams in repositories that hold nothing forgotten, by the commits of their refs: they need not be read again as
-- long as what is forgotten has the digest `state`.
CREATE TABLE forgotten_looked (commit_id BLOB PRIMARY KEY, state BLOB NOT NULL) WITHOUT ROWID;

-- One row as long as forgotten bytes may still stand in parts of the file, or of its log, that hold nothing any more.
CREATE TABLE erasure (since INTEGER NOT NULL);

-- How far a stream was looked through for secrets, with rules of which version, and what was found: a JSON list of
-- lists of row (null: none), rule, place, line, fingerprint and excerpt.
CREATE TABLE scan (
    stream INTEGER PRIMARY KEY REFERENCES stream,
    rules TEXT NOT NULL,
    row_count INTEGER NOT NULL,
    end INTEGER NOT NULL,
    secrets BLOB NOT NULL
);

-- Secrets that may leave the machine, by the fingerprint that findings have.
CREATE TABLE allowed_secret (
    fingerprint TEXT PRIMARY KEY,
    time INTEGER NOT NULL,
    note TEXT NOT NULL
) WITHOUT ROWID;

-- What happened to a source: `rewritten`, `truncated`, `gone`, `returned`, `moved`, `imported`.
CREATE TABLE event (
    id INTEGER PRIMARY KEY,
    time INTEGER NOT NULL,
    source INTEGER NOT NULL REFERENCES source,
    generation INTEGER,
    kind TEXT NOT NULL,
    detail TEXT NOT NULL
);
CREATE INDEX event_source ON event (source);
"""
