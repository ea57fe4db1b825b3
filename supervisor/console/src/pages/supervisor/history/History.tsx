import { useNavigate, useSearch } from "@tanstack/react-router";
import { useMemo } from "react";
import { QueryView } from "@/components/QueryView";
import { ColumnMenu } from "@/components/table/ColumnMenu";
import { DataTable } from "@/components/table/DataTable";
import { counted } from "@/text/numbers";
import { useSupervisorId } from "../data";
import type { HistorySearch } from "../search";
import { Comparison } from "./Comparison";
import { columnsFor, NAME } from "./columns";
import classes from "./History.module.css";
import { RollBackDialog } from "./RollBackDialog";
import { useVersions, type VersionLine, type Versions } from "./versions";

/** The versions of one supervisor's spec: who stored each, why, and what it changed. */
export function History() {
  const id = useSupervisorId();
  const versions = useVersions(id);
  return (
    <QueryView query={versions} lines={10}>
      {(listed) => <Listed id={id} versions={listed} onEnd={versions.more} />}
    </QueryView>
  );
}

type Props = { id: string; versions: Versions; onEnd: () => void };

function Listed({ id, versions, onEnd }: Props) {
  const search = useSearch({ from: "/shell/supervisors/$id/history" });
  const navigate = useNavigate({ from: "/supervisors/$id/history" });
  const { rows, total } = versions;
  const { left, right } = pickedIn(search, rows);
  const change = useMemo(
    () => (part: Partial<HistorySearch>) =>
      void navigate({ search: (before) => ({ ...before, ...part }), replace: true }),
    [navigate],
  );
  const columns = useMemo(
    () =>
      columnsFor({ ...(left ? { left } : {}), ...(right ? { right } : {}) }, (side, version) =>
        change({ [side]: version }),
      ),
    [left, right, change],
  );
  return (
    <div className={classes.history}>
      <div className={classes.bar}>
        <span>
          {counted(total, "version")}. Two of them are compared below: pick left and right.
        </span>
        <ColumnMenu name={NAME} columns={columns} />
      </div>
      <div className={classes.list} data-few={rows.length <= 4}>
        <DataTable
          name={NAME}
          label="Versions"
          columns={columns}
          rows={rows}
          rowId={({ versionNumber }) => String(versionNumber)}
          total={total}
          active={search.sel}
          onActive={(sel) => change({ sel })}
          onEnd={onEnd}
          empty="No version of it may be read by you."
        />
      </div>
      <Comparison {...{ id, left, right, search }} onChange={change} />
      <RollBackDialog
        id={id}
        version={search.rollback}
        newest={rows[0]?.versionNumber}
        onClose={() => change({ rollback: undefined })}
      />
    </div>
  );
}

/** The versions of the address; else the newest one, and the one before it. */
function pickedIn(search: HistorySearch, rows: readonly VersionLine[]) {
  const right = search.right ?? rows[0]?.versionNumber;
  const before = right === undefined ? undefined : right - 1;
  return { left: search.left ?? (before === 0 ? undefined : before), right };
}
