import { Button } from "@mantine/core";
import { useState } from "react";
import { missing, useMe } from "@/api/me";
import { RESUME, SUSPEND } from "@/changes/supervisors";
import { neededFor } from "@/components/action/action";
import { Barred } from "@/components/Barred";
import { counted } from "@/text/numbers";
import { openBulk } from "./BulkDialog";
import { allIds, type ListedRow } from "./rows";
import classes from "./SelectionBar.module.css";
import type { SupervisorsSearch } from "./search";

type Props = {
  ids: ReadonlySet<string>;
  rows: readonly ListedRow[];
  search: SupervisorsSearch;
  onChange: (ids: ReadonlySet<string>) => void;
};

/** What can be done with the selected supervisors. */
export function SelectionBar({ ids, rows, search, onChange }: Props) {
  const me = useMe();
  const [isSelecting, setSelecting] = useState(false);
  const tables = new Set(rows.filter(({ id }) => ids.has(id)).map((row) => row.dataSource));
  const lackFor = (path: typeof SUSPEND | typeof RESUME) => {
    const needed = neededFor("post", path);
    return [...tables].map((table) => missing(me, needed, table)).find((each) => each !== null);
  };
  const selectAll = async () => {
    setSelecting(true);
    try {
      onChange(new Set(await allIds(search)));
    } finally {
      setSelecting(false);
    }
  };
  return (
    <div className={classes.bar} role="toolbar" aria-label="Selected supervisors">
      <strong>{counted(ids.size, "supervisor")} selected</strong>
      <Barred why={lackFor(SUSPEND) ?? null} onClick={() => openBulk("suspend", [...ids])}>
        Suspend…
      </Barred>
      <Barred why={lackFor(RESUME) ?? null} onClick={() => openBulk("resume", [...ids])}>
        Resume…
      </Barred>
      <Button variant="subtle" loading={isSelecting} onClick={() => void selectAll()}>
        Select all that fit the filters
      </Button>
      <Button variant="subtle" onClick={() => onChange(new Set())}>
        Select none
      </Button>
    </div>
  );
}
