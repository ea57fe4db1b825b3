import { Button } from "@mantine/core";
import { useState } from "react";
import { missing, useMe } from "@/api/me";
import { Barred } from "@/components/Barred";
import { counted } from "@/text/numbers";
import { openBulk } from "./BulkDialog";
import type { Outcome } from "./bulk";
import { BULK, BULK_VERBS, type BulkVerb, neededForBulk } from "./bulkVerbs";
import { exportSpecs } from "./exportSpecs";
import { allIds, type ListedRow } from "./rows";
import classes from "./SelectionBar.module.css";
import type { SupervisorsSearch } from "./search";

type Props = {
  ids: ReadonlySet<string>;
  rows: readonly ListedRow[];
  search: SupervisorsSearch;
  onChange: (ids: ReadonlySet<string>) => void;
  /** Hears what a verb for many has done to each. */
  onOutcome: (verb: BulkVerb, outcome: Outcome) => void;
};

/** What can be done with the selected supervisors. */
export function SelectionBar({ ids, rows, search, onChange, onOutcome }: Props) {
  const me = useMe();
  const [isSelecting, setSelecting] = useState(false);
  const [isSaving, setSaving] = useState(false);
  const tables = new Set(rows.filter(({ id }) => ids.has(id)).map((row) => row.dataSource));
  const lackFor = (verb: BulkVerb) => {
    const needed = neededForBulk(verb);
    const lacks = [...tables].map((table) => missing(me, needed, table));
    return lacks.find((each) => each !== null) ?? null;
  };
  const save = async () => {
    setSaving(true);
    try {
      await exportSpecs([...ids]);
    } finally {
      setSaving(false);
    }
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
      {BULK_VERBS.map((verb) => (
        <Barred
          key={verb}
          why={lackFor(verb)}
          onClick={() =>
            openBulk({ verb, ids: [...ids], onOutcome: (outcome) => onOutcome(verb, outcome) })
          }
        >
          {BULK[verb].word}…
        </Barred>
      ))}
      <Button loading={isSaving} onClick={() => void save()}>
        Export specs
      </Button>
      <Button variant="subtle" loading={isSelecting} onClick={() => void selectAll()}>
        Select all that fit the filters
      </Button>
      <Button variant="subtle" onClick={() => onChange(new Set())}>
        Select none
      </Button>
    </div>
  );
}
