# Databricks notebook source
# MAGIC %md
# MAGIC # anon-spark in five minutes
# MAGIC A small table of patients is made fit to be handed out: nobody who knows a patient's age, zip code and sex can tell which row is
# MAGIC theirs, nor what they suffer from. Runs on a cluster, on serverless compute, over Spark Connect and on local Spark.

# COMMAND ----------

# MAGIC %md
# MAGIC The wheel is made by `pip wheel --no-deps .`, and lies where the notebook can read it: on Databricks, in a volume of yours.

# COMMAND ----------

# MAGIC %pip install /Volumes/main/default/wheels/anon_spark-0.1.0-py3-none-any.whl

# COMMAND ----------

import tempfile

from pyspark.sql import SparkSession

from anon_spark import Policy, anonymize

# a notebook on Databricks has its session already
spark = SparkSession.builder.getOrCreate()

# where releases that are given no output are kept until they are closed: on Databricks, a folder of a volume of yours
STAGING = tempfile.mkdtemp()

# COMMAND ----------

# MAGIC %md
# MAGIC ## The table

# COMMAND ----------

patients = spark.createDataFrame(
    [
        ("Ada", 34, "53711", "female", "flu"),
        ("Bea", 36, "53711", "female", "asthma"),
        ("Cid", 38, "53712", "male", "flu"),
        ("Dan", 31, "53713", "male", "diabetes"),
        ("Eve", 52, "53711", "female", "asthma"),
        ("Fay", 57, "53715", "female", "flu"),
        ("Gus", 55, "53716", "male", "diabetes"),
        ("Hal", 58, "53716", "male", "flu"),
    ],
    "name string, age int, zip string, sex string, illness string",
)
patients.show()

# COMMAND ----------

# MAGIC %md
# MAGIC ## The policy
# MAGIC The same names as in a configuration file: `Policy.from_yaml("conf/adult.yaml")` reads one.

# COMMAND ----------

policy = Policy(
    columns=[
        {"name": "name", "role": "identifier"},
        {"name": "age", "role": "quasi-identifier", "hierarchy": {"intervals": [5, 10, 20]}},
        {"name": "zip", "role": "quasi-identifier", "hierarchy": {"mask": "right"}},
        {"name": "sex", "role": "quasi-identifier", "hierarchy": "flat"},
        {"name": "illness", "role": "sensitive"},
    ],
    privacy=[
        {"model": "k-anonymity", "k": 2},
        {"model": "alpha-deassociation", "alpha": 0.5},
    ],
    settings={"staging": STAGING},
)

# COMMAND ----------

# MAGIC %md
# MAGIC ## The release
# MAGIC `anonymize` returns once an independent audit of what was written has confirmed every model; otherwise it raises.

# COMMAND ----------

release = anonymize(patients, policy)
release.table.show(truncate=False)

# COMMAND ----------

# the last value of a cell is displayed: verdict, models, levels, loss
release

# COMMAND ----------

# MAGIC %md
# MAGIC ## What it is made of

# COMMAND ----------

release.classes.show(truncate=False)
print(release.report.to_json())

# COMMAND ----------

# MAGIC %md
# MAGIC A release without an output lies in a temporary directory, and ends with `close`. Give the policy an
# MAGIC `output={"format": "parquet", "path": "..."}` to publish it.

# COMMAND ----------

release.close()
