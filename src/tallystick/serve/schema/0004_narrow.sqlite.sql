-- Nobody read the last batch of a row.
alter table rows drop column seq_last;
