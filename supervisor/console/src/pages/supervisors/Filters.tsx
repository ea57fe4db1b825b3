import { Button, TextInput } from "@mantine/core";
import { useDebouncedCallback } from "@mantine/hooks";
import { useEffect, useRef, useState } from "react";
import { useKeys } from "@/app/keys";
import { Icon } from "@/components/Icon";
import { exact } from "@/text/numbers";
import classes from "./Filters.module.css";
import { isFiltered, type SupervisorsSearch } from "./search";

const TYPING_MS = 250;

type Props = {
  search: SupervisorsSearch;
  totals: Readonly<Record<string, number>>;
  onChange: (part: Partial<SupervisorsSearch>, replace?: boolean) => void;
};

/** Filters of the list; each is in the URL. */
export function Filters({ search, totals, onChange }: Props) {
  const first = useRef<HTMLInputElement>(null);
  useKeys([{ keys: "/", label: "Filter the list", run: () => first.current?.focus() }]);
  const chosen = search.state ?? [];
  const states = [...new Set([...Object.keys(totals), ...chosen])].sort();
  const toggle = (state: string) => {
    const next = chosen.includes(state)
      ? chosen.filter((each) => each !== state)
      : [...chosen, state];
    onChange({ state: next.length === 0 ? undefined : next });
  };
  return (
    <search className={classes.filters}>
      <TextFilter
        label="Name, table or topic"
        width={220}
        field={first}
        value={search.q}
        onChange={(q) => onChange({ q }, true)}
      />
      <Chip
        isOn={search.healthy === "no"}
        onClick={() => onChange({ healthy: search.healthy === "no" ? undefined : "no" })}
      >
        Unhealthy
      </Chip>
      {states.map((state) => (
        <Chip key={state} isOn={chosen.includes(state)} onClick={() => toggle(state)}>
          {state}{" "}
          <span className={classes.number}>
            {exact(Object.hasOwn(totals, state) ? (totals[state] ?? 0) : 0)}
          </span>
        </Chip>
      ))}
      <TextFilter
        label="Table (* = any)"
        width={130}
        value={search.table}
        onChange={(table) => onChange({ table }, true)}
      />
      <TextFilter
        label="Topic (* = any)"
        width={130}
        value={search.topic}
        onChange={(topic) => onChange({ topic }, true)}
      />
      {isFiltered(search) && (
        <Button
          variant="subtle"
          leftSection={<Icon name="close" size={11} />}
          onClick={() =>
            onChange({
              q: undefined,
              state: undefined,
              healthy: undefined,
              table: undefined,
              topic: undefined,
            })
          }
        >
          Clear
        </Button>
      )}
    </search>
  );
}

type TextProps = {
  label: string;
  width: number;
  value: string | undefined;
  field?: React.RefObject<HTMLInputElement | null>;
  onChange: (value: string | undefined) => void;
};

/** A text that filters once nothing was typed for a moment. */
export function TextFilter({ label, width, value = "", field, onChange }: TextProps) {
  const [typed, setTyped] = useState(value);
  const later = useDebouncedCallback((text: string) => onChange(text || undefined), TYPING_MS);
  useEffect(() => setTyped(value), [value]);
  return (
    <TextInput
      ref={field}
      w={width}
      aria-label={label}
      placeholder={label}
      value={typed}
      onChange={({ currentTarget }) => {
        setTyped(currentTarget.value);
        later(currentTarget.value);
      }}
      onKeyDown={(event) => event.key === "Escape" && event.currentTarget.blur()}
    />
  );
}

type ChipProps = { isOn: boolean; onClick: () => void; children: React.ReactNode };

export function Chip({ isOn, onClick, children }: ChipProps) {
  return (
    <button type="button" className={classes.chip} aria-pressed={isOn} onClick={onClick}>
      {children}
    </button>
  );
}
