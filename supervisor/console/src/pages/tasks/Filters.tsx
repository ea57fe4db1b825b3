import { ActionIcon, Tooltip } from "@mantine/core";
import { useRef } from "react";
import { useKeys } from "@/app/keys";
import { Chip } from "@/components/filters/Chip";
import classes from "@/components/filters/Filters.module.css";
import { TextFilter } from "@/components/filters/TextFilter";
import { Icon } from "@/components/Icon";
import { type Listed, numberOf } from "./rows";
import {
  type Grouping,
  groupIn,
  isNarrowed,
  NO_FILTER,
  type TaskState,
  type TasksSearch,
} from "./search";

const CHIPS: readonly (readonly [TaskState, string])[] = [
  ["running", "Running"],
  ["pending", "Pending"],
  ["own-failures", "Failed by themselves"],
  ["failed", "Failed"],
  ["succeeded", "Succeeded"],
  ["all", "All"],
];

const GROUPINGS: readonly (readonly [Grouping, string])[] = [
  ["supervisor", "by supervisor"],
  ["generation", "by range"],
  ["worker", "by worker"],
];

type Props = {
  search: TasksSearch;
  /** Whether the list is that of one supervisor. */
  isFixed: boolean;
  active: Listed | undefined;
  failures: Listed | undefined;
  onChange: (part: TasksSearch, replace?: boolean) => void;
};

/** Filters of the list; each is in the URL. */
export function Filters({ search, isFixed, active, failures, onChange }: Props) {
  const first = useRef<HTMLInputElement>(null);
  useKeys([{ keys: "/", label: "Filter the list", run: () => first.current?.focus() }]);
  const numbers: Partial<Record<TaskState, string | undefined>> = {
    running: numberOf(active, "running"),
    pending: numberOf(active, "pending"),
    "own-failures": numberOf(failures, "own-failures"),
  };
  const shown = { ...search, supervisor: isFixed ? undefined : search.supervisor };
  return (
    <search className={classes.filters}>
      {CHIPS.map(([state, label]) => (
        <Chip
          key={state}
          isOn={search.state === state}
          number={numbers[state]}
          onClick={() => onChange({ state: search.state === state ? undefined : state })}
        >
          {label}
        </Chip>
      ))}
      <TextFilter
        label="Id, worker or reason"
        width={142}
        field={first}
        value={search.q}
        onChange={(q) => onChange({ q }, true)}
      />
      {!isFixed && (
        <TextFilter
          label="Supervisor"
          width={96}
          value={search.supervisor}
          onChange={(supervisor) => onChange({ supervisor }, true)}
        />
      )}
      <TextFilter
        label="Group"
        width={58}
        value={search.group}
        onChange={(group) => onChange({ group: groupIn(group) }, true)}
      />
      <TextFilter
        label="Range"
        width={80}
        value={search.generation}
        onChange={(generation) => onChange({ generation }, true)}
      />
      <TextFilter
        label="Worker"
        width={74}
        value={search.worker}
        onChange={(worker) => onChange({ worker }, true)}
      />
      <select
        className={classes.chip}
        aria-label="Groups"
        value={search.by ?? ""}
        onChange={({ currentTarget }) =>
          onChange({
            by: GROUPINGS.find(([by]) => by === currentTarget.value)?.[0],
            unfolded: undefined,
          })
        }
      >
        <option value="">no groups</option>
        {GROUPINGS.filter(([by]) => !(isFixed && by === "supervisor")).map(([by, label]) => (
          <option key={by} value={by}>
            {label}
          </option>
        ))}
      </select>
      {(isNarrowed(shown) || search.state !== undefined) && (
        <Tooltip label="Clear filters">
          <ActionIcon
            variant="subtle"
            size={30}
            aria-label="Clear"
            onClick={() => onChange(NO_FILTER)}
          >
            <Icon name="close" size={11} />
          </ActionIcon>
        </Tooltip>
      )}
    </search>
  );
}
