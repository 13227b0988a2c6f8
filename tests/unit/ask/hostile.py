"""Statements that must never become a question, each an attack somebody could try.

`{t}` is the table and `{n}` a number column, so that nothing but the attack is wrong with them.
"""

# ruff: noqa: S608 - these texts are what is tested

from __future__ import annotations

READ_FILES = """
SELECT COUNT(*) FROM read_csv('/etc/passwd')
SELECT COUNT(*) FROM read_csv_auto('/etc/passwd')
SELECT COUNT(*) FROM read_parquet('s3://bucket/{t}.parquet')
SELECT COUNT(*) FROM read_json('/proc/self/environ')
SELECT COUNT(*) FROM read_text('/etc/shadow')
SELECT COUNT(*) FROM read_blob('/etc/shadow')
SELECT COUNT(*) FROM sniff_csv('/etc/passwd')
SELECT COUNT(*) FROM parquet_metadata('{t}.parquet')
SELECT COUNT(*) FROM parquet_scan('{t}.parquet')
SELECT COUNT(*) FROM glob('/home/*')
SELECT COUNT(*) FROM '/etc/passwd'
SELECT COUNT(*) FROM "/etc/passwd"
SELECT COUNT(*) FROM '{t}'
SELECT COUNT(*) FROM '{t}.parquet'
SELECT COUNT(*) FROM 'https://example.org/x.csv'
SELECT COUNT(*) FROM sqlite_scan('ledger.db', 'entries')
SELECT COUNT(*) FROM postgres_scan('host=x', 'public', 'y')
SELECT COUNT(*) FROM iceberg_scan('x')
SELECT getenv('HOME') FROM {t}
SELECT COUNT(*) FROM {t} WHERE {n} < (SELECT COUNT(*) FROM read_csv('/etc/passwd'))
"""

WRITE_AND_LOAD = """
COPY {t} TO '/tmp/out.csv'
COPY (SELECT COUNT(*) FROM {t}) TO '/tmp/out.csv'
ATTACH 'ledger.db' AS l
DETACH l
INSTALL httpfs
LOAD httpfs
PRAGMA database_list
SET memory_limit = '1GB'
SET enable_external_access = true
RESET ALL
CALL pragma_version()
CREATE TABLE x AS SELECT COUNT(*) FROM {t}
CREATE OR REPLACE MACRO f() AS 1
CREATE VIEW v AS SELECT * FROM {t}
CREATE SECRET s (TYPE S3)
DROP TABLE {t}
ALTER TABLE {t} ADD COLUMN x INT
INSERT INTO {t} VALUES (1)
UPDATE {t} SET {n} = 0
DELETE FROM {t}
TRUNCATE {t}
MERGE INTO {t} USING u ON 1=1 WHEN MATCHED THEN DELETE
EXPORT DATABASE '/tmp/x'
IMPORT DATABASE '/tmp/x'
VACUUM
CHECKPOINT
BEGIN
COMMIT
ROLLBACK
USE other
PREPARE q AS SELECT COUNT(*) FROM {t}
EXECUTE q
GRANT ALL ON {t} TO x
SELECT COUNT(*) INTO leaked FROM {t}
SELECT COUNT(*) FROM {t} INTO OUTFILE '/tmp/x'
SELECT nextval('s') FROM {t}
WITH x AS (INSERT INTO {t} VALUES (1) RETURNING *) SELECT COUNT(*) FROM x
WITH x AS (DELETE FROM {t} RETURNING *) SELECT COUNT(*) FROM x
"""

CATALOGUE = """
SHOW TABLES
SHOW ALL
DESCRIBE {t}
SUMMARIZE {t}
EXPLAIN SELECT COUNT(*) FROM {t}
EXPLAIN ANALYZE SELECT COUNT(*) FROM {t}
SELECT COUNT(*) FROM duckdb_tables()
SELECT COUNT(*) FROM duckdb_settings()
SELECT COUNT(*) FROM information_schema.tables
SELECT COUNT(*) FROM pg_catalog.pg_class
SELECT COUNT(*) FROM sqlite_master
SELECT COUNT(*) FROM pragma_table_info('{t}')
SELECT COUNT(*) FROM pragma_storage_info('{t}')
SELECT COUNT(*) FROM main.{t}
SELECT COUNT(*) FROM memory.main.{t}
SELECT COUNT(*) FROM other
SELECT current_setting('memory_limit') FROM {t}
SELECT version() FROM {t}
SELECT current_user FROM {t}
SELECT current_schema() FROM {t}
SELECT txid_current() FROM {t}
SELECT COUNT(*) FROM query('SELECT 1')
SELECT COUNT(*) FROM query_table('{t}')
SELECT estimated_size FROM duckdb_tables
"""

