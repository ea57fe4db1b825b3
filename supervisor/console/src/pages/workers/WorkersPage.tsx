import { useNavigate, useSearch } from "@tanstack/react-router";
import { useOverview } from "@/api/overview";
import { POLL_MS } from "@/api/query";
import { useApi } from "@/api/use";
import { Page } from "@/components/Page";
import { QueryView } from "@/components/QueryView";
import { ColumnMenu } from "@/components/table/ColumnMenu";
import { DataTable } from "@/components/table/DataTable";
import { COLUMNS, NAME } from "./columns";
import { NoWorker } from "./NoWorker";
import { SlotFigures } from "./SlotFigures";
import { Trouble } from "./Trouble";
import { sentenceOf, silentFirst, type Worker } from "./workers";

/** All workers: those that nobody hears first, with what becomes of their tasks. */
export function WorkersPage() {
  const query = useApi("/api/v1/workers", {}, POLL_MS);
  const workers = query.data;
  const isEmpty = workers?.length === 0;
  return (
    <Page
      title="Workers"
      sentence={workers === undefined || isEmpty ? undefined : sentenceOf(silentFirst(workers))}
      actions={isEmpty ? undefined : <ColumnMenu name={NAME} columns={COLUMNS} />}
      fills
    >
      <QueryView query={query} lines={8}>
        {(listed) => (listed.length === 0 ? <NoWorker /> : <List workers={silentFirst(listed)} />)}
      </QueryView>
    </Page>
  );
}

function List({ workers }: { workers: readonly Worker[] }) {
  const { sel } = useSearch({ from: "/shell/workers" });
  const navigate = useNavigate();
  const overview = useOverview(POLL_MS).data;
  const items = (overview?.attention ?? []).filter(({ about }) => about.kind === "worker");
  const itemOf = (worker: Worker) => items.find(({ about }) => about.id === worker.id);
  return (
    <>
      <SlotFigures workers={workers} slots={overview?.slots ?? null} />
      <DataTable
        name={NAME}
        label="Workers"
        columns={COLUMNS}
        rows={workers}
        rowId={({ id }) => id}
        total={workers.length}
        below={(row) => {
          const item = itemOf(row);
          return item === undefined ? null : <Trouble item={item} />;
        }}
        active={sel}
        onActive={(id) => void navigate({ to: "/workers", search: { sel: id }, replace: true })}
        onOpen={({ id }) => void navigate({ to: "/workers/$id", params: { id } })}
        empty={null}
      />
    </>
  );
}
