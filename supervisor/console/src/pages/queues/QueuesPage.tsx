import { useNavigate, useSearch } from "@tanstack/react-router";
import { useCallback } from "react";
import { POLL_MS } from "@/api/query";
import { useApi } from "@/api/use";
import { Chip } from "@/components/filters/Chip";
import filters from "@/components/filters/Filters.module.css";
import { TextFilter } from "@/components/filters/TextFilter";
import { Page } from "@/components/Page";
import { QueryView } from "@/components/QueryView";
import { useNow } from "@/components/Time";
import { ColumnMenu } from "@/components/table/ColumnMenu";
import { DataTable } from "@/components/table/DataTable";
import { visible } from "@/text/visible";
import { COLUMNS, NAME } from "./columns";
import classes from "./columns.module.css";
import { fitting, nameOf, type Queue, sentenceOf, worstFirst } from "./queues";
import { ONLY, type QueuesSearch } from "./search";

const WORDS = { unhealthy: "Unhealthy", waiting: "With events", aside: "With events set aside" };

const PURPOSE =
  "An event is work that Tidegate does later by itself, such as deleting files that nobody needs; that events wait is a fault only where a queue is dead or in trouble, or its first event has been due for more than 10 minutes.";

/** All queues of deferred work: the dead ones first, then those whose event waits longest. */
export function QueuesPage() {
  const search = useSearch({ from: "/shell/queues" });
  const navigate = useNavigate({ from: "/queues" });
  const query = useApi("/api/v1/queues", {}, POLL_MS);
  const now = useNow();
  const change = useCallback(
    (part: Partial<QueuesSearch>) =>
      void navigate({ search: (before) => ({ ...before, ...part }), replace: true }),
    [navigate],
  );
  return (
    <Page
      title="Queues"
      sentence={
        <>
          <p>{PURPOSE}</p>
          {query.data && <p>{sentenceOf(query.data, now)}</p>}
        </>
      }
      actions={<ColumnMenu name={NAME} columns={COLUMNS} />}
      fills
    >
      <search className={filters.filters}>
        <TextFilter
          label="Container or name"
          width={220}
          value={search.q}
          onChange={(q) => change({ q })}
        />
        {ONLY.map((only) => (
          <Chip
            key={only}
            isOn={search.only === only}
            onClick={() => change({ only: search.only === only ? undefined : only })}
          >
            {WORDS[only]}
          </Chip>
        ))}
      </search>
      <QueryView query={query} lines={14}>
        {(queues) => <List queues={queues} search={search} onChange={change} />}
      </QueryView>
    </Page>
  );
}

type Props = {
  queues: readonly Queue[];
  search: QueuesSearch;
  onChange: (part: Partial<QueuesSearch>) => void;
};

function List({ queues, search, onChange }: Props) {
  const navigate = useNavigate();
  const rows = worstFirst(fitting(queues, search));
  return (
    <DataTable
      name={NAME}
      label="Queues"
      columns={COLUMNS}
      rows={rows}
      rowId={nameOf}
      total={rows.length}
      below={(queue) =>
        queue.healthy ? null : <span className={classes.why}>{visible(queue.why)}</span>
      }
      active={search.sel}
      onActive={(sel) => onChange({ sel })}
      onOpen={({ container, name }) =>
        void navigate({ to: "/queues/$container/$name", params: { container, name } })
      }
      empty={
        queues.length === 0
          ? "Nothing waits: no work was ever deferred."
          : "No queue fits the filters."
      }
    />
  );
}
