import { useNavigate, useSearch } from "@tanstack/react-router";
import { useCallback, useMemo } from "react";
import { Chip } from "@/components/filters/Chip";
import { TextFilter } from "@/components/filters/TextFilter";
import { QueryView } from "@/components/QueryView";
import { Clock } from "@/components/Time";
import { ColumnMenu } from "@/components/table/ColumnMenu";
import { DataTable } from "@/components/table/DataTable";
import { exact } from "@/text/numbers";
import { visible } from "@/text/visible";
import { useSupervisorId } from "../data";
import type { PartitionsSearch } from "../search";
import split from "../split.module.css";
import { COLUMNS, NAME } from "./columns";
import { BarKey } from "./OffsetBar";
import { PartitionPanel } from "./PartitionPanel";
import classes from "./Partitions.module.css";
import { fitting, type ListedPartitions, nameOf, usePartitions } from "./rows";
import { HeatStrip } from "./strip/HeatStrip";

const FILTERS = [
  ["behind", "Only behind"],
  ["at-risk", "Only at risk"],
] as const;

/** Each partition: what Kafka retains, how far it is published and read, and who reads it. */
export function Partitions() {
  const id = useSupervisorId();
  const search = useSearch({ from: "/shell/supervisors/$id/partitions" });
  const navigate = useNavigate({ from: "/supervisors/$id/partitions" });
  const list = usePartitions(id, search);
  const { more } = list;
  const change = useCallback(
    (part: Partial<PartitionsSearch>) =>
      void navigate({ search: (before) => ({ ...before, ...part }), replace: true }),
    [navigate],
  );
  return (
    <>
      <div className={classes.controls}>
        {FILTERS.map(([only, label]) => (
          <Chip
            key={only}
            isOn={search.only === only}
            onClick={() => change({ only: search.only === only ? undefined : only })}
          >
            {label}
          </Chip>
        ))}
        <TextFilter
          label="Topic"
          width={130}
          value={search.topic}
          onChange={(topic) => change({ topic })}
        />
        <TextFilter
          label="Group"
          width={80}
          value={search.group}
          onChange={(group) => change({ group })}
        />
        {list.data !== undefined && <Looked listed={list.data} />}
        <div className={classes.right}>
          <BarKey />
          <ColumnMenu name={NAME} columns={COLUMNS} />
        </div>
      </div>
      <QueryView query={list} lines={10}>
        {(listed) => <List listed={listed} search={search} more={more} onChange={change} />}
      </QueryView>
    </>
  );
}

type ListProps = {
  listed: ListedPartitions;
  search: PartitionsSearch;
  more: () => void;
  onChange: (part: Partial<PartitionsSearch>) => void;
};

/** The strip of all that fit, the list below it, and the one that is open. */
function List({ listed, search, more, onChange }: ListProps) {
  const id = useSupervisorId();
  const { topic, group, open } = search;
  const rows = useMemo(() => fitting(listed.rows, { topic, group }), [listed, topic, group]);
  const unread = listed.fitting - listed.rows.length;
  const close = () => onChange({ open: undefined });
  return (
    <>
      <HeatStrip
        rows={rows}
        more={unread}
        open={open}
        onOpen={(name) => onChange({ open: name, sel: name })}
        onClose={close}
      />
      <div className={split.split} data-open={open !== undefined}>
        <DataTable
          name={NAME}
          label="Partitions"
          columns={COLUMNS}
          rows={rows}
          rowId={nameOf}
          total={rows.length + unread}
          sort={search.sort ?? ""}
          onSort={(sort) => onChange({ sort: sort === "" ? undefined : sort })}
          active={search.sel}
          onActive={(sel) => onChange({ sel })}
          onOpen={(row) => onChange({ open: nameOf(row) })}
          onEnd={more}
          empty={<Empty search={search} count={listed.count} />}
        />
        {open !== undefined && (
          <PartitionPanel
            id={id}
            name={open}
            row={rows.find((each) => nameOf(each) === open)}
            onClose={close}
          />
        )}
      </div>
    </>
  );
}

/** When the leader looked at Kafka last, and what that look lacked. */
function Looked({ listed: { count, fitting, readAt, trouble } }: { listed: ListedPartitions }) {
  return (
    <span className={classes.dim}>
      {fitting === count ? exact(count) : `${exact(fitting)} of ${exact(count)}`} · as of{" "}
      <Clock at={readAt} unknown="This leader has not looked at Kafka yet." />
      {trouble && ` · the last look failed: ${visible(trouble.text)}`}
    </span>
  );
}

function Empty({ search, count }: { search: PartitionsSearch; count: number }) {
  if (count === 0) {
    return <p>No partition is known yet: the leader has not looked at the topic.</p>;
  }
  if (search.topic !== undefined || search.group !== undefined) {
    return <p>No partition of this topic and this group fits.</p>;
  }
  return search.only === "behind" ? (
    <p>No partition has unread records.</p>
  ) : (
    <p>No partition is at risk: as far as is known, all is published before Kafka deletes it.</p>
  );
}
