import { Button } from "@mantine/core";
import { type ReactNode, useRef } from "react";
import { useKeys } from "@/app/keys";
import classes from "@/components/filters/Filters.module.css";
import { TextFilter } from "@/components/filters/TextFilter";
import { Icon } from "@/components/Icon";
import type { NO_FILTER } from "./search";

type Common = { [name in keyof typeof NO_FILTER]?: string | undefined };

type Props = {
  search: Common;
  isFiltered: boolean;
  /** The filters of one view alone. */
  children: ReactNode;
  onChange: (part: Common) => void;
  onClear: () => void;
};

const FILTERS = [
  ["supervisor", "Supervisor", 130],
  ["dataSource", "Table", 110],
  ["worker", "Worker", 90],
  ["task", "Task", 160],
  ["from", "From, such as 2026-01-05T12:00:00Z", 190, "From 2026-01-05T12:00Z"],
  ["to", "To, such as 2026-01-05T13:00:00Z", 190, "To 2026-01-05T13:00Z"],
] as const;

/** Filters of a search; each is in the URL. */
export function LogFilters({ search, isFiltered, children, onChange, onClear }: Props) {
  const first = useRef<HTMLInputElement>(null);
  useKeys([{ keys: "/", label: "Filter the list", run: () => first.current?.focus() }]);
  return (
    <search className={classes.filters}>
      {children}
      {FILTERS.map(([name, label, width, placeholder = label], index) => (
        <TextFilter
          key={name}
          label={label}
          placeholder={placeholder}
          width={width}
          {...(index === 0 ? { field: first } : {})}
          value={search[name]}
          onChange={(text) => onChange({ [name]: text })}
        />
      ))}
      {isFiltered && (
        <Button variant="subtle" leftSection={<Icon name="close" size={11} />} onClick={onClear}>
          Clear
        </Button>
      )}
    </search>
  );
}
