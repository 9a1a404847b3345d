-- Results that cron or CI posted: what a nightly shift says of an API, for people to see.
create table posted (
    id integer primary key,
    stream integer not null references stream (id),
    sha256 blob not null,            -- of the body: the same result sent again counts once
    at real not null,
    by text not null,
    verb text not null,
    about text not null,             -- what was measured, such as the API
    changed integer not null,        -- 1 where it is an alarm
    body text not null,              -- JSON, as the command line prints it
    unique (stream, sha256)
);
create index posted_stream on posted (stream, id);
