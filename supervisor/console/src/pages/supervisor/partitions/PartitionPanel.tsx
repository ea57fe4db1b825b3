import { Link, useNavigate } from "@tanstack/react-router";
import { missing, useMe } from "@/api/me";
import { POLL_MS } from "@/api/query";
import { useApi } from "@/api/use";
import { Barred } from "@/components/Barred";
import { Foreign } from "@/components/Foreign";
import { QueryView } from "@/components/QueryView";
import { SidePanel } from "@/components/SidePanel";
import { Unknown } from "@/components/Unknown";
import { WORDS } from "@/pages/table/coverage/shape";
import { known } from "@/text/known";
import { exact } from "@/text/numbers";
import { useRow } from "../data";
import { neededForVerb, VERBS } from "../life/verbs";
import { NO_DIALOG } from "../search";
import classes from "./Partitions.module.css";
import { type PartitionRow, resetOf } from "./rows";

const PATH = "/api/v1/supervisors/{supervisor_id}/coverage";

type Props = {
  id: string;
  /** `topic:number`. */
  name: string;
  /** Undefined: it is not among those that are shown. */
  row: PartitionRow | undefined;
  onClose: () => void;
};

/** One partition: what became of its offsets, its range, and the way to set its offset. */
export function PartitionPanel({ id, name, row, onClose }: Props) {
  return (
    <SidePanel title={<Foreign>{`Partition ${name}`}</Foreign>} onClose={onClose}>
      {row === undefined ? (
        <p>It is not among the partitions that are shown: the filter leaves it out.</p>
      ) : (
        <Facts id={id} row={row} />
      )}
    </SidePanel>
  );
}

function Facts({ id, row }: { id: string; row: PartitionRow }) {
  const { topic, partition, generationId, committed, firstOffset } = row;
  return (
    <div className={classes.facts}>
      <SetOffset id={id} row={row} />
      <dl>
        <dt>Committed</dt>
        <dd>{committed === null ? <Unknown why="Nothing is committed." /> : exact(committed)}</dd>
        <dt>Began at</dt>
        <dd>
          {firstOffset === null ? <Unknown why="Nothing is committed." /> : exact(firstOffset)}
        </dd>
        <dt>Range</dt>
        <dd>
          {generationId === null ? (
            "none reads it now"
          ) : (
            <Link
              to="/supervisors/$id/timeline"
              params={{ id }}
              search={{ range: generationId, window: "24h" }}
            >
              <Foreign>{generationId}</Foreign>
            </Link>
          )}
        </dd>
      </dl>
      <History id={id} topic={topic} partition={partition} />
    </div>
  );
}

/** What became of its offsets, run by run, the newest first: published, skipped, lost. */
function History({ id, topic, partition }: { id: string; topic: string; partition: number }) {
  const query = useApi(
    PATH,
    { path: { supervisor_id: id }, query: { topic, partition } },
    6 * POLL_MS,
  );
  return (
    <QueryView query={query} lines={4}>
      {({ partitions }) => {
        const [covered] = partitions;
        return covered === undefined || covered.runs.length === 0 ? (
          <p>Nothing of it is committed or read yet.</p>
        ) : (
          <>
            <table className={classes.runs} aria-label="What became of its offsets">
              <thead>
                <tr>
                  <th scope="col">From</th>
                  <th scope="col">To</th>
                  <th scope="col">What became of it</th>
                </tr>
              </thead>
              <tbody>
                {[...covered.runs].reverse().map(({ from, to, kind }) => (
                  <tr key={`${from} ${kind}`} data-kind={kind}>
                    <td>{exact(from)}</td>
                    <td>{exact(to)}</td>
                    <td>{known(WORDS, kind) ?? kind}</td>
                  </tr>
                ))}
              </tbody>
            </table>
            {covered.more && <p>Older runs are on the table's coverage.</p>}
          </>
        );
      }}
    </QueryView>
  );
}

function SetOffset({ id, row }: { id: string; row: PartitionRow }) {
  const me = useMe();
  const listed = useRow(id);
  const navigate = useNavigate({ from: "/supervisors/$id/partitions" });
  const reset = VERBS.find(({ name }) => name === "reset");
  const why =
    listed === undefined || listed === null || reset === undefined
      ? "The leader has not looked at the supervisor yet."
      : missing(me, neededForVerb(reset), listed.dataSource);
  return (
    <Barred
      why={why}
      onClick={() =>
        void navigate({
          search: (before) => ({
            ...before,
            ...NO_DIALOG,
            ...resetOf(row, listed?.stream ?? null),
          }),
        })
      }
    >
      Set offset…
    </Barred>
  );
}
