import { SegmentedControl } from "@mantine/core";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { useCallback, useMemo } from "react";
import { Chip } from "@/components/filters/Chip";
import { ProblemNote } from "@/components/ProblemNote";
import { Shape } from "@/components/Shape";
import { ColumnMenu } from "@/components/table/ColumnMenu";
import { DataTable } from "@/components/table/DataTable";
import { exact } from "@/text/numbers";
import { visible } from "@/text/visible";
import { useStats, useTableName } from "../data";
import type { CoverageSearch } from "../search";
import classes from "./Coverage.module.css";
import { BarKey } from "./CoverageBar";
import { PARTITION_COLUMNS, PARTITIONS, RUN_COLUMNS, RUNS } from "./columns";
import { ASKED_MAX, useCoverages } from "./data";
import { SumLine } from "./SumLine";
import { isOpen, KINDS, type ListedPartition, partitionsOf, runsOf } from "./shape";
import { Totals } from "./Totals";

/** What became of each offset that the table's supervisors have committed, as bars and sums. */
export function Coverage() {
  const name = useTableName();
  const search = useSearch({ from: "/shell/tables/$ds/coverage" });
  const navigate = useNavigate({ from: "/tables/$ds/coverage" });
  const supervisors = useStats(name).data?.supervisors ?? [];
  const asked = askedOf(supervisors, search.supervisor);
  const { all, isPending, failed } = useCoverages(asked);
  const change = useCallback(
    (part: Partial<CoverageSearch>) =>
      void navigate({ search: (before) => ({ ...before, ...part }), replace: true }),
    [navigate],
  );
  if (asked.length === 0) {
    return (
      <p>
        No supervisor feeds it now. The coverage of a terminated one:{" "}
        <code>tidegate supervisor coverage ID</code>
      </p>
    );
  }
  return (
    <>
      {failed.map(({ id, problem, retry }) => (
        <div key={id}>
          <p>{`Of ${visible(id)} it is not known:`}</p>
          <ProblemNote problem={problem} onRetry={retry} />
        </div>
      ))}
      <Totals coverages={all} table={name} />
      {isPending && all.length === 0 ? (
        <Shape lines={6} />
      ) : (
        all.length > 0 && (
          <>
            <div className={classes.controls}>
              <Choice supervisors={supervisors} search={search} onChange={change} />
              <div className={classes.right}>
                {search.by === "runs" ? (
                  <ColumnMenu name={RUNS} columns={RUN_COLUMNS} />
                ) : (
                  <ColumnMenu name={PARTITIONS} columns={PARTITION_COLUMNS} />
                )}
              </div>
            </div>
            {search.by !== "runs" && <BarKey kinds={KINDS} />}
            <Listed coverages={all} search={search} onChange={change} />
          </>
        )
      )}
    </>
  );
}

/** The supervisors to ask: the chosen one, else all of them, as long as they are few. */
function askedOf(supervisors: readonly string[], chosen: string | undefined): string[] {
  return chosen === undefined ? supervisors.slice(0, ASKED_MAX) : [chosen];
}

type ChoiceProps = {
  supervisors: readonly string[];
  search: CoverageSearch;
  onChange: (part: Partial<CoverageSearch>) => void;
};

function Choice({ supervisors, search, onChange }: ChoiceProps) {
  return (
    <>
      <SegmentedControl
        aria-label="Show"
        size="xs"
        data={[
          { value: "partitions", label: "Partitions" },
          { value: "runs", label: "Runs of offsets" },
        ]}
        value={search.by ?? "partitions"}
        onChange={(value) => onChange({ by: value === "runs" ? "runs" : undefined })}
      />
      <Chip
        isOn={search.only === "open"}
        onClick={() => onChange({ only: search.only === "open" ? undefined : "open" })}
      >
        Only what is not simply published
      </Chip>
      {supervisors.length > 1 && (
        <label className={classes.select}>
          Supervisor{" "}
          <select
            value={search.supervisor ?? ""}
            onChange={({ currentTarget }) =>
              onChange({ supervisor: currentTarget.value || undefined })
            }
          >
            <option value="">
              {supervisors.length > ASKED_MAX
                ? `the first ${ASKED_MAX} of ${exact(supervisors.length)}`
                : `all ${exact(supervisors.length)}`}
            </option>
            {supervisors.map((id) => (
              <option key={id} value={id}>
                {visible(id)}
              </option>
            ))}
          </select>
        </label>
      )}
    </>
  );
}

type ListedProps = {
  coverages: Parameters<typeof partitionsOf>[0];
  search: CoverageSearch;
  onChange: (part: Partial<CoverageSearch>) => void;
};

function Listed({ coverages, search, onChange }: ListedProps) {
  const { by, only, sel } = search;
  const partitions = useMemo(() => partitionsOf(coverages), [coverages]);
  const runs = useMemo(() => runsOf(coverages), [coverages]);
  const shared = {
    active: sel,
    onActive: (id: string) => onChange({ sel: id }),
    empty: (
      <p>
        {partitions.length === 0
          ? "No partition has a committed offset yet: the first one comes with the first look at the topic."
          : "Each committed offset is published, once."}
      </p>
    ),
  };
  if (by === "runs") {
    const shown = only === "open" ? runs.filter(({ kind }) => kind !== "published") : runs;
    return (
      <DataTable
        {...shared}
        name={RUNS}
        label="Runs of offsets"
        columns={RUN_COLUMNS}
        rows={shown}
        rowId={({ id }) => id}
        total={shown.length}
      />
    );
  }
  const shown = only === "open" ? partitions.filter(isOpen) : partitions;
  return (
    <DataTable
      {...shared}
      name={PARTITIONS}
      label="Coverage by partition"
      columns={PARTITION_COLUMNS}
      rows={shown}
      rowId={({ id }) => id}
      total={shown.length}
      below={sumBelow}
    />
  );
}

function sumBelow({ counts, firstOffset, nextOffset, more, recreatedAt }: ListedPartition) {
  return (
    <span className={classes.below}>
      <SumLine counts={counts} first={firstOffset} next={nextOffset} />
      {more && " the bar has the newest 1,000 runs"}
      {recreatedAt !== null && " the topic was taken up as a new one: earlier offsets are not here"}
    </span>
  );
}
