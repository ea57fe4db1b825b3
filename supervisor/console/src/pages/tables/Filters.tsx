import { Button } from "@mantine/core";
import { useRef } from "react";
import { useKeys } from "@/app/keys";
import { Chip } from "@/components/filters/Chip";
import classes from "@/components/filters/Filters.module.css";
import { TextFilter } from "@/components/filters/TextFilter";
import { Icon } from "@/components/Icon";
import { exact } from "@/text/numbers";
import { chosenOf, type TableRow } from "./rows";
import { ONLY, type Only, type TablesSearch } from "./search";

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
  useKeys([{ keys: "/", label: "Filter the list", run: () => field.current?.focus() }]);
  return (
    <search className={classes.filters}>
      <TextFilter
        field={field}
        label="Table or supervisor"
        width={220}
        value={q}
        onChange={(text) => onChange({ q: text }, true)}
      />
      {ONLY.map((each) => (
        <Chip
          key={each}
          isOn={only === each}
          number={exact(chosenOf(rows, { only: each }).length)}
          onClick={() => onChange({ only: only === each ? undefined : each })}
        >
          {LABELS[each]}
        </Chip>
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