ROWS_THEMSELVES = """
SELECT * FROM {t}
SELECT {n} FROM {t}
SELECT {n} FROM {t} LIMIT 1
SELECT {n}, COUNT(*) FROM {t} GROUP BY {n}
SELECT {n}, COUNT(*) FROM {t} GROUP BY ALL
SELECT DISTINCT {n} FROM {t}
SELECT DISTINCT ON ({n}) {n} FROM {t}
SELECT ANY_VALUE({n}) FROM {t}
SELECT FIRST({n}) FROM {t}
SELECT LAST({n}) FROM {t}
SELECT MIN({n}, 3) FROM {t}
SELECT MAX({n}, 3) FROM {t}
SELECT MIN(DISTINCT {n}) FROM {t}
SELECT COUNT(DISTINCT {n}, {n}) FROM {t}
SELECT COUNT(DISTINCT *) FROM {t}
SELECT QUANTILE({n}, 0) FROM {t}
SELECT QUANTILE({n}, {n}) FROM {t}
SELECT QUANTILE({n}, [0.1, 0.9]) FROM {t}
SELECT PERCENTILE_CONT(0.5) WITHIN GROUP (ORDER BY {n}, {n}) FROM {t}
SELECT PERCENTILE_CONT(0.5) WITHIN GROUP (ORDER BY {n} NULLS FIRST) FROM {t}
SELECT PERCENTILE_CONT(0.5) FROM {t}
SELECT PERCENTILE_DISC(0.5) WITHIN GROUP (ORDER BY {n}) FROM {t}
SELECT CORR({n}, 1) FROM {t}
SELECT COVAR_POP({n}, (SELECT 1)) FROM {t}
SELECT MAX({n}) OVER () FROM {t}
SELECT ARG_MAX({n}, {n}) FROM {t}
SELECT MODE({n}) FROM {t}
SELECT HISTOGRAM({n}) FROM {t}
SELECT LIST({n}) FROM {t}
SELECT ARRAY_AGG({n}) FROM {t}
SELECT STRING_AGG({n}, ',') FROM {t}
SELECT GROUP_CONCAT({n}) FROM {t}
SELECT BIT_XOR({n}) FROM {t}
SELECT PRODUCT({n}) FROM {t}
SELECT APPROX_COUNT_DISTINCT({n}) FROM {t}
SELECT RESERVOIR_QUANTILE({n}, 0.5) FROM {t}
SELECT COUNT(*), {n} FROM {t}
SELECT SUM({n}) OVER () FROM {t}
SELECT SUM({n}) OVER (ORDER BY {n} ROWS 1 PRECEDING) FROM {t}
SELECT COUNT(*) FROM {t} QUALIFY ROW_NUMBER() OVER () = 1
SELECT COUNT(*) FROM {t} WINDOW w AS (PARTITION BY {n})
SELECT LAG({n}) OVER (ORDER BY {n}) FROM {t}
SELECT COLUMNS(*) FROM {t}
SELECT COUNT(*) FROM {t} USING SAMPLE 1 ROWS
SELECT COUNT(*) FROM {t} TABLESAMPLE RESERVOIR(1)
SELECT COUNT(*) FROM {t} ORDER BY {n} LIMIT 1 OFFSET 5
SELECT rowid FROM {t}
SELECT COUNT(rowid) FROM {t}
SELECT COUNT(*) FROM {t} WHERE rowid = 0
SELECT COUNT(*) FROM {t} WHERE ctid = '(0,1)'
FROM {t}
FROM {t} SELECT COUNT(*)
TABLE {t}
"""

ERROR_CHANNEL = """
SELECT COUNT(*) FROM {t} WHERE 1 // ({n} - 17) > 0
SELECT COUNT(*) FROM {t} WHERE 1 / ({n} - 17) > 0
SELECT COUNT(*) FROM {t} WHERE {n} % 0 = 1
SELECT COUNT(*) FROM {t} WHERE CAST({n} AS TINYINT) > 0
SELECT COUNT(*) FROM {t} WHERE {n}::TINYINT > 0
SELECT COUNT(*) FROM {t} WHERE TRY_CAST({n} AS DATE) IS NULL
SELECT COUNT(*) FROM {t} WHERE error('seen') IS NULL
SELECT COUNT(*) FROM {t} WHERE CASE WHEN {n} = 17 THEN error('x') ELSE TRUE END
SELECT COUNT(*) FROM {t} WHERE IF({n} = 17, error('x'), TRUE)
SELECT COUNT(*) FROM {t} WHERE COALESCE({n}, error('x')) > 0
SELECT COUNT(*) FROM {t} WHERE EXP({n}) > 1
SELECT COUNT(*) FROM {t} WHERE POWER({n}, 9999) > 1
SELECT COUNT(*) FROM {t} WHERE {n} ** 9999 > 1
SELECT COUNT(*) FROM {t} WHERE SQRT(-{n}) > 1
SELECT COUNT(*) FROM {t} WHERE {n} = 'abc'
SELECT COUNT(*) FROM {t} WHERE {n} > DATE '2020-01-01'
SELECT COUNT(*) FROM {t} WHERE {n}
SELECT COUNT(*) FROM {t} WHERE -{n}
SELECT SUM({n} * 1e300) FROM {t}
SELECT MEDIAN({n} = 17) FROM {t}
SELECT SUM(1 / ({n} - 17)) FROM {t}
SELECT COUNT(*) / 0 FROM {t}
"""

