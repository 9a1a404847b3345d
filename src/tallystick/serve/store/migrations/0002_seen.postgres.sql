-- What the drift test may see of a row: its votes when its own settle time was over.
create table seen (
    stream bigint not null references stream (id),
    row_id bigint not null,
    pattern bigint not null,
    primary key (stream, row_id)
);
