import { useQuery } from "@tanstack/react-query";
import { apiQuery, POLL_MS } from "@/api/query";
import { Count } from "@/components/Count";
import { Foreign } from "@/components/Foreign";
import { QueryView } from "@/components/QueryView";
import { Stamp } from "@/components/Time";
import { ColumnMenu } from "@/components/table/ColumnMenu";
import { type Column, DataTable } from "@/components/table/DataTable";
import { Unknown } from "@/components/Unknown";
import { counted, exact } from "@/text/numbers";
import { AuditFrame, useLack } from "./AuditFrame";
import { type Denied, grouped } from "./entries";

const NAME = "denied";
const LIMIT = 1_000;

const COLUMNS: readonly Column<Denied>[] = [
  {
    id: "last",
    header: "Last",
    meta: { width: "132px", isFixed: true },
    cell: ({ row }) => <Stamp at={row.original.lastAt} unknown="When it was is not known." />,
  },
  {
    id: "first",
    header: "First",
    meta: { width: "132px" },
    cell: ({ row }) => <Stamp at={row.original.firstAt} unknown="When it was is not known." />,
  },
  {
    id: "times",
    header: "Times",
    meta: { width: "64px", align: "right", isFixed: true },
    cell: ({ row }) => <Count value={row.original.times} unknown="It was not counted." />,
  },
  {
    id: "name",
    header: "Who",
    meta: { width: "minmax(90px, 1fr)", isFixed: true },
    cell: ({ row: { original } }) =>
      original.name === "" ? (
        <Unknown why="No user and no token has the name or the secret that was sent." />
      ) : (
        <Foreign>{original.name}</Foreign>
      ),
  },
  {
    id: "address",
    header: "From where",
    meta: { width: "minmax(100px, 1fr)" },
    cell: ({ row }) => <Foreign>{row.original.address}</Foreign>,
  },
  {
    id: "what",
    header: "What",
    meta: { width: "minmax(150px, 2fr)", isFixed: true },
    cell: ({ row }) => <Foreign>{row.original.what}</Foreign>,
  },
  {
    id: "why",
    header: "Why",
    meta: { width: "minmax(150px, 2fr)", isFixed: true },
    cell: ({ row }) => <Foreign>{row.original.why}</Foreign>,
  },
];

/** What was refused for want of credentials or permission; tries alike are one row. */
export function DeniedPage() {
  const isAllowed = useLack() === null;
  const query = useQuery({
    ...apiQuery("/api/v1/audit/denied", { query: { limit: LIMIT } }),
    refetchInterval: POLL_MS,
    enabled: isAllowed,
  });
  return (
    <AuditFrame
      title="Denied tries"
      sentence={query.data && sentenceOf(query.data)}
      actions={<ColumnMenu name={NAME} columns={COLUMNS} />}
    >
      <QueryView query={query} lines={14}>
        {(tries) => {
          const rows = grouped(tries);
          return (
            <DataTable
              name={NAME}
              label="Denied tries"
              columns={COLUMNS}
              rows={rows}
              rowId={({ name, address, what, why }) => JSON.stringify([name, address, what, why])}
              total={rows.length}
              empty="Nothing was refused: no wrong credentials, no missing permission."
            />
          );
        }}
      </QueryView>
    </AuditFrame>
  );
}

function sentenceOf(tries: readonly Denied[]): string {
  if (tries.length === 0) {
    return "No try was refused";
  }
  const sum = tries.reduce((total, { times }) => total + times, 0);
  const cut = tries.length < LIMIT ? "" : ", the oldest are not shown";
  return `${counted(sum, "try", "tries")} in ${exact(grouped(tries).length)} kinds, newest first${cut}`;
}
