import { Foreign } from "@/components/Foreign";
import { Stamp } from "@/components/Time";
import type { Column } from "@/components/table/DataTable";
import { Unknown } from "@/components/Unknown";
import { visible } from "@/text/visible";
import classes from "./columns.module.css";
import { ChangeList } from "./EntryFacts";
import { addressOf, changesOf, type Entry, lineOf } from "./entries";
import { Subject } from "./Subject";

/** The name of this table among the preferences. */
export const NAME = "audit";
export const NO_ADDRESS = "It came from the overlord itself, or nobody was asked who calls.";
export const NO_REASON = "No reason was given.";

/** The columns; `onOpen` shows all of an entry. */
export const columnsOf = (onOpen: (entry: Entry) => void): readonly Column<Entry>[] => [
  {
    id: "at",
    header: "When",
    meta: { width: "132px", isFixed: true },
    cell: ({ row }) => <Stamp at={row.original.at} unknown="When it was is not known." />,
  },
  {
    id: "actor",
    header: "Who",
    meta: { width: "minmax(90px, 0.8fr)", isFixed: true },
    cell: ({ row }) => <Foreign>{row.original.actor}</Foreign>,
  },
  {
    id: "action",
    header: "What",
    meta: { width: "minmax(110px, 0.8fr)", isFixed: true },
    cell: ({ row }) => <Foreign>{row.original.action}</Foreign>,
  },
  {
    id: "subject",
    header: "On what",
    meta: { width: "minmax(130px, 1.4fr)", isFixed: true },
    cell: ({ row }) => <Subject entry={row.original} />,
  },
  {
    id: "changes",
    header: "From what to what",
    meta: { width: "minmax(150px, 1.8fr)" },
    cell: ({ row }) => <Details entry={row.original} onOpen={onOpen} />,
  },
  {
    id: "reason",
    header: "Reason",
    meta: { width: "minmax(110px, 1.4fr)" },
    cell: ({ row: { original } }) =>
      original.reason === null || original.reason === undefined ? (
        <Unknown why={NO_REASON} />
      ) : (
        <span title={visible(original.reason)}>
          <Foreign>{original.reason}</Foreign>
        </span>
      ),
  },
  {
    id: "address",
    header: "From where",
    meta: { width: "minmax(90px, 0.8fr)" },
    cell: ({ row }) => {
      const address = addressOf(row.original);
      return address === null ? <Unknown why={NO_ADDRESS} /> : <Foreign>{address}</Foreign>;
    },
  },
];

function Details({ entry, onOpen }: { entry: Entry; onOpen: (entry: Entry) => void }) {
  const line = visible(lineOf(changesOf(entry)));
  return (
    <button
      type="button"
      className={classes.details}
      title={line}
      aria-label={`Details of ${visible(entry.action)} ${visible(entry.subject)}: ${line}`}
      onClick={() => onOpen(entry)}
    >
      {line === "" ? "details" : <ChangeList changes={changesOf(entry)} />}
    </button>
  );
}
