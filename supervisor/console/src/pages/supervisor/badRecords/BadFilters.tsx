import { Chip } from "@/components/filters/Chip";
import filters from "@/components/filters/Filters.module.css";
import { ColumnMenu } from "@/components/table/ColumnMenu";
import { exact } from "@/text/numbers";
import { visible } from "@/text/visible";
import classes from "./BadRecords.module.css";
import { COLUMNS, NAME } from "./columns";
import { byPartition, type Kept } from "./quarantine";
import type { BadRecordsSearch } from "./search";

type Props = {
  kept: Kept;
  search: BadRecordsSearch;
  onChange: (part: Partial<BadRecordsSearch>) => void;
};

/** Reasons with their numbers, a partition, and what is listed; each is in the URL. */
export function BadFilters({ kept, search, onChange }: Props) {
  const reasons = Object.entries(kept.reasons).sort(([one], [other]) => (one < other ? -1 : 1));
  const names = byPartition(kept.records);
  const isChosen = names.some(([name]) => name === search.partition);
  if (search.partition !== undefined && !isChosen) {
    names.push([search.partition, 0]);
  }
  const isSamples = search.view === "samples";
  return (
    <search className={filters.filters}>
      {!isSamples && (
        <>
          {reasons.map(([reason, number]) => (
            <Chip
              key={reason}
              isOn={search.reason === reason}
              number={exact(number)}
              onClick={() => onChange({ reason: search.reason === reason ? undefined : reason })}
            >
              {visible(reason)}
            </Chip>
          ))}
          <select
            className={filters.chip}
            aria-label="Partition"
            value={search.partition ?? ""}
            onChange={({ currentTarget }) =>
              onChange({ partition: currentTarget.value || undefined })
            }
          >
            <option value="">all partitions</option>
            {names.map(([name, number]) => (
              <option key={name} value={name}>
                {visible(name)}
                {kept.isWhole && number > 0 && search.partition === undefined
                  ? ` (${exact(number)})`
                  : ""}
              </option>
            ))}
          </select>
        </>
      )}
      <Chip
        isOn={isSamples}
        onClick={() => onChange({ view: isSamples ? undefined : "samples", record: undefined })}
      >
        Newest samples, also of live ranges
      </Chip>
      <span className={classes.right}>
        {!isSamples && <ColumnMenu name={NAME} columns={COLUMNS} />}
      </span>
    </search>
  );
}
