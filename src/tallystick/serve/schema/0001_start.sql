-- What the service keeps. One row per thing; JSON is text; times are seconds since 1970.
-- A line that ends in "--only ENGINE" is for that engine alone (tallystick.serve.database).

create table stream (
    id integer primary key autoincrement,  -- a number is never given twice
    name text not null unique,
    settings text not null,          -- JSON: see StreamSettings
    salt blob not null,              -- key of the hash `u`: nobody can foretell a draw
    version integer not null,        -- +1 per commit: cache key and ETag
    rows integer not null,
    created real not null
);

-- One request that was accepted: idempotency, raw log and audit in one row.
create table batch (
    seq integer primary key autoincrement,
    stream integer not null references stream (id),
    key text,                        -- Idempotency-Key
    sha256 blob not null,
    at real not null,
    by text not null,                -- id of the key that sent it
    n integer not null,
    new integer not null,
    changed integer not null,
    body blob                        -- the records, zlib; null when retention dropped them
);
create unique index batch_key on batch (stream, key);
create index batch_stream on batch (stream, seq);  --only postgres

create table stream_column (
    id integer primary key,
    stream integer not null references stream (id),
    name text not null,
    kind text not null,              -- vote, grade, label, slice
    unique (stream, name)
);

create table label_code (
    id integer primary key,
    stream_column integer not null references stream_column (id),
    label text not null,
    unique (stream_column, label)
);

-- The words of a row: its label codes in increasing order, four bytes each, little-endian.
create table pattern (
    id integer primary key,
    stream integer not null references stream (id),
    codes blob not null,
    unique (stream, codes)
);

-- The slices of a row, system included, as JSON with sorted keys.
create table slice (
    id integer primary key,
    stream integer not null references stream (id),
    body text not null,
    unique (stream, body)
);

create table rows (
    id integer primary key,  --only sqlite
    id bigint primary key,  --only postgres
    stream integer not null references stream (id),
    item text not null,
    system text not null,
    bucket integer not null,         -- hours since 1970 of the row's first `at`
    slice integer not null,
    pattern integer not null,
    u integer not null,              -- keyed hash of item and system: its place in any draw
    grades blob,                     -- (column id u32, value f64) in order of the column
    seq_first integer not null,
    seq_last integer not null
);
create unique index row_item on rows (stream, item, system);
create index row_bucket on rows (stream, bucket);

create table tally (
    stream integer not null,
    bucket integer not null,
    slice integer not null,
    pattern integer not null,
    n integer not null,
    primary key (stream, bucket, slice, pattern)
) without rowid;

-- What a labeller sees.
create table payload (
    row_id integer primary key,  --only sqlite
    row_id bigint primary key,  --only postgres
    body blob not null               -- JSON, zlib
);

-- What the drift test saw, once.
create table windows (
    stream integer not null references stream (id),
    idx integer not null,
    seq_from integer not null,
    seq_to integer,
    row_from integer not null,
    row_to integer,
    rows integer not null,
    opened real not null,
    full_at real,                    -- when the last row came: the settle time runs from here
    closed real,
    tally blob,                      -- Arrow
    result text,                     -- JSON of the question on this window
    change text,                     -- JSON of what the detectors say
    primary key (stream, idx)
);

-- How each label was chosen.
create table frame (
    id integer primary key,
    stream integer not null references stream (id),
    name text not null,
    question text not null,          -- JSON: verb and options
    span text,                       -- window expression, null for all rows
    as_of integer not null,          -- seq
    seed integer not null,
    budget integer not null,
    overlap real not null,           -- share of draws that two people read
    strata text not null,            -- JSON [{stratum, patterns, N, n, …}]
    state text not null,             -- open, closed
    created real not null
);
create index frame_stream on frame (stream, state);

create table draw (
    frame integer not null references frame (id),
    row_id integer not null,
    stratum integer not null,
    probability real not null,
    place integer not null,          -- order inside the frame, random
    readers integer not null,        -- how many people must read it
    lease_by text,
    lease_until real,
    state text not null,             -- open, answered, disagreed, skipped
    primary key (frame, row_id)
);
create index draw_open on draw (frame, state, place);

-- Never overwritten: a correction is a new row that supersedes the old one.
create table label (
    id integer primary key,
    row_id integer not null,
    stream integer not null references stream (id),
    annotator text not null,
    value text,                      -- null: retracted, or skipped with a reason
    reason text,
    note text,                       -- what the person adds for colleagues
    at real not null,
    seconds real,
    origin text not null,            -- draw, volunteered, imported
    frame integer,
    seq integer,                     -- the batch that carried it
    supersedes integer,
    current integer not null         -- 1 until superseded
);
create index label_row on label (row_id, current);
create index label_stream on label (stream, at);

create table alert (
    id integer primary key,
    stream integer,
    name text not null,
    what text not null,
    proves text not null,
    does_not_prove text not null,
    detail text not null,            -- JSON
    at real not null,
    seen real,
    seen_by text
);
create index alert_at on alert (at);

create table hook (
    id integer primary key,
    name text not null unique,
    url text not null,
    secret text not null,
    streams text not null,           -- JSON list, empty for all
    state text not null,             -- on, off
    created real not null
);

create table delivery (
    id text primary key,
    hook integer not null references hook (id),
    alert integer,
    body text not null,
    tries integer not null,
    next real,
    last_status integer,
    last_error text,
    done real,
    created real not null
);
create index delivery_next on delivery (next);

create table key (
    id text primary key,
    sha256 blob not null,
    role text not null,              -- read, write, label, admin
    name text not null,
    streams text not null,           -- JSON list, empty for all
    created real not null,
    last_used real,
    expires real,
    revoked real
);

create table session (
    id blob primary key,             -- SHA-256 of the cookie
    key text not null,               -- id of the key, or `local`
    role text not null,
    name text not null,
    streams text not null,
    csrf text not null,
    created real not null,
    expires real not null
);

create table job (
    id integer primary key,
    kind text not null,
    name text not null,              -- what it is about; '' for a job of the service itself
    args text not null,              -- JSON
    due real not null,
    lease_by text,
    lease_until real,
    fence integer not null,
    tries integer not null,
    last_error text,
    last_done real,
    unique (kind, name)
);
create index job_due on job (due);

-- Small facts of the service itself, such as since when raw rows are kept.
create table fact (
    name text primary key,
    value text not null
);

create sequence rows_id;  --only postgres
