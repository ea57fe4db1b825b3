import { Button } from "@mantine/core";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { useCallback, useEffect } from "react";
import { Chip } from "@/components/filters/Chip";
import filters from "@/components/filters/Filters.module.css";
import { TextFilter } from "@/components/filters/TextFilter";
import { Icon } from "@/components/Icon";
import { Panel } from "@/components/Panel";
import { QueryView } from "@/components/QueryView";
import { useSupervisorId } from "../data";
import { ACTIONS, actionWords, type Entry, entriesOf, isFiltered, type Plan } from "./decisions";
import { EntryLines } from "./EntryLines";
import { Now } from "./Now";
import { usePlans } from "./plans";
import type { WhySearch } from "./search";
import classes from "./Why.module.css";

/** What the supervisor waits for now, and what its passes decided for which reason. */
export function Why() {
  const id = useSupervisorId();
  const search = useSearch({ from: "/shell/supervisors/$id/why" });
  const navigate = useNavigate({ from: "/supervisors/$id/why" });
  const change = useCallback(
    (part: Partial<WhySearch>) =>
      void navigate({ search: (before) => ({ ...before, ...part }), replace: true }),
    [navigate],
  );
  const plans = usePlans(id);
  const { more, isWhole } = plans;
  const filtered = isFiltered(search);
  useEffect(() => {
    if (filtered && !isWhole) {
      more();
    }
  }, [filtered, isWhole, more]);
  return (
    <>
      <Now id={id} newest={plans.data?.[0]} />
      <Panel title="Decisions">
        <QueryView query={plans} lines={8}>
          {(all) => (
            <>
              <Filters search={search} plans={all} onChange={change} />
              <Decisions
                entries={entriesOf(all, search)}
                isFiltered={filtered}
                id={id}
                onAbout={(about) => change({ about })}
              />
              {!isWhole && <Button onClick={more}>Show older decisions</Button>}
            </>
          )}
        </QueryView>
      </Panel>
    </>
  );
}

type FiltersProps = {
  search: WhySearch;
  plans: readonly Plan[];
  onChange: (part: Partial<WhySearch>) => void;
};

/** Actions that were decided, or that are chosen, as chips; an id, or a part of one. */
function Filters({ search, plans, onChange }: FiltersProps) {
  const chosen = search.action ?? [];
  const seen = new Set([
    ...plans.flatMap(({ actions }) => actions.map(({ action }) => action)),
    ...chosen,
  ]);
  const known = [...ACTIONS.filter((name) => seen.has(name))];
  const names = [...known, ...[...seen].filter((name) => !known.includes(name))];
  const toggle = (name: string) => {
    const next = chosen.includes(name) ? chosen.filter((each) => each !== name) : [...chosen, name];
    onChange({ action: next.length === 0 ? undefined : next });
  };
  return (
    <search className={`${filters.filters} ${classes.filters}`}>
      <TextFilter
        label="About (id of a range or task)"
        width={230}
        value={search.about}
        onChange={(about) => onChange({ about })}
      />
      {names.map((name) => (
        <Chip key={name} isOn={chosen.includes(name)} onClick={() => toggle(name)}>
          {actionWords(name)}
        </Chip>
      ))}
      {isFiltered(search) && (
        <Button
          variant="subtle"
          leftSection={<Icon name="close" size={11} />}
          onClick={() => onChange({ action: undefined, about: undefined })}
        >
          Clear
        </Button>
      )}
    </search>
  );
}

type DecisionsProps = {
  entries: readonly Entry[];
  isFiltered: boolean;
  id: string;
  onAbout: (about: string) => void;
};

function Decisions({ entries, isFiltered: isNarrow, id, onAbout }: DecisionsProps) {
  if (entries.length === 0) {
    return (
      <p className={classes.dim}>
        {isNarrow
          ? "No decision that is kept fits the filter."
          : "No pass has decided anything yet, or it is not kept any more."}
      </p>
    );
  }
  return (
    <table className={classes.decisions} aria-label="Decisions">
      <thead>
        <tr>
          <th scope="col">Time</th>
          <th scope="col">Action</th>
          <th scope="col">About</th>
          <th scope="col">Why</th>
        </tr>
      </thead>
      <tbody>
        {entries.map((entry) => (
          <EntryLines key={entry.key} entry={entry} supervisor={id} onAbout={onAbout} />
        ))}
      </tbody>
    </table>
  );
}