SLOW_FOR_ONE_ROW = """
SELECT COUNT(*) FROM {t} WHERE REGEXP_MATCHES('aaaaaaaaaaaaaaaaaaaa', '(a+)+b')
SELECT COUNT(*) FROM {t} WHERE {n} = 17 AND (SELECT COUNT(*) FROM range(1000000000)) > 0
SELECT COUNT(*) FROM {t} WHERE {n} IN (SELECT * FROM range(1000000000))
SELECT COUNT(*) FROM {t} WHERE EXISTS (SELECT 1)
SELECT COUNT(*) FROM {t} WHERE {n} = ANY (SELECT 1)
SELECT COUNT(*) FROM {t} WHERE {n} > ALL (SELECT 1)
SELECT COUNT(*) FROM {t} WHERE REPEAT('x', 1000000) LIKE '%y'
SELECT COUNT(*) FROM {t} WHERE sleep({n}) IS NULL
SELECT COUNT(*) FROM {t} WHERE md5({n}) = 'x'
SELECT COUNT(*) FROM range(1000000000000)
SELECT COUNT(*) FROM generate_series(1, 1000000000000)
SELECT COUNT(*) FROM UNNEST([1, 2, 3])
SELECT COUNT(*) FROM (VALUES (1), (2))
SELECT COUNT(*) FROM repeat('x', 1000)
WITH RECURSIVE r AS (SELECT 1 AS x UNION ALL SELECT x + 1 FROM r) SELECT COUNT(*) FROM r
WITH RECURSIVE r AS (SELECT * FROM {t}) SELECT COUNT(*) FROM r
WITH r AS (SELECT * FROM r) SELECT COUNT(*) FROM r
WITH a AS (SELECT * FROM b), b AS (SELECT * FROM {t}) SELECT COUNT(*) FROM a
"""

MORE_THAN_ONE_TABLE = """
SELECT COUNT(*) FROM {t}, {t} AS u
SELECT COUNT(*) FROM {t} CROSS JOIN {t} AS u
SELECT COUNT(*) FROM {t} JOIN {t} AS u USING ({n})
SELECT COUNT(*) FROM {t} LEFT JOIN {t} AS u ON TRUE
SELECT COUNT(*) FROM {t} NATURAL JOIN {t} AS u
SELECT COUNT(*) FROM {t} POSITIONAL JOIN {t} AS u
SELECT COUNT(*) FROM {t} ASOF JOIN {t} AS u ON {t}.{n} >= u.{n}
SELECT COUNT(*) FROM {t} SEMI JOIN {t} AS u USING ({n})
SELECT COUNT(*) FROM {t}, LATERAL (SELECT 1)
SELECT COUNT(*) FROM {t} UNION ALL SELECT COUNT(*) FROM {t}
SELECT COUNT(*) FROM {t} EXCEPT SELECT 1
SELECT COUNT(*) FROM {t} INTERSECT SELECT 1
SELECT COUNT(*) FROM (SELECT * FROM {t} UNION ALL SELECT * FROM {t})
WITH a AS (SELECT * FROM {t} UNION ALL SELECT * FROM {t}) SELECT COUNT(*) FROM a
SELECT COUNT(*) FROM {t} PIVOT (SUM({n}) FOR {n} IN (1, 2))
SELECT COUNT(*) FROM {t} UNPIVOT (x FOR y IN ({n}))
PIVOT {t} ON {n}
SELECT COUNT(*) FROM (SELECT COUNT(*) AS c FROM {t}) WHERE c > 712344
SELECT COUNT(*) FROM (SELECT SUM({n}) AS s FROM {t})
SELECT COUNT(*) FROM (SELECT {n} FROM {t} LIMIT 5)
SELECT COUNT(*) FROM (SELECT {n} FROM {t} ORDER BY {n} LIMIT 1) WHERE {n} > 3
SELECT COUNT(*) FROM (SELECT DISTINCT {n} FROM {t})
SELECT COUNT(*) FROM (SELECT {n} FROM {t} GROUP BY {n})
SELECT COUNT(*) FROM (SELECT ROW_NUMBER() OVER () AS r FROM {t}) WHERE r = 1
SELECT COUNT(*) FROM (SELECT * EXCLUDE ({n}) FROM {t})
SELECT COUNT(*) FROM (SELECT * REPLACE (1 AS {n}) FROM {t})
SELECT (SELECT COUNT(*) FROM {t}) FROM {t}
SELECT COUNT(*) - (SELECT COUNT(*) FROM {t}) FROM {t}
SELECT COUNT(*) FROM {t} HAVING COUNT(*) > (SELECT 3)
"""

SEVERAL_STATEMENTS = """
SELECT COUNT(*) FROM {t}; DROP TABLE {t}
SELECT COUNT(*) FROM {t}; SELECT COUNT(*) FROM {t}
SELECT COUNT(*) FROM {t};COPY {t} TO '/tmp/x'
; SELECT COUNT(*) FROM {t}
SELECT COUNT(*) FROM {t} -- ; comment
 ; ATTACH 'x'
SELECT COUNT(*) FROM {t} /* ; */ ; LOAD x
SELECT COUNT(*) FROM {t} WHERE {n} = 1; --
 DELETE FROM {t}
SELECT /*+ NO_CACHE */ COUNT(*) FROM {t}
SELECT COUNT(*) FROM {t} /*+ PARALLEL(8) */
{{{{ config }}}} SELECT COUNT(*) FROM {t}
SELECT COUNT(*) FROM {t} |> WHERE {n} > 3
SELECT COUNT(*) FROM {t} WHERE {n} = ?
SELECT COUNT(*) FROM {t} WHERE {n} = $1
SELECT COUNT(*) FROM {t} WHERE {n} = :secret
SELECT COUNT(*) FROM {t} WHERE {n} = @secret
SELECT COUNT(*) FROM {t} WHERE {n} = $secret
"""

