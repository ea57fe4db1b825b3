import { useNavigate } from "@tanstack/react-router";
import { useMemo } from "react";
import { QueryView } from "@/components/QueryView";
import { DataTable } from "@/components/table/DataTable";
import { visible } from "@/text/visible";
import { columnsOf, NAME } from "./columns";
import classes from "./columns.module.css";
import { Empty } from "./Empty";
import { Filters } from "./Filters";
import { GroupHead, GroupsOf } from "./GroupHead";
import { type Lines, linesOf, toggledIn } from "./groups";
import { inState, type Listed, type TaskRow, type useTasks } from "./rows";
import { isNarrowed, NO_FILTER, type TasksSearch } from "./search";

const NO_HEADS: Lines["heads"] = new Map();

type Props = {
  tasks: ReturnType<typeof useTasks>;
  search: TasksSearch;
  /** Whether the list is that of one supervisor. */
  isFixed?: boolean;
  onChange: (part: TasksSearch, replace?: boolean) => void;
};

/** Tasks with their filters, newest first; why one failed is below its row. */
export function TaskList({ tasks, search, isFixed = false, onChange }: Props) {
  const { active, failures, shown } = tasks;
  return (
    <>
      <Filters
        search={search}
        isFixed={isFixed}
        active={active}
        failures={failures}
        onChange={onChange}
      />
      <QueryView query={shown} lines={12}>
        {(listed) => (
          <Listing
            listed={inState(listed, search.state)}
            search={search}
            isFixed={isFixed}
            more={shown.more}
            onChange={onChange}
          />
        )}
      </QueryView>
    </>
  );
}

type ListingProps = {
  listed: Listed;
  search: TasksSearch;
  isFixed: boolean;
  more: () => void;
  onChange: Props["onChange"];
};

/** The tasks one by one, or below the heads of their groups. */
function Listing({ listed: { rows, isWhole }, search, isFixed, more, onChange }: ListingProps) {
  const navigate = useNavigate();
  const { by, unfolded } = search;
  const lines = useMemo(
    () => (by === undefined ? { rows, heads: NO_HEADS } : linesOf(rows, by, unfolded)),
    [rows, by, unfolded],
  );
  const toggle = (key: string) => onChange({ unfolded: toggledIn(unfolded, key) }, true);
  const head = ({ id }: TaskRow) => {
    const group = lines.heads.get(id);
    return by === undefined || group === undefined ? null : (
      <GroupHead by={by} group={group} onToggle={() => toggle(group.key)} />
    );
  };
  const narrowed = { ...search, supervisor: isFixed ? undefined : search.supervisor };
  return (
    <>
      {by !== undefined && <GroupsOf count={rows.length} isWhole={isWhole} more={more} />}
      <DataTable
        name={NAME}
        label="Tasks"
        columns={columnsOf(isFixed)}
        rows={lines.rows}
        rowId={({ id }) => id}
        // How many are on further pages is not known; groups have them when somebody wants them.
        total={lines.rows.length + (isWhole || by !== undefined ? 0 : 1)}
        below={(row) => (lines.heads.has(row.id) ? null : reasonOf(row))}
        head={head}
        active={search.sel}
        onActive={(sel) => onChange({ sel }, true)}
        onOpen={({ id }) => {
          const group = lines.heads.get(id);
          if (group === undefined) {
            void navigate({ to: "/tasks/$task/summary", params: { task: id } });
          } else {
            toggle(group.key);
          }
        }}
        onEnd={more}
        empty={
          <Empty
            state={search.state}
            isNarrowed={isNarrowed(narrowed)}
            isFixed={isFixed}
            onClear={() => onChange(NO_FILTER)}
          />
        }
      />
    </>
  );
}

/** The line below a failed task, or one whose status only a newer release knows: why. */
function reasonOf({ status, reason, errorMsg }: TaskRow) {
  if (status === "RUNNING" || status === "SUCCESS") {
    return null;
  }
  const why = visible(reason || errorMsg || "Why is not on record.");
  return (
    <div className={classes.reason} data-bad={status === "FAILED"} title={why}>
      {why}
    </div>
  );
}
