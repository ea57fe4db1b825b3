import { useNavigate, useSearch } from "@tanstack/react-router";
import { useCallback, useState } from "react";
import { missing, useMe } from "@/api/me";
import {
  COMPACT,
  compactOf,
  MARK_UNUSED,
  MARK_USED,
  markUnusedOf,
  markUsedOf,
} from "@/changes/tables";
import { openAction } from "@/components/action/ActionDialog";
import { neededFor } from "@/components/action/action";
import { Barred } from "@/components/Barred";
import { QueryView } from "@/components/QueryView";
import { ColumnMenu } from "@/components/table/ColumnMenu";
import { DataTable } from "@/components/table/DataTable";
import { exact } from "@/text/numbers";
import { useTableName } from "../data";
import type { FilesSearch } from "../search";
import { COLUMNS, NAME } from "./columns";
import classes from "./Files.module.css";
import { Filters } from "./Filters";
import { useSegments } from "./rows";
import { SelectionBar } from "./SelectionBar";

const NO_IDS: ReadonlySet<string> = new Set();

/** The table's files by interval: those in use, and those that were taken out of it. */
export function Files() {
  const name = useTableName();
  const search = useSearch({ from: "/shell/tables/$ds/files" });
  const navigate = useNavigate({ from: "/tables/$ds/files" });
  const list = useSegments(name, search);
  const [ids, setIds] = useState(NO_IDS);
  const change = useCallback(
    (part: Partial<FilesSearch>) =>
      void navigate({ search: (before) => ({ ...before, ...part }), replace: true }),
    [navigate],
  );
  const rows = list.data ?? [];
  const chosen = rows.filter(({ id }) => ids.has(id));
  return (
    <>
      <div className={classes.controls}>
        <Filters
          search={search}
          onChange={(part) => {
            setIds(NO_IDS);
            change(part);
          }}
        />
        <div className={classes.right}>
          {list.data !== undefined && (
            <span className={classes.dim}>
              {`${exact(rows.length)}${list.hasMore ? " or more" : ""}`}
            </span>
          )}
          <WindowVerbs name={name} search={search} />
          <ColumnMenu name={NAME} columns={COLUMNS} />
        </div>
      </div>
      {chosen.length > 0 && (
        <SelectionBar name={name} chosen={chosen} onClear={() => setIds(NO_IDS)} />
      )}
      <QueryView query={list} lines={10}>
        {(segments) => (
          <DataTable
            name={NAME}
            label="Files"
            columns={COLUMNS}
            rows={segments}
            rowId={({ id }) => id}
            total={segments.length + (list.hasMore ? 1 : 0)}
            selection={{ ids, onChange: setIds }}
            active={search.sel}
            onActive={(sel) => change({ sel })}
            onEnd={list.more}
            empty={<p>{emptyOf(search)}</p>}
          />
        )}
      </QueryView>
    </>
  );
}

/** What can be done with all files of the window of time, whether or not they are listed yet. */
function WindowVerbs({ name, search }: { name: string; search: FilesSearch }) {
  const me = useMe();
  const { from, to, supervisor, used = "yes" } = search;
  if (from === undefined || to === undefined || !(from < to)) {
    return null;
  }
  const interval = `${from}/${to}`;
  const foreign =
    supervisor === undefined
      ? null
      : "It would take files of all supervisors: clear that filter, or select files.";
  return (
    <>
      {used !== "no" && (
        <Barred
          why={foreign ?? missing(me, neededFor("post", COMPACT), name)}
          onClick={() => openAction(compactOf(name, { interval }))}
        >
          Compact this time…
        </Barred>
      )}
      {used === "yes" && (
        <Barred
          why={foreign ?? missing(me, neededFor("post", MARK_UNUSED), name)}
          onClick={() => openAction(markUnusedOf(name, { interval }))}
        >
          Take this time out…
        </Barred>
      )}
      {used === "no" && (
        <Barred
          why={foreign ?? missing(me, neededFor("post", MARK_USED), name)}
          onClick={() => openAction(markUsedOf(name, { interval }))}
        >
          Put this time back…
        </Barred>
      )}
    </>
  );
}

function emptyOf({ used = "yes", from, to, supervisor }: FilesSearch): string {
  const isBound = from !== undefined || to !== undefined || supervisor !== undefined;
  if (isBound) {
    return "No file fits: one is listed if its whole interval lies between the two times.";
  }
  switch (used) {
    case "yes":
      return "No file is in use: they come with the first publication.";
    case "no":
      return "No file was taken out, or all of them are deleted.";
    case "all":
      return "It has no file: they come with the first publication.";
  }
}