PASSED_OVER_BY_THE_PARSER = """
SELECT COUNT(ALL {n}) FROM {t}
SELECT ALL COUNT(*) FROM {t}
SELECT COUNT({n}, {n}) FROM {t}
SELECT SUM(DISTINCT {n}) FROM {t}
SELECT SUM({n} ORDER BY {n}) FROM {t}
SELECT SUM({n}) IGNORE NULLS FROM {t}
SELECT SUM({n}) WITHIN GROUP (ORDER BY {n}) FROM {t}
SELECT COUNT(*) * 0x1F FROM {t}
SELECT COUNT(*) * 1__0 FROM {t}
SELECT COUNT(*) * 10K FROM {t}
SELECT BIN({n}, 10), COUNT(*) FROM {t} GROUP BY DISTINCT BIN({n}, 10)
SELECT BIN({n}, 10), COUNT(*) FROM {t} GROUP BY 1 WITH ROLLUP
SELECT BIN({n}, 10), COUNT(*) FROM {t} GROUP BY 1 WITH CUBE
SELECT BIN({n}, 10), COUNT(*) FROM {t} GROUP BY 1 WITH TOTALS
SELECT BIN({n}, 10), COUNT(*) FROM {t} GROUP BY DISTINCT ROLLUP (BIN({n}, 10))
SELECT BIN({n}, 10), COUNT(*) FROM {t} GROUP BY ALL ROLLUP (BIN({n}, 10))
SELECT BIN({n}, 10), COUNT(*) FROM {t} GROUP BY ROLLUP (BIN({n}, 10), (SELECT 1))
SELECT BIN({n}, 10), COUNT(*) FROM {t} GROUP BY ROLLUP (BIN({n}, 10), {n})
SELECT BIN({n}, 10), COUNT(*) FROM {t} GROUP BY ROLLUP (BIN({n}, 10), COUNT(*))
SELECT BIN({n}, 10), COUNT(*) FROM {t} GROUP BY ROLLUP (BIN({n}, 10), RANDOM())
SELECT BIN({n}, 10), COUNT(*) FROM {t} GROUP BY ROLLUP (BIN({n}, 10)), CUBE (BIN({n}, 10))
SELECT BIN({n}, 10), COUNT(*) FROM {t} GROUP BY ROLLUP ()
SELECT BIN({n}, 10), COUNT(*) FROM {t} GROUP BY GROUPING SETS ()
SELECT BIN({n}, 10), COUNT(*) FROM {t} GROUP BY GROUPING SETS (())
SELECT BIN({n}, 10), COUNT(*) FROM {t} GROUP BY GROUPING SETS ((BIN({n}, 10)), (BIN({n}, 10)))
SELECT BIN({n}, 10), COUNT(*) FROM {t} GROUP BY GROUPING SETS ((BIN({n}, 10)), (SELECT 1), ())
SELECT BIN({n}, 10), COUNT(*), GROUPING(*) FROM {t} GROUP BY ROLLUP (BIN({n}, 10))
SELECT BIN({n}, 10), COUNT(*), GROUPING({n}) FROM {t} GROUP BY ROLLUP (BIN({n}, 10))
SELECT BIN({n}, 10), COUNT(*), GROUPING(COUNT(*)) FROM {t} GROUP BY ROLLUP (BIN({n}, 10))
SELECT BIN({n}, 10), COUNT(*), GROUPING(BIN({n}, 10)) OVER () FROM {t} GROUP BY CUBE (1)
SELECT BIN({n}, 10), COUNT(*), SUM(GROUPING(BIN({n}, 10))) FROM {t} GROUP BY ROLLUP (BIN({n}, 10))
SELECT BIN({n}, 10), COUNT(*), GROUPING(BIN({n}, 10)) FROM {t} GROUP BY 1
SELECT BIN({n}, 10), COUNT(*) FROM {t} WHERE GROUPING({n}) = 0 GROUP BY ROLLUP (BIN({n}, 10))
SELECT COUNT(*), ROLLUP (BIN({n}, 10)) FROM {t}
SELECT COUNT(*) FROM (SELECT {n} FROM {t} GROUP BY ROLLUP ({n})) AS u
SELECT GROUPING(BIN({n}, 10)) FROM {t} GROUP BY CUBE (BIN({n}, 10))
SELECT BIN({n}, 10), COUNT(*) FROM {t} GROUP BY 1 ORDER BY 1 NULLS LAST
SELECT BIN({n}, 10), COUNT(*) FROM {t} GROUP BY 1 ORDER BY 1 NULLS FIRST
SELECT BIN({n}, 10), COUNT(*) FROM {t} GROUP BY 1 ORDER BY ALL
SELECT BIN({n}, 10), COUNT(*) FROM {t} GROUP BY 1 ORDER BY 1 COLLATE nocase
SELECT BIN({n}, 10), COUNT(*) FROM {t} GROUP BY 1 LIMIT 10 PERCENT
SELECT BIN({n}, 10), COUNT(*) FROM {t} GROUP BY 1 LIMIT 10%
SELECT BIN({n}, 10), COUNT(*) FROM {t} GROUP BY 1 LIMIT 1 + 1
SELECT BIN({n}, 10), COUNT(*) FROM {t} GROUP BY 1 LIMIT 5 OFFSET 5
SELECT BIN({n}, 10), COUNT(*) FROM {t} GROUP BY 1 FETCH FIRST 5 ROWS WITH TIES
SELECT BIN({n}, 10, 3), COUNT(*) FROM {t} GROUP BY 1
SELECT BIN({n}, width => 10), COUNT(*) FROM {t} GROUP BY 1
SELECT "BIN"({n}, 10), COUNT(*) FROM {t} GROUP BY 1
SELECT "COUNT"(*) FROM {t}
SELECT main.COUNT(*) FROM {t}
SELECT {{fn COUNT(*)}} FROM {t}
SELECT x: COUNT(*) FROM {t}
SELECT COUNT(*) AS 'x' FROM {t}
SELECT COUNT(*) AS (a, b) FROM {t}
SELECT COUNT(*) FROM {t} AS u(a, b)
SELECT COUNT(*) FROM ONLY {t}
SELECT COUNT(*) FROM {t} WITH ORDINALITY
SELECT COUNT(*) FROM {t} AT (VERSION => 3)
SELECT COUNT(*) FROM {t} FOR UPDATE
SELECT COUNT(*) FROM ({t})
WITH a(x) AS (SELECT {n} FROM {t}) SELECT COUNT(*) FROM a
WITH a AS MATERIALIZED (SELECT * FROM {t}) SELECT COUNT(*) FROM a
SELECT COUNT(*) FROM {t} WHERE {n} BETWEEN SYMMETRIC 3 AND 1
SELECT COUNT(*) FROM {t} WHERE {n} IS NOT DISTINCT FROM 3
SELECT COUNT(*) FROM {t} WHERE {n} <=> 3
SELECT COUNT(*) FROM {t} WHERE {n} = 3 = TRUE
SELECT COUNT(*) FROM {t} WHERE 1 < {n} < 3
SELECT COUNT(*) FROM {t} WHERE ({n}, {n}) = (1, 2)
SELECT COUNT(*) FROM {t} WHERE ({n}, {n}) IN ((1, 2))
SELECT COUNT(*) FROM {t} WHERE {n} IN [1, 2]
SELECT COUNT(*) FROM {t} WHERE {n} IN {n}
SELECT COUNT(*) FROM {t} WHERE {n} IN ()
SELECT COUNT(*) FROM {t} WHERE {n}[1] = 3
SELECT COUNT(*) FROM {t} WHERE {n}.x = 3
SELECT COUNT(*) FROM {t} WHERE {n} -> 'x' = 3
SELECT COUNT(*) FROM {t} WHERE {n} OPERATOR(pg_catalog.=) 3
SELECT COUNT(*) FROM {t} WHERE {n} COLLATE nocase = 3
SELECT COUNT(*) FROM {t} WHERE {n} AT TIME ZONE 'UTC' = 3
SELECT COUNT(*) FROM {t} WHERE {n} > INTERVAL 3 DAY
SELECT COUNT(*) FROM {t} WHERE 1 = 1
SELECT COUNT(*) FROM {t} WHERE TRUE
SELECT COUNT(*) FROM {t} WHERE NULL
SELECT COUNT(*) FROM {t} WHERE {n} = {n}
SELECT COUNT(*) FROM {t} WHERE {n} = NULL
SELECT COUNT(*) FROM {t} WHERE {n} IN (1, NULL)
SELECT COUNT(*) FROM {t} WHERE {n} IS TRUE
SELECT COUNT(*) FROM {t} WHERE {n} IS UNKNOWN
SELECT COUNT(*) FROM {t} WHERE {n} ISNULL
SELECT COUNT(*) FROM {t} WHERE x -> x > 1
SELECT COUNT(*) FROM {t} WHERE lambda x: x
SELECT TOP 5 COUNT(*) FROM {t}
SELECT COUNT(*)
SELECT 1
SELECT
SELECT 1 FROM {t}
SELECT 'x' FROM {t}
SELECT NULL FROM {t}
SELECT COUNT(NULL) FROM {t}
SELECT COUNT('x') FROM {t}
SELECT COUNT() FROM {t}
SELECT COUNT FROM {t}
"""

