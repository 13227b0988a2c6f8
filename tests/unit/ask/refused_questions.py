"""Questions that people of the field write and that are refused, over three schemas.

Those after a blank line belong together; what a schema has is all that a suggestion may use.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

from tenue.schema import Schema

SURVEY = Schema.from_dict(
    {
        "table": {"name": "survey", "unit": "record", "neighbours": "add-or-remove"},
        "columns": {
            "id": {"type": "identifier"},
            "age": {"type": "number", "bounds": [0, 120]},
            "income": {"type": "number", "bounds": [0, 200_000]},
            "hours-per-week": {"type": "number", "bounds": [0, 99]},
            "sex": {"type": "category", "categories": ["Female", "Male"]},
            "education": {
                "type": "category",
                "categories": ["Primary", "Secondary", "Bachelor", "Master", "Doctorate"],
            },
            "employed": {"type": "boolean"},
            "interviewed": {"type": "date", "bounds": ["2020-01-01", "2024-12-31"]},
        },
        "budget": {"total": 10},
    }
)
VISITS = Schema.from_dict(
    {
        "table": {
            "name": "visits",
            "unit": "patient",
            "neighbours": "add-or-remove",
            "rows_per_unit": 10,
        },
        "columns": {
            "patient": {"type": "identifier"},
            "ward": {"type": "category", "categories": ["surgery", "medicine", "paediatrics"]},
            "icd": {"type": "category", "categories": ["I10", "E11", "J45", "N18"]},
            "cost": {"type": "number", "bounds": [0, 5_000], "grid": 0.5},
            "days": {"type": "number", "bounds": [0, 60]},
            "admitted": {
                "type": "datetime",
                "bounds": ["2023-01-01 00:00:00", "2023-12-31 23:59:59"],
            },
            "emergency": {"type": "boolean"},
        },
        "budget": {"total": 10},
    }
)
ENERGY = Schema.from_dict(
    {
        "table": {"name": "meters", "unit": "record", "neighbours": "replace", "rows": 5_000},
        "columns": {
            "household": {"type": "identifier"},
            "kwh": {"type": "number", "bounds": [0, 400], "grid": 0.1},
            "temp": {"type": "number", "bounds": [-30, 45]},
            "tariff": {"type": "category", "categories": ["flat", "day/night", "dynamic"]},
            "region": {"type": "category", "categories": ["north", "south", "east", "west"]},
            "read_on": {"type": "date", "bounds": ["2022-01-01", "2022-12-31"]},
            "solar": {"type": "boolean"},
        },
        "budget": {"total": 10},
    }
)

_SURVEY = """
SELECT * FROM survey
SELECT * FROM survey LIMIT 10
SELECT age FROM survey
SELECT age, income FROM survey WHERE sex = 'Male'
SELECT DISTINCT education FROM survey
SELECT DISTINCT education, sex FROM survey ORDER BY education
SELECT id, income FROM survey WHERE income > 100000
SELECT COUNT(id) FROM survey
SELECT COUNT(DISTINCT id) FROM survey
SELECT MAX(id) FROM survey
SELECT COUNT(*) FROM survey WHERE id = 17
SELECT COUNT(*) FROM surveys
SELECT COUNT(*) FROM people
SELECT COUNT(*) FROM public.survey
SELECT AVG(incom) FROM survey
SELECT AVG(Income_) FROM survey WHERE aeg > 30
SELECT AVG(salary) FROM survey
SELECT AVG(hours-per-week) FROM survey
SELECT AVG(hours_per_week) FROM survey
SELECT COUNT(*) FROM survey WHERE sex = "Male"
SELECT COUNT(*) FROM survey WHERE sex = 'male'
SELECT COUNT(*) FROM survey WHERE sex = 'M'
SELECT COUNT(*) FROM survey WHERE education = 'Bachelors'
SELECT COUNT(*) FROM survey WHERE education IN ('Bachelors', 'Masters', 'PhD')
SELECT COUNT(*) FROM survey WHERE education BETWEEN 'Bachelor' AND 'Doctorate'
SELECT COUNT(*) FROM survey WHERE education >= 'Bachelor'
SELECT COUNT(*) FROM survey WHERE education ILIKE 'b%'
SELECT COUNT(*) FROM survey WHERE LOWER(education) = 'bachelor'
SELECT COUNT(*) FROM survey WHERE UPPER(sex) LIKE 'F%'
SELECT COUNT(*) FROM survey WHERE education ~ '^B'
SELECT COUNT(*) FROM survey WHERE LEFT(education, 1) = 'B'
SELECT COUNT(*) FROM survey WHERE SUBSTRING(education, 1, 3) = 'Bac'
SELECT COUNT(*) FROM survey WHERE LENGTH(education) > 6
SELECT COUNT(*) FROM survey WHERE age LIKE '3%'
SELECT COUNT(*) FROM survey WHERE age = '30'
SELECT COUNT(*) FROM survey WHERE age BETWEEN '30' AND '40'
SELECT COUNT(*) FROM survey WHERE age > 'thirty'
SELECT COUNT(*) FROM survey WHERE employed = 'yes'
SELECT COUNT(*) FROM survey WHERE employed = 1
SELECT COUNT(*) FROM survey WHERE age
SELECT COUNT(*) FROM survey WHERE NOT age
SELECT COUNT(*) FROM survey WHERE income = NULL
SELECT COUNT(*) FROM survey WHERE income != NULL AND age > 20
SELECT COUNT(*) FROM survey WHERE sex = 'Male' OR 'Female'
SELECT COUNT(*) FROM survey WHERE age > income
SELECT COUNT(*) FROM survey WHERE age % 10 = 0
SELECT COUNT(*) FROM survey WHERE MOD(age, 10) = 0
SELECT COUNT(*) FROM survey WHERE age BETWEEN SYMMETRIC 40 AND 30
SELECT COUNT(*) FROM survey WHERE (age, income) = (30, 1000)
SELECT COUNT(*) FROM survey WHERE age IN ()
SELECT COUNT(*) FROM survey WHERE age IN (SELECT age FROM survey WHERE sex = 'Male')
SELECT COUNT(*) FROM survey WHERE income > (SELECT AVG(income) FROM survey)
SELECT COUNT(*) FROM survey WHERE income >= (SELECT MEDIAN(income) FROM survey) AND age > 30
SELECT sex, COUNT(*) FROM survey WHERE (SELECT MAX(age) FROM survey) > age GROUP BY sex
SELECT COUNT(*) FROM survey WHERE EXISTS (SELECT 1 FROM survey)
SELECT COUNT(*) FROM survey WHERE interviewed > CURRENT_DATE - INTERVAL 1 YEAR
SELECT COUNT(*) FROM survey WHERE interviewed >= NOW()
SELECT COUNT(*) FROM survey WHERE interviewed > '2023'
SELECT COUNT(*) FROM survey WHERE interviewed > 2023
SELECT COUNT(*) FROM survey WHERE interviewed = '2023-13-45'
SELECT COUNT(*) FROM survey WHERE interviewed LIKE '2023%'
SELECT COUNT(*) FROM survey WHERE interviewed::TEXT LIKE '2023%'
SELECT COUNT(*) FROM survey WHERE age > ?
SELECT COUNT(*) FROM survey WHERE age > $1 AND sex = 'Male'
SELECT COUNT(*) FROM survey WHERE age > 30 AND
SELECT COUNT(* FROM survey
SELECT COUNT(*) survey
SELECT FROM survey
SELECT COUNT(*)
COUNT(*) FROM survey
SELECT AVG(income) AS mean, FROM survey
SELECT TOP 10 age FROM survey
SELECT AVG(`income`) FROM survey
SELECT AVG([income]) FROM survey
DELETE FROM survey WHERE age > 30
UPDATE survey SET age = 3
DESCRIBE survey
SHOW TABLES
SELECT COUNT(*) FROM survey; DROP TABLE survey
SELECT education, COUNT(*) FROM survey
SELECT education, AVG(income) FROM survey
SELECT education, sex, AVG(income) FROM survey GROUP BY education
SELECT AVG(income) FROM survey GROUP BY education
SELECT age, COUNT(*) FROM survey
SELECT income, COUNT(*) FROM survey GROUP BY income
SELECT interviewed, COUNT(*) FROM survey GROUP BY interviewed
SELECT BIN(income, 0.3), COUNT(*) FROM survey GROUP BY 1
SELECT BIN(income), COUNT(*) FROM survey GROUP BY 1
SELECT BIN(sex, 2), COUNT(*) FROM survey GROUP BY 1
SELECT BIN(age, 1), BIN(income, 1), COUNT(*) FROM survey GROUP BY 1, 2
SELECT DATE_TRUNC('decade', interviewed), COUNT(*) FROM survey GROUP BY 1
SELECT DATE_TRUNC('month', age), COUNT(*) FROM survey GROUP BY 1
SELECT TO_CHAR(interviewed, 'YYYY-MM'), COUNT(*) FROM survey GROUP BY 1
SELECT STRFTIME(interviewed, '%Y-%m') AS month, COUNT(*) FROM survey GROUP BY month
SELECT EXTRACT(minute FROM interviewed), COUNT(*) FROM survey GROUP BY 1
SELECT UPPER(education), COUNT(*) FROM survey GROUP BY 1
SELECT SUBSTR(education, 1, 1), COUNT(*) FROM survey GROUP BY 1
SELECT CONCAT(sex, education), COUNT(*) FROM survey GROUP BY 1
SELECT sex || education AS both, COUNT(*) FROM survey GROUP BY both
SELECT CASE WHEN age < 18 THEN 'minor' ELSE age END, COUNT(*) FROM survey GROUP BY 1
SELECT age > 30, COUNT(*) FROM survey GROUP BY 1
SELECT age > 30 AS old, COUNT(*) FROM survey GROUP BY old
SELECT IF(age > 30, 'old', 'young') AS a, COUNT(*) FROM survey GROUP BY a
SELECT NTILE(4) OVER (ORDER BY income), COUNT(*) FROM survey GROUP BY 1
SELECT RANK() OVER (ORDER BY income) FROM survey
SELECT sex, AVG(income) OVER (PARTITION BY sex) FROM survey
SELECT sex, SUM(income) OVER (ORDER BY interviewed) FROM survey
SELECT COUNT(*) OVER () FROM survey
SELECT MEAN(income) FROM survey
SELECT AVERAGE(income) FROM survey
SELECT STD(income) FROM survey
SELECT PERCENTILE(income, 90) FROM survey
SELECT QUANTILE(income, 90) FROM survey
SELECT PERCENTILE_DISC(0.9) WITHIN GROUP (ORDER BY income) FROM survey
SELECT APPROX_QUANTILE(income, 0.9) FROM survey
SELECT KURTOSIS(income) FROM survey
SELECT ARG_MAX(education, income) FROM survey
SELECT FIRST(education) FROM survey
SELECT STRING_AGG(education, ', ') FROM survey
SELECT ARRAY_AGG(DISTINCT education) FROM survey
SELECT AVG(education) FROM survey
SELECT SUM(sex) FROM survey
SELECT MEDIAN(education) FROM survey
SELECT AVG(interviewed) FROM survey
SELECT MODE(age) FROM survey
SELECT MAX(education) FROM survey
SELECT SUM(DISTINCT income) FROM survey
SELECT COUNT(DISTINCT sex, education) FROM survey
SELECT AVG(sex = 'Male') FROM survey
SELECT SUM(age > 65) FROM survey
SELECT COUNT(age > 65) FROM survey
SELECT AVG(income > 50000 AND sex = 'Female') FROM survey
SELECT COUNTIF(age > 65) FROM survey
SELECT SUM(IF(age > 65, 1, 0)) FROM survey
SELECT CORR(income) FROM survey
SELECT CORR(income, education) FROM survey
SELECT AVG(income, 2) FROM survey
SELECT AVG(*) FROM survey
SELECT SUM(income / age) FROM survey
SELECT AVG(income::INT) FROM survey
SELECT AVG(CAST(income AS VARCHAR)) FROM survey
SELECT AVG(income) ^ 2 FROM survey
SELECT AVG(income) / 0 FROM survey
SELECT 1 FROM survey
SELECT COUNT(*), 'all' FROM survey
SELECT COUNT(*) AS n, AVG(age) AS n FROM survey
SELECT COUNT(*) AS "select" FROM survey ORDER BY 1
SELECT sex, COUNT(*) FROM survey GROUP BY sex ORDER BY AVG(income)
SELECT sex, COUNT(*) AS n FROM survey GROUP BY sex ORDER BY total DESC
SELECT sex, COUNT(*) FROM survey GROUP BY sex ORDER BY 7
SELECT sex, COUNT(*) FROM survey GROUP BY sex ORDER BY n NULLS LAST
SELECT sex, COUNT(*) FROM survey GROUP BY sex HAVING AVG(income) > 10
SELECT sex, COUNT(*) FROM survey GROUP BY sex HAVING age > 10
SELECT sex, COUNT(*) AS n FROM survey GROUP BY sex HAVING n > 10 OR n < 5
SELECT sex, COUNT(*) FROM survey GROUP BY sex LIMIT 1 OFFSET 1
SELECT sex, COUNT(*) FROM survey GROUP BY sex LIMIT ALL
SELECT sex, COUNT(*) FROM survey GROUP BY sex FETCH FIRST 1 ROW ONLY
SELECT education, COUNT(*) AS n FROM survey GROUP BY education QUALIFY RANK() OVER (ORDER BY n) < 3
SELECT sex, COUNT(*) FROM survey GROUP BY sex UNION ALL SELECT 'all', COUNT(*) FROM survey
SELECT COUNT(*) FROM survey EXCEPT SELECT COUNT(*) FROM survey WHERE age > 3
SELECT a.sex, COUNT(*) FROM survey a JOIN survey b ON a.id = b.id GROUP BY a.sex
SELECT COUNT(*) FROM survey, cities
SELECT COUNT(*) FROM survey s LEFT JOIN cities c ON s.city = c.id WHERE c.size > 10 AND s.age > 3
SELECT s.sex, AVG(x.income) FROM survey s GROUP BY s.sex
SELECT COUNT(*) FROM (SELECT sex, COUNT(*) AS n FROM survey GROUP BY sex)
SELECT AVG(n) FROM (SELECT education, COUNT(*) AS n FROM survey GROUP BY education)
SELECT COUNT(*) FROM (SELECT * FROM survey LIMIT 100)
SELECT COUNT(*) FROM survey TABLESAMPLE 10 PERCENT
SELECT COUNT(*) FROM survey USING SAMPLE 10
SELECT sex, COUNT(*) FROM survey WHERE COUNT(*) > 3 GROUP BY sex
SELECT sex, COUNT(*) FROM survey GROUP BY sex, education
SELECT sex, COUNT(*) FROM survey GROUP BY COUNT(*)
SELECT sex, COUNT(*) FROM survey GROUP BY gender
PIVOT survey ON sex USING COUNT(*)
SELECT * EXCLUDE (id) FROM survey
SELECT COLUMNS('a.*') FROM survey
SELECT COUNT(*) FROM 'survey.csv'
SELECT COUNT(*) FROM read_csv('survey.csv')
SELECT SUM(LAG(income)) FROM survey
SELECT COUNT(*) FILTER (age > 30) FROM survey
SELECT MEDIAN(income) FILTER (WHERE sex = 'male') FROM survey
"""
_VISITS = """
SELECT patient, COUNT(*) FROM visits GROUP BY patient
SELECT patient, SUM(cost) AS total FROM visits GROUP BY patient ORDER BY total DESC LIMIT 10
SELECT MAX(patient) FROM visits
SELECT COUNT(*) FROM visits WHERE patient = 'p17'
SELECT COUNT(*) FROM visits WHERE patient IN (SELECT patient FROM visits WHERE icd = 'I10')
SELECT ward, COUNT(DISTINCT patient, icd) FROM visits GROUP BY ward
SELECT ward, patient, COUNT(*) FROM visits GROUP BY ward, patient
SELECT ward, AVG(cost FROM visits GROUP BY ward
SELECT ward, AVG(costs) FROM visits GROUP BY ward
SELECT wards, AVG(cost) FROM visits GROUP BY wards
SELECT ward, AVG(cost) FROM visit GROUP BY ward
SELECT COUNT(*) FROM visits WHERE ward = 'pediatrics'
SELECT COUNT(*) FROM visits WHERE icd = 'i10'
SELECT COUNT(*) FROM visits WHERE icd = 'I10' AND icd2 = 'E11'
SELECT COUNT(*) FROM visits WHERE icd LIKE 'I1_' ESCAPE '!'
SELECT COUNT(*) FROM visits WHERE admitted > DATE '2023-02-30'
SELECT COUNT(*) FROM visits WHERE admitted BETWEEN '2023-01' AND '2023-02'
SELECT COUNT(*) FROM visits WHERE TO_CHAR(admitted, 'MM') = '01'
SELECT COUNT(*) FROM visits WHERE DATE(admitted) = '2023-01-01'
SELECT COUNT(*) FROM visits WHERE admitted::DATE = '2023-01-01'
SELECT COUNT(*) FROM visits WHERE DATEDIFF('day', admitted, NOW()) < 30
SELECT DATE(admitted), COUNT(*) FROM visits GROUP BY 1
SELECT admitted, COUNT(*) FROM visits GROUP BY admitted
SELECT DATE_FORMAT(admitted, '%Y-%m') AS m, COUNT(*) FROM visits GROUP BY m
SELECT DATE_TRUNC('minute', admitted), COUNT(*) FROM visits GROUP BY 1
SELECT ward, SUM(cost) / SUM(SUM(cost)) FROM visits GROUP BY ward
SELECT ward, SUM(cost) OVER (PARTITION BY ward) FROM visits
SELECT ward, COUNT(*) FROM visits GROUP BY ward HAVING COUNT(DISTINCT patient) > 5
SELECT AVG(n) FROM (SELECT patient, ward, COUNT(*) AS n FROM visits GROUP BY patient, ward)
SELECT AVG(n) FROM (SELECT patient, COUNT(*) AS n FROM visits GROUP BY patient ORDER BY n)
SELECT AVG(m) FROM (SELECT patient, MEDIAN(cost) AS m FROM visits GROUP BY patient)
SELECT COUNT(*) FROM (SELECT DISTINCT patient FROM visits)
SELECT COUNT(*) FROM visits v JOIN patients p ON v.patient = p.id WHERE p.age > 60
SELECT p.sex, COUNT(*) FROM visits v JOIN patients p USING (patient) GROUP BY p.sex
SELECT ward, COUNT(*) FROM visits NATURAL JOIN wards GROUP BY ward
WITH a AS (SELECT ward, AVG(cost) AS c FROM visits GROUP BY ward) SELECT MAX(c) FROM a
WITH RECURSIVE r AS (SELECT 1) SELECT COUNT(*) FROM r
SELECT AVG(cost) FROM visits WHERE cost > (SELECT AVG(cost) FROM visits)
SELECT COUNT(*) FROM visits WHERE days > ALL (SELECT days FROM visits)
SELECT COUNT(*) FROM visits WHERE emergency = 'true'
SELECT COUNT(*) FROM visits WHERE emergency IS UNKNOWN
SELECT COUNT(*) FROM visits WHERE cost / days > 100
SELECT AVG(cost / days) FROM visits
SELECT AVG(cost) PER ward FROM visits
SELECT ward AVG(cost) FROM visits GROUP BY ward
SELECT SUM(cost) FROM visits GROUP BY ward WITH ROLLUP
SELECT ward, icd, COUNT(*) FROM visits GROUP BY ROLLUP (ward, icd) HAVING GROUPING(ward) = 'a'
SELECT ward, GROUPING(ward), COUNT(*) FROM visits GROUP BY ward
SELECT ward, COUNT(*) FROM visits GROUP BY ward ORDER BY RANDOM()
SELECT BIN(cost, 0.7) AS b, COUNT(*) FROM visits GROUP BY b
SELECT ROUND(cost, -2), COUNT(*) FROM visits GROUP BY 1
SELECT WIDTH_BUCKET(cost, 5000, 0, 10), COUNT(*) FROM visits GROUP BY 1
SELECT COUNT(*) FROM visits WHERE JSON_EXTRACT(icd, '$.a') = 'x'
SELECT icd[1], COUNT(*) FROM visits GROUP BY 1
"""
_ENERGY = """
SELECT household, kwh FROM meters
SELECT household, SUM(kwh) FROM meters GROUP BY household
SELECT region, tarif, AVG(kwh) FROM meters GROUP BY region, tarif
SELECT region, AVG(kwh) FROM meter GROUP BY region
SELECT region, AVG(kWh) FROM meters WHERE tariff = 'Flat' GROUP BY region
SELECT region, AVG(kwh) FROM meters WHERE tariff = 'day-night' GROUP BY region
SELECT region, AVG(kwh) FROM meters WHERE region < 'south' GROUP BY region
SELECT AVG(kwh) FROM meters WHERE region IN 'north', 'south'
SELECT AVG(kwh) FROM meters WHERE region == 'north' && solar
SELECT AVG(kwh) FROM meters WHERE region NOT LIKE 5
SELECT AVG(kwh) FROM meters WHERE solar AND temp
SELECT AVG(kwh) FROM meters WHERE temp BETWEEN -5 AND
SELECT AVG(kwh) FROM meters WHERE ROUND(temp) = 5
SELECT AVG(kwh) FROM meters WHERE read_on IN (DATE '2022-01-01', 'tomorrow')
SELECT AVG(kwh) FROM meters WHERE DAYNAMES(read_on) = 'Monday'
SELECT DAYNAMES(read_on), AVG(kwh) FROM meters GROUP BY 1
SELECT WEEKDAYS(read_on) AS d, COUNT(*) FROM meters GROUP BY d
SELECT temp, kwh FROM meters ORDER BY kwh DESC LIMIT 5
SELECT temp, AVG(kwh) FROM meters GROUP BY temp / 5
SELECT kwh, COUNT(*) FROM meters GROUP BY kwh
SELECT ROUND(kwh), COUNT(*) FROM meters GROUP BY 1
SELECT CAST(kwh AS INT) AS k, COUNT(*) FROM meters GROUP BY k
SELECT BIN(kwh, 10, 3), COUNT(*) FROM meters GROUP BY 1
SELECT BIN(kwh, -10), COUNT(*) FROM meters GROUP BY 1
SELECT BIN(kwh, temp), COUNT(*) FROM meters GROUP BY 1
SELECT SIN(kwh) FROM meters
SELECT AVG(SIN(kwh)) FROM meters
SELECT AVG(kwh * region) FROM meters
SELECT AVG(POWER(kwh, temp)) FROM meters
SELECT SUM(kwh) - region FROM meters
SELECT LINREG(kwh, temp) FROM meters
SELECT REGR_SLOPE(kwh) FROM meters
SELECT CORR(kwh, temp, solar) FROM meters
SELECT COVAR(kwh, temp) FROM meters
SELECT region, MEDIAN(kwh, 0.5) FROM meters GROUP BY region
SELECT region, QUANTILE(kwh, [0.1, 0.9]) FROM meters GROUP BY region
SELECT region, QUANTILE(kwh) FROM meters GROUP BY region
SELECT region, MAX(MIN(kwh)) FROM meters GROUP BY region
SELECT region, AVG(kwh) FROM meters GROUP BY region ORDER BY tariff
SELECT region, AVG(kwh) AS a FROM meters GROUP BY region HAVING a BETWEEN 1 AND temp
SELECT region, AVG(kwh) AS a FROM meters GROUP BY region HAVING region LIKE 'n%'
SELECT region, COUNT(*) FROM meters HAVING COUNT(*) > 5
SELECT COUNT(*) FROM meters ORDER BY kwh
SELECT AVG(kwh) FROM meters LIMIT 0
SELECT kwh > AVG(kwh) FROM meters
SELECT COUNT(*) FROM meters WHERE kwh > AVG(kwh)
SELECT COUNT(*) FROM meters WHERE kwh > (SELECT QUANTILE(kwh, 0.9) FROM meters)
SELECT COUNT(*) FROM meters m WHERE kwh > (SELECT AVG(kwh) FROM meters n WHERE n.region = m.region)
SELECT (SELECT AVG(kwh) FROM meters) AS a, COUNT(*) FROM meters
SELECT region, COUNT(*) / (SELECT COUNT(*) FROM meters) FROM meters GROUP BY region
SELECT region, SUM(COUNT(*)) OVER (PARTITION BY tariff) FROM meters GROUP BY region
SELECT region, PERCENT_RANK() OVER (ORDER BY COUNT(*)) FROM meters GROUP BY region
SELECT region, COUNT(*) OVER (PARTITION BY region) FROM meters GROUP BY region
EXPLAIN SELECT COUNT(*) FROM meters
SELECT COUNT(*) INTO x FROM meters
INSERT INTO meters VALUES (1)
CREATE TABLE x AS SELECT COUNT(*) FROM meters
SELECT MAX(kwh) - MIN(kwh) AS range, RANGE(kwh) FROM meters
SELECT COUNT(*) FROM meters WHERE kwh > 1e400
SELECT COUNT(*) FROM meters WHERE kwh > 0x1F
SELECT COUNT(*) FROM meters WHERE kwh > 1.2.3
SELECT region, COUNT(*) FROM meters GROUP BY (region
"""
BY_HAND: list[tuple[Schema, str]] = [
    (schema, sql)
    for schema, text in ((SURVEY, _SURVEY), (VISITS, _VISITS), (ENERGY, _ENERGY))
    for sql in text.strip().splitlines()
]

_ANSWERED: list[tuple[Schema, str]] = [
    (SURVEY, "SELECT education, AVG(income) AS mean FROM survey WHERE age > 30 GROUP BY education"),
    (SURVEY, "SELECT sex, COUNT(*) AS n FROM survey WHERE employed GROUP BY sex ORDER BY n DESC"),
    (
        SURVEY,
        "SELECT MEDIAN(income) AS m FROM survey WHERE education IN ('Master', 'Doctorate')",
    ),
    (SURVEY, "SELECT BIN(age, 10) AS decade, SUM(income) AS s FROM survey GROUP BY BIN(age, 10)"),
    (SURVEY, "SELECT COUNT(*) AS n FROM survey WHERE interviewed >= DATE '2022-01-01'"),
    (VISITS, "SELECT ward, SUM(cost) AS s FROM visits WHERE icd = 'I10' GROUP BY ward LIMIT 2"),
    (VISITS, "SELECT COUNT(DISTINCT patient) AS people FROM visits WHERE days BETWEEN 3 AND 7"),
    (
        VISITS,
        "SELECT AVG(v) AS m FROM (SELECT patient, MAX(cost) AS v FROM visits GROUP BY 1)",
    ),
    (ENERGY, "SELECT region, CORR(kwh, temp) AS r FROM meters WHERE solar GROUP BY region"),
    (ENERGY, "SELECT tariff, region, COUNT(*) AS n FROM meters GROUP BY ROLLUP (tariff, region)"),
]
_OTHER = [
    "foo",
    "'x'",
    "17",
    "NULL",
    "LN2(1)",
    "*",
    "(",
    "OVER",
    "id",
    "patient",
    "household",
    "||",
]


def generated(many: int, seed: int = 27) -> Iterator[tuple[Schema, str]]:
    """Answered questions with one word misspelt, exchanged, doubled or left out."""
    dice = random.Random(seed)
    for _ in range(many):
        schema, sql = dice.choice(_ANSWERED)
        words = sql.replace("(", " ( ").replace(")", " ) ").replace(",", " , ").split()
        at = dice.randrange(1, len(words))
        match dice.randrange(5):
            case 0:
                letter = dice.randrange(len(words[at]))
                words[at] = words[at][:letter] + words[at][letter + 1 :]
            case 1:
                words[at] = words[at] + words[at][-1]
            case 2:
                words[at] = dice.choice(_OTHER)
            case 3:
                words.insert(at, dice.choice([*_OTHER, words[at]]))
            case _:
                del words[at]
        yield schema, " ".join(words)


def every(many: int = 150, seed: int = 27) -> list[tuple[Schema, Any]]:
    """Those by hand, and those that are generated."""
    return [*BY_HAND, *generated(many, seed)]
