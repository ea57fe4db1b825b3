import { Count } from "@/components/Count";
import { Figure, Figures } from "@/components/Figures";
import { visible } from "@/text/visible";
import type { Status } from "../data";
import { byPartition, type Kept, sumOf } from "./quarantine";
import type { BadRecordsSearch } from "./search";

type Props = {
  kept: Kept;
  rejected: Status["rejected"] | undefined;
  search: BadRecordsSearch;
};

/** How many records are kept, were ever rejected, and are in ranges that still read. */
export function BadFigures({ kept, rejected, search }: Props) {
  const partitions = byPartition(kept.records).length;
  const reasons = Object.keys(kept.reasons).length;
  return (
    <Figures>
      <Figure
        name="Kept"
        note={
          search.partition === undefined ? "as they were sent" : `of ${visible(search.partition)}`
        }
      >
        <Count value={sumOf(kept.reasons)} unknown="" />
      </Figure>
      <Figure name="Reasons" note={kept.isWhole ? "of all that are kept" : "of all pages"}>
        <Count value={reasons} unknown="" />
      </Figure>
      <Figure name="Partitions" note={kept.isWhole ? "that have some" : "of those shown so far"}>
        <Count value={partitions} unknown="" />
      </Figure>
      <Figure name="Rejected in all" note="published ranges, kept or not">
        <Count
          value={rejected?.published}
          unknown="It is counted while the supervisor is not terminated."
        />
      </Figure>
      <Figure
        name="Live"
        note="in ranges that still read"
        isBad={rejected !== undefined && rejected.live > 0}
      >
        <Count
          value={rejected?.live}
          unknown="It is counted while the supervisor is not terminated."
        />
      </Figure>
    </Figures>
  );
}