POSTGRESQL = """
SELECT pg_sleep(10) FROM {t}
SELECT COUNT(*) FROM {t} WHERE pg_sleep({n}) IS NULL
SELECT pg_read_file('/etc/passwd') FROM {t}
SELECT pg_read_binary_file('/etc/passwd') FROM {t}
SELECT pg_ls_dir('/') FROM {t}
SELECT COUNT(*) FROM pg_ls_dir('/')
SELECT lo_import('/etc/passwd') FROM {t}
SELECT lo_export(1, '/tmp/x') FROM {t}
SELECT COUNT(*) FROM dblink('host=x', 'SELECT 1') AS t(a int)
SELECT query_to_xml('SELECT * FROM {t}', true, false, '') FROM {t}
SELECT table_to_xml('{t}', true, false, '') FROM {t}
SELECT database_to_xml(true, false, '') FROM {t}
SELECT xmlagg(xmlelement(name x, {n})) FROM {t}
SELECT json_agg({n}) FROM {t}
SELECT jsonb_object_agg({n}, {n}) FROM {t}
SELECT array_agg({n}) FROM {t}
SELECT string_agg({n}::text, ',') FROM {t}
SELECT row_to_json({t}) FROM {t}
SELECT {t} FROM {t}
SELECT ({t}).{n} FROM {t}
SELECT {t}::text FROM {t}
SELECT COUNT({t}.*) FROM {t}
SELECT ctid FROM {t}
SELECT xmin, COUNT(*) FROM {t} GROUP BY xmin
SELECT tableoid FROM {t}
SELECT COUNT(*) FROM {t} TABLESAMPLE SYSTEM (1)
SELECT COUNT(*) FROM public.{t}
SELECT COUNT(*) FROM pg_stats
SELECT COUNT(*) FROM pg_stat_activity
SELECT COUNT(*) FROM pg_shadow
SELECT reltuples FROM pg_class
SELECT pg_relation_size('{t}') FROM {t}
SELECT current_setting('data_directory') FROM {t}
SELECT set_config('statement_timeout', '0', false) FROM {t}
SELECT pg_terminate_backend(1) FROM {t}
SELECT pg_advisory_lock(1) FROM {t}
SELECT pg_notify('x', 'y') FROM {t}
SELECT COUNT(*) FROM {t} WHERE {n}::text ~ '(a+)+$'
SELECT COUNT(*) FROM {t} WHERE {n}::text SIMILAR TO '%7'
SELECT COUNT(*) FROM {t} WHERE {n} = ANY(ARRAY[1, 2])
SELECT COUNT(*) FROM {t} WHERE {n} = ALL(SELECT {n} FROM {t})
SELECT COUNT(*) FROM {t} WHERE {n} IS DISTINCT FROM (SELECT 1)
SELECT COUNT(*) FROM generate_series(1, 1000000000)
SELECT COUNT(*) FROM {t}, LATERAL (SELECT 1) x
SELECT COUNT(*) FROM {t} WHERE $$x$$ = $$x$$
SELECT COUNT(*) FROM {t} WHERE E'\\x41' = 'A'
SELECT COUNT(*) FROM {t} WHERE U&'\\0041' = 'A'
DO $$ BEGIN PERFORM pg_sleep(1); END $$
COPY {t} TO PROGRAM 'id'
COPY {t} FROM PROGRAM 'id'
LISTEN x
NOTIFY x
LOCK TABLE {t}
DECLARE c CURSOR FOR SELECT * FROM {t}
FETCH ALL FROM c
SET ROLE postgres
SET SESSION AUTHORIZATION postgres
RESET SESSION AUTHORIZATION
SECURITY LABEL ON TABLE {t} IS 'x'
REFRESH MATERIALIZED VIEW {t}
CREATE EXTENSION dblink
CREATE FUNCTION f() RETURNS int AS 'SELECT 1' LANGUAGE sql
VALUES (1)
"""
INSIDE = """
error('seen')
1 / ({n} - 17)
{n} / {n}
{n} % 0
{n} // 0
{n} ** 99
CAST({n} AS TINYINT)
{n}::TINYINT
TRY_CAST({n} AS DATE)
SQRT(-{n})
EXP({n})
LN({n})
POWER({n}, 9999)
getenv('HOME')
sleep({n})
md5({n})
random()
nextval('s')
(SELECT 1)
(SELECT COUNT(*) FROM {t})
(SELECT MAX({n}) FROM {t})
{n} IN (SELECT 1)
EXISTS (SELECT 1)
REGEXP_MATCHES('aaaa', '(a+)+b')
REPEAT('x', 1000000)
rowid
current_setting('memory_limit')
ROW_NUMBER() OVER ()
LAG({n}) OVER (ORDER BY {n})
LIST({n})
[{n}]
{n}.x
COLUMNS(*)
:secret
?
""".strip().splitlines()
"""Attacks that may stand where something is computed of a row."""

