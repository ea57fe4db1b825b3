import { Button, TextInput } from "@mantine/core";
import { useDebouncedCallback } from "@mantine/hooks";
import { useEffect, useRef, useState } from "react";
import { useKeys } from "@/app/keys";
import { Icon } from "@/components/Icon";
import { exact } from "@/text/numbers";
import classes from "./Filters.module.css";
import { chosenOf, type TableRow } from "./rows";
import { ONLY, type Only, type TablesSearch } from "./search";

const TYPING_MS = 150;
const LABELS: Record<Only, string> = {
  trouble: "In trouble",
  exported: "Exported",
  empty: "Without rows",
};

type Props = {
  search: TablesSearch;
  rows: readonly TableRow[];
  onChange: (part: Partial<TablesSearch>, replace?: boolean) => void;
};

/** Filters of the list; each is in the URL. */
export function Filters({ search, rows, onChange }: Props) {
  const field = useRef<HTMLInputElement>(null);
  const { q = "", only } = search;
  const [typed, setTyped] = useState(q);
  const later = useDebouncedCallback(
    (text: string) => onChange({ q: text || undefined }, true),
    TYPING_MS,
  );
  useEffect(() => setTyped(q), [q]);
  useKeys([{ keys: "/", label: "Filter the list", run: () => field.current?.focus() }]);
  return (
    <search className={classes.filters}>
      <TextInput
        ref={field}
        w={220}
        aria-label="Table or supervisor"
        placeholder="Table or supervisor"
        value={typed}
        onChange={({ currentTarget }) => {
          setTyped(currentTarget.value);
          later(currentTarget.value);
        }}
        onKeyDown={(event) => event.key === "Escape" && event.currentTarget.blur()}
      />
      {ONLY.map((each) => (
        <button
          key={each}
          type="button"
          className={classes.chip}
          aria-pressed={only === each}
          onClick={() => onChange({ only: only === each ? undefined : each })}
        >
          {LABELS[each]}{" "}
          <span className={classes.number}>{exact(chosenOf(rows, { only: each }).length)}</span>
        </button>
      ))}
      {(only !== undefined || q !== "") && (
        <Button
          variant="subtle"
          leftSection={<Icon name="close" size={11} />}
          onClick={() => onChange({ q: undefined, only: undefined })}
        >
          Clear
        </Button>
      )}
    </search>
  );
}
