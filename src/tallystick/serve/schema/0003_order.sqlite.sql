-- Rows of a stream in the order of arrival (SQLite ends every index with the id): the drift test
-- and last:N read the next or the last few, and without it they would read them all.
create index row_order on rows (stream);