AROUND = """
SELECT SUM({n} + <X>) FROM {t}
SELECT SUM({n} * <X>) FROM {t}
SELECT SUM(CASE WHEN {n} > 1 THEN <X> ELSE 0 END) FROM {t}
SELECT SUM(CASE WHEN <X> > 3 THEN 1 ELSE 0 END) FROM {t}
SELECT COUNT(*) FILTER (WHERE <X> > 3) FROM {t}
SELECT AVG({n}) FILTER (WHERE {n} = <X>) FROM {t}
SELECT CASE WHEN {n} > <X> THEN 'a' ELSE 'b' END, COUNT(*) FROM {t} GROUP BY 1
SELECT FLOOR(<X> / 10), COUNT(*) FROM {t} GROUP BY ALL
SELECT COALESCE({n}, <X>), COUNT(*) FROM {t} GROUP BY 1
SELECT WIDTH_BUCKET(<X>, 0, 9, 3), COUNT(*) FROM {t} GROUP BY 1
SELECT EXTRACT(year FROM <X>), COUNT(*) FROM {t} GROUP BY 1
SELECT COUNT(DISTINCT <X>) FROM {t}
SELECT ROUND(SUM({n}), <X>) FROM {t}
SELECT COALESCE(SUM({n}), <X>) FROM {t}
SELECT SUM(v) FROM (SELECT {n} + <X> AS v FROM {t})
SELECT COUNT(*) FROM {t} WHERE {n} * 2 > <X>
""".strip().splitlines()

