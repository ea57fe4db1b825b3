import { useNavigate } from "@tanstack/react-router";
import { QueryView } from "@/components/QueryView";
import { DataTable } from "@/components/table/DataTable";
import { visible } from "@/text/visible";
import { columnsOf, NAME } from "./columns";
import classes from "./columns.module.css";
import { Empty } from "./Empty";
import { Filters } from "./Filters";
import { inState, type TaskRow, type useTasks } from "./rows";
import { isNarrowed, NO_FILTER, type TasksSearch } from "./search";

type Props = {
  tasks: ReturnType<typeof useTasks>;
  search: TasksSearch;
  /** Whether the list is that of one supervisor. */
  isFixed?: boolean;
  onChange: (part: TasksSearch, replace?: boolean) => void;
};

/** Tasks with their filters, newest first; why one failed is below its row. */
export function TaskList({ tasks, search, isFixed = false, onChange }: Props) {
  const navigate = useNavigate();
  const { active, failures, shown } = tasks;
  const narrowed = { ...search, supervisor: isFixed ? undefined : search.supervisor };
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
        {(listed) => {
          const { rows, isWhole } = inState(listed, search.state);
          return (
            <DataTable
              name={NAME}
              label="Tasks"
              columns={columnsOf(isFixed)}
              rows={rows}
              rowId={({ id }) => id}
              // How many are on further pages is not known.
              total={rows.length + (isWhole ? 0 : 1)}
              below={reasonOf}
              active={search.sel}
              onActive={(sel) => onChange({ sel }, true)}
              onOpen={({ id }) =>
                void navigate({ to: "/tasks/$task/summary", params: { task: id } })
              }
              onEnd={shown.more}
              empty={
                <Empty
                  state={search.state}
                  isNarrowed={isNarrowed(narrowed)}
                  onClear={() => onChange(NO_FILTER)}
                />
              }
            />
          );
        }}
      </QueryView>
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
