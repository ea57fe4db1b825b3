import { Button, NativeSelect, TextInput } from "@mantine/core";
import { useState } from "react";
import { Chip } from "@/components/filters/Chip";
import classes from "@/components/filters/Filters.module.css";
import { TextFilter } from "@/components/filters/TextFilter";
import { Icon } from "@/components/Icon";
import { visible } from "@/text/visible";
import {
  type ExecutionsSearch,
  isFiltered,
  LABELS_MAX,
  NO_FILTER,
  STARTERS,
  STATES,
  type Starter,
  WINDOWS,
  type Window,
} from "./search";
import { labelOf, toggled } from "./words";

const WINDOW_WORDS: Record<Window, string> = { "1h": "Last hour", "24h": "24 h", "7d": "7 days" };
const STARTER_WORDS: Record<Starter, string> = {
  request: "a request",
  schedule: "a schedule",
  published: "a publish",
  webhook: "a webhook",
  subflow: "a step of another",
  rerun: "a rerun",
};

type FiltersProps = {
  search: ExecutionsSearch;
  onChange: (part: Partial<ExecutionsSearch>) => void;
};

/** What the list is narrowed to; each filter is in the address. */
export function Filters({ search, onChange }: FiltersProps) {
  return (
    <search className={classes.filters}>
      <TextFilter
        label="Flow, its whole name"
        width={200}
        value={search.flow}
        onChange={(flow) => onChange({ flow })}
      />
      {STATES.map((state) => (
        <Chip
          key={state}
          isOn={search.state?.includes(state) ?? false}
          onClick={() => onChange({ state: toggled(search.state, state) })}
        >
          {state.charAt(0) + state.slice(1).toLowerCase()}
        </Chip>
      ))}
      {(Object.keys(WINDOWS) as Window[]).map((since) => (
        <Chip
          key={since}
          isOn={search.since === since}
          onClick={() => onChange({ since: search.since === since ? undefined : since })}
        >
          {WINDOW_WORDS[since]}
        </Chip>
      ))}
      <StarterFilter search={search} onChange={onChange} />
      <TextFilter
        label="Trigger, its whole name"
        width={190}
        value={search.trigger}
        onChange={(trigger) => onChange({ trigger })}
      />
      <LabelFilter search={search} onChange={onChange} />
      <TextFilter
        label="Text of the error"
        width={160}
        value={search.error}
        onChange={(error) => onChange({ error })}
      />
      {search.parent !== undefined && (
        <Chip isOn onClick={() => onChange({ parent: undefined })}>
          {`Started by ${visible(search.parent)}`}
        </Chip>
      )}
      {isFiltered(search) && (
        <Button
          variant="subtle"
          leftSection={<Icon name="close" size={11} />}
          onClick={() => onChange(NO_FILTER)}
        >
          Clear
        </Button>
      )}
    </search>
  );
}

/** What started an execution. */
function StarterFilter({ search, onChange }: FiltersProps) {
  return (
    <NativeSelect
      aria-label="Started by"
      w={170}
      value={search.startedBy ?? ""}
      data={[
        { value: "", label: "Started by anything" },
        ...STARTERS.map((value) => ({ value, label: `by ${STARTER_WORDS[value]}` })),
      ]}
      onChange={({ currentTarget: { value } }) =>
        onChange({ startedBy: STARTERS.find((each) => each === value) })
      }
    />
  );
}

/** Labels that an execution has to have: each is a chip, Enter adds one. */
function LabelFilter({ search, onChange }: FiltersProps) {
  const [typed, setTyped] = useState("");
  const [isWrong, setWrong] = useState(false);
  const labels = search.label ?? [];
  const add = () => {
    const label = labelOf(typed);
    setWrong(typed.trim() !== "" && label === null);
    if (label !== null) {
      onChange({ label: [...new Set([...labels, label])].slice(0, LABELS_MAX) });
      setTyped("");
    }
  };
  return (
    <>
      {labels.map((label) => (
        <Chip key={label} isOn onClick={() => onChange({ label: toggled(labels, label) })}>
          {visible(label)}
        </Chip>
      ))}
      <TextInput
        w={170}
        aria-label="Label"
        placeholder="Label, as name:value"
        value={typed}
        error={isWrong && "Write name:value."}
        onChange={({ currentTarget }) => {
          setTyped(currentTarget.value);
          setWrong(false);
        }}
        onKeyDown={(event) => {
          if (event.key === "Enter") {
            event.preventDefault();
            add();
          } else if (event.key === "Escape") {
            event.currentTarget.blur();
          }
        }}
      />
    </>
  );
}