COMPUTED = """
SELECT SUM(CASE WHEN {n} = 17 THEN 'x' ELSE 'y' END) FROM {t}
SELECT SUM(CASE WHEN {n} = 17 THEN 1 ELSE NULL END + NULL) FROM {t}
SELECT SUM(CASE WHEN 1 = 1 THEN {n} END) FROM {t}
SELECT SUM(CASE {n} WHEN {n} THEN 1 END) FROM {t}
SELECT SUM(CASE WHEN SUM({n}) > 3 THEN 1 END) FROM {t}
SELECT CASE WHEN COUNT(*) > 712344 THEN 1 ELSE 0 END FROM {t}
SELECT SUM({n} * 1e-300 + 1e300) FROM {t}
SELECT SUM({n} * {n} * {n} * {n} * {n} * {n} * {n} * {n} * 1e-90 + 1) FROM {t}
SELECT MIN({n} + 1, 3) FROM {t}
SELECT MAX({n} + 1, 3) FROM {t}
SELECT COUNT({n} + 1, {n}) FROM {t}
SELECT SUM(DISTINCT {n} + 1) FROM {t}
SELECT SUM({n} + 1 ORDER BY {n}) FROM {t}
SELECT SUM({n} + 1) FILTER ({n} > 3) FROM {t}
SELECT SUM({n}) FILTER (WHERE {n} > 3) FILTER (WHERE {n} > 4) FROM {t}
SELECT SUM({n}) FILTER (WHERE {n} > 3) OVER () FROM {t}
SELECT COUNT(*) FILTER (WHERE COUNT(*) > 3) FROM {t}
SELECT COUNT(DISTINCT {n}) OVER () FROM {t}
SELECT COUNT(DISTINCT {n}) FILTER (WHERE {n} = 17) FROM {t}
SELECT {n} + 1 FROM {t}
SELECT {n} * 2, {n} FROM {t} GROUP BY ALL
SELECT CASE WHEN {n} > 3 THEN {n} END FROM {t}
SELECT FLOOR({n}) FROM {t} LIMIT 1
SELECT ROUND({n}, 2) FROM {t}
SELECT ROUND({n}, 2), COUNT(*) FROM {t} GROUP BY 1
SELECT CAST({n} AS INTEGER) FROM {t}
SELECT CAST(SUM({n}) AS VARCHAR) FROM {t}
SELECT CAST(SUM({n}) AS INTEGER[]) FROM {t}
SELECT CAST(SUM({n}) AS DATE) FROM {t}
SELECT TRY_CAST(SUM({n}) AS INTEGER) FROM {t}
SELECT SUM({n})::INTEGER FROM {t}
SELECT NULLIF({n}, 17) FROM {t}
SELECT COALESCE({n}, {n}) FROM {t}
SELECT ROUND(SUM({n}), 2, 3) FROM {t}
SELECT ROUND(SUM({n}), 1e9) FROM {t}
SELECT COUNT(*) FROM {t} GROUP BY ALL, ALL
SELECT BIN({n}, 10), COUNT(*) FROM {t} GROUP BY ALL ORDER BY ALL
SELECT AVG(v) FROM (SELECT {n}, SUM({n}) AS v FROM {t} GROUP BY {n})
SELECT AVG(v) FROM (SELECT SUM({n}) AS v FROM {t} GROUP BY ALL)
SELECT AVG(v) FROM (SELECT rowid, SUM({n}) AS v FROM {t} GROUP BY rowid)
SELECT v FROM (SELECT {n} + 1 AS v FROM {t})
SELECT v, COUNT(*) FROM (SELECT {n} * 1 AS v FROM {t}) GROUP BY v
SELECT COUNT(*) FROM {t} JOIN read_csv('/etc/passwd') AS r ON TRUE
SELECT COUNT(*) FROM {t} JOIN '/etc/passwd' AS r USING ({n})
SELECT COUNT(*) FROM {t} LEFT JOIN duckdb_tables() AS r ON TRUE
SELECT COUNT(*) FROM {t} JOIN {t} AS u ON {t}.{n} = u.{n}
SELECT EXTRACT(epoch FROM {n}), COUNT(*) FROM {t} GROUP BY 1
SELECT WIDTH_BUCKET({n}, 0, 9, 1000000000), COUNT(*) FROM {t} GROUP BY 1
SELECT WIDTH_BUCKET({n}, [1, 2, 3]), COUNT(*) FROM {t} GROUP BY 1
"""
COMPUTED += "\n".join(around.replace("<X>", inside) for around in AROUND for inside in INSIDE)
COMPUTED += "\n"

