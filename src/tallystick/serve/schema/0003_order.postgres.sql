-- Rows of a stream in the order of arrival: the drift test and last:N read the next or the last
-- few, and without it they would read them all.
create index row_order on rows (stream, id);
