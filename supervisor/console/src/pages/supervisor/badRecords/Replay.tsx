import { missing, useMe } from "@/api/me";
import { REPLAY } from "@/changes/badRecords";
import { neededFor } from "@/components/action/action";
import { Barred } from "@/components/Barred";
import classes from "./BadRecords.module.css";
import { openReplay } from "./ReplayForm";
import { type BadRecordsSearch, partitionOf } from "./search";
import { partitionsOf, type Summary, tableOf } from "./summary";

type Props = { id: string; summary: Summary; search: BadRecordsSearch };

/** Sends the records again: to a topic of their own, that a corrected spec then reads. */
export function Replay({ id, summary, search }: Props) {
  const me = useMe();
  const place = partitionOf(search.partition ?? "");
  return (
    <p className={classes.replay}>
      <Barred
        why={missing(me, neededFor("post", REPLAY), tableOf(summary))}
        onClick={() =>
          openReplay({
            id,
            reasons: Object.keys(summary.reasons),
            partitions: partitionsOf(summary),
            reason: search.reason ?? null,
            partition: place?.partition ?? null,
          })
        }
      >
        Replay…
      </Barred>
      <span>
        To load them after all, send them to a topic of their own; a supervisor with a corrected
        spec, another id and the same table reads it.
      </span>
    </p>
  );
}