ASKED_BETTER = """
SELECT VARIANCE({n} > 3) FROM {t}
SELECT MAX(NOT {n} > 3) FROM {t}
SELECT SUM(IF({n} > 3, 1, 0)) FROM {t}
SELECT SUM(IIF({n} > 3, 1, 0)) FROM {t}
SELECT SUM({n} ^ 2) FROM {t}
SELECT SUM({n} << 2) FROM {t}
SELECT SUM({n} & 1) FROM {t}
SELECT SUM(~{n}) FROM {t}
SELECT SUM(@{n}) FROM {t}
SELECT SUM({n}!) FROM {t}
SELECT GREATEST(SUM({n}), 17) FROM {t}
SELECT SUM(COALESCE({n}, {n}, 0)) FROM {t}
SELECT SUM(NULLIF({n}, {n})) FROM {t}
SELECT SUM(COUNT(*)) FROM {t}
SELECT COUNT(*) FILTER (WHERE SUM({n}) > 3) FROM {t}
SELECT COUNT(*) FILTER (WHERE {n} IN (SELECT {n} FROM {t})) FROM {t}
SELECT SUM(CASE WHEN {n} > (SELECT 1) THEN 1 ELSE 0 END) FROM {t}
SELECT SUM({n} * 1e200) FROM {t}
SELECT SUM({n} / 1e200) FROM {t}
SELECT SUM({n}) * 1e20 * 1e20 FROM {t}
SELECT SUM({n}) / 1e-40 FROM {t}
SELECT CAST(SUM({n}) AS TINYINT) FROM {t}
SELECT CAST(SUM({n}) AS DECIMAL) FROM {t}
SELECT CAST(SUM({n}) AS BLOB) FROM {t}
SELECT \uff23\uff2f\uff35\uff2e\uff34(*) FROM {t}
SELECT COU\u200bNT(*) FROM {t}
SELECT \u017fUM({n}) FROM {t}
SELECT COUNT(*) FROM {t}\uff1b DROP TABLE {t}
SELECT COUNT(*) FROM {t} WHERE {n} \uff1d 3
SELECT COUNT(*) FROM (SELECT {n} > 3 AS v FROM {t}) WHERE v
SELECT COUNT(*) FROM (SELECT CASE WHEN {n} = 17 THEN error('x') ELSE 'b' END AS v FROM {t})
SELECT v, COUNT(*) FROM (SELECT CASE WHEN {n} > 3 THEN (SELECT 'a') END AS v FROM {t}) GROUP BY v
SELECT v, COUNT(*) FROM (SELECT CASE WHEN {n} > 3 THEN 'a' ELSE 1 END AS v FROM {t}) GROUP BY v
SELECT v, COUNT(*) FROM (SELECT CASE WHEN {n} > 3 THEN '' ELSE 'b' END AS v FROM {t}) GROUP BY v
SELECT SUM(v) FROM (SELECT CASE WHEN {n} > 3 THEN 'a' ELSE 'b' END AS v FROM {t})
SELECT v || 'x', COUNT(*) FROM (SELECT CASE WHEN {n} > 3 THEN 'a' END AS v FROM {t}) GROUP BY 1
SELECT WIDTH_BUCKET({n} + 1, 0, 9, 3), COUNT(*) FROM {t} GROUP BY 1
SELECT BIN({n} + 1, 10), COUNT(*) FROM {t} GROUP BY 1
"""
DOUBLED = "a0 AS (SELECT {n} AS v FROM {t})" + "".join(
    f", a{i} AS (SELECT CASE WHEN v > {i} THEN v ELSE v + 1 END AS v FROM a{i - 1})"
    for i in range(1, 30)
)
ASKED_BETTER += f"""
WITH {DOUBLED} SELECT SUM(v) FROM a29
WITH {DOUBLED} SELECT COUNT(*) FROM a29 WHERE v > 3
WITH {DOUBLED} SELECT v, COUNT(*) FROM a29 GROUP BY v
"""

GROUPS = {
    name: [
        text.strip() for text in block.replace("\n ", "\x00").strip().split("\n") if text.strip()
    ]
    for name, block in {
        "read files": READ_FILES,
        "write and load": WRITE_AND_LOAD,
        "catalogue": CATALOGUE,
        "rows themselves": ROWS_THEMSELVES,
        "error channel": ERROR_CHANNEL,
        "slow for one row": SLOW_FOR_ONE_ROW,
        "more than one table": MORE_THAN_ONE_TABLE,
        "several statements": SEVERAL_STATEMENTS,
        "passed over by the parser": PASSED_OVER_BY_THE_PARSER,
        "of PostgreSQL": POSTGRESQL,
        "computed of a row": COMPUTED,
        "asked better": ASKED_BETTER,
    }.items()
}


def statements(table: str, number: str) -> list[str]:
    """Every statement, for a table and one of its number columns."""
    return [
        text.replace("\x00", "\n").format(t=table, n=number)
        for group in GROUPS.values()
        for text in group
    ]
