-- What the drift test may see of a row: its votes when its own settle time was over.
create table seen (
    stream integer not null references stream (id),
    row_id integer not null,
    pattern integer not null,
    primary key (stream, row_id)
) without rowid;
