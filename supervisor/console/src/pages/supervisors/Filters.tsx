import { Button } from "@mantine/core";
import { useRef } from "react";
import { useKeys } from "@/app/keys";
import { Chip } from "@/components/filters/Chip";
import classes from "@/components/filters/Filters.module.css";
import { TextFilter } from "@/components/filters/TextFilter";
import { Icon } from "@/components/Icon";
import { exact } from "@/text/numbers";
import { isFiltered, type SupervisorsSearch } from "./search";

type Props = {
  search: SupervisorsSearch;
  totals: Readonly<Record<string, number>>;
  onChange: (part: Partial<SupervisorsSearch>, replace?: boolean) => void;
};

/** Filters of the list; each is in the URL. */
export function Filters({ search, totals, onChange }: Props) {
  const first = useRef<HTMLInputElement>(null);
  useKeys([{ keys: "/", label: "Filter the list", run: () => first.current?.focus() }]);
  const areEnded = search.ended === "yes";
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
        label={areEnded ? "Name or table" : "Name, table or topic"}
        width={220}
        field={first}
        value={search.q}
        onChange={(q) => onChange({ q }, true)}
      />
      {!areEnded && (
        <>
          <Chip
            isOn={search.healthy === "no"}
            onClick={() => onChange({ healthy: search.healthy === "no" ? undefined : "no" })}
          >
            Unhealthy
          </Chip>
          {states.map((state) => (
            <Chip
              key={state}
              isOn={chosen.includes(state)}
              number={exact(Object.hasOwn(totals, state) ? (totals[state] ?? 0) : 0)}
              onClick={() => toggle(state)}
            >
              {state}
            </Chip>
          ))}
        </>
      )}
      <Chip
        isOn={areEnded}
        onClick={() => onChange({ ended: areEnded ? undefined : "yes", sel: undefined })}
      >
        Terminated
      </Chip>
      <TextFilter
        label="Table (* = any)"
        width={130}
        value={search.table}
        onChange={(table) => onChange({ table }, true)}
      />
      {!areEnded && (
        <TextFilter
          label="Topic (* = any)"
          width={130}
          value={search.topic}
          onChange={(topic) => onChange({ topic }, true)}
        />
      )}
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
