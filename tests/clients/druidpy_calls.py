"""Ask all of an overlord that druidpy can ask, and have it submit a document and poll.

Arguments: the overlord's address; the document's file.  Prints one JSON object.
"""

import contextlib
import json
import sys

from druidpy.druid import Druid

if __name__ == "__main__":
    url, file = sys.argv[1:]
    druid = Druid()
    with contextlib.redirect_stdout(sys.stderr):  # it prints as it goes
        answers = {
            "status": json.loads(druid.get_status(url)),
            "health": json.loads(druid.get_health(url)),
            "leader": druid.overlord_leader(url).decode(),
            "ingested": druid.ingest_task(url, file),
        }
    sys.stdout.write(json.dumps(answers))
