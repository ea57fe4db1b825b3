"""Submit a document by the hook of Airflow's Druid provider, which polls until the task ends.

Arguments: the document's file; after how many seconds the hook gives up and shuts the task down.
The connection is in the environment, as Airflow has it.
"""

import sys
from pathlib import Path

from airflow.providers.apache.druid.hooks.druid import DruidHook

if __name__ == "__main__":
    file, within_s = sys.argv[1:]
    hook = DruidHook(timeout=1, max_ingestion_time=int(within_s))
    hook.submit_indexing_job(Path(file).read_text(encoding="utf-8"))
