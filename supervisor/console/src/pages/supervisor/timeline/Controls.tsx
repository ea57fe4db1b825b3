import { Button, SegmentedControl } from "@mantine/core";
import { Chip } from "@/components/filters/Chip";
import filters from "@/components/filters/Filters.module.css";
import { WINDOWS, type Window } from "../search";
import type { Range } from "./phases";
import type { TimelineSearch } from "./search";
import classes from "./Timeline.module.css";

type Props = {
  search: TimelineSearch;
  ranges: readonly Range[];
  onChange: (part: Partial<TimelineSearch>) => void;
};

/** Window, group and filter of the timeline; each is in the URL. */
export function Controls({ search, ranges, onChange }: Props) {
  const isTable = search.as === "table";
  return (
    <div className={classes.controls}>
      <Button
        variant="subtle"
        size="compact-xs"
        onClick={() => onChange({ as: isTable ? undefined : "table" })}
      >
        {isTable ? "Show as a chart" : "Show as a table"}
      </Button>
      <Chip
        isOn={search.only === "failed"}
        onClick={() => onChange({ only: search.only === "failed" ? undefined : "failed" })}
      >
        Only failed
      </Chip>
      <select
        className={filters.chip}
        aria-label="Group"
        value={search.group ?? ""}
        onChange={({ currentTarget }) => onChange({ group: currentTarget.value || undefined })}
      >
        <option value="">all groups</option>
        {groupsOf(ranges, search.group).map((group) => (
          <option key={group} value={group}>
            group {group}
          </option>
        ))}
      </select>
      <SegmentedControl
        aria-label="Window of time"
        data={Object.keys(WINDOWS)}
        value={search.window ?? "1h"}
        onChange={(window) => onChange({ window: window as Window })}
      />
    </div>
  );
}

/** The groups that there may be, by the layouts that were seen. */
function groupsOf(ranges: readonly Range[], chosen: string | undefined): string[] {
  const count = Math.max(0, ...ranges.map(({ taskCount }) => taskCount));
  const groups = new Set(Array.from({ length: count }, (_, group) => String(group)));
  return [...(chosen === undefined ? groups : groups.add(chosen))];
}
