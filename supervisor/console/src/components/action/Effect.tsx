import { Foreign } from "@/components/Foreign";
import { Mark } from "@/components/Mark";
import { Unknown } from "@/components/Unknown";
import { counted, exact } from "@/text/numbers";
import { bytes } from "@/text/sizes";
import { visible } from "@/text/visible";
import classes from "./ActForm.module.css";
import type { VerbPreview } from "./action";
import { changedBetween, type EffectRow, type Fate, rowsOf } from "./effect";
import type { Reading } from "./reading";

const SHOWN = 300;
const NAMED = 10;

const WORDS: Record<Fate, string> = {
  publishes: "is published",
  ends: "ends, nothing was read",
  again: "is read again",
  lost: "is lost",
  stays: "is read on",
};

/** What becomes of each range, partition by partition; what has changed since it was read is marked. */
export function EffectTable({ reading }: { reading: Reading<VerbPreview> }) {
  const shown = reading.newer ?? reading.read;
  const rows = shown === null ? [] : rowsOf(shown);
  if (rows.length === 0) {
    return null;
  }
  const changed = changedBetween(reading.read, reading.newer);
  const topics = new Set(rows.map(({ topic }) => topic));
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, also by keys
    <section className={classes.scroller} tabIndex={0} aria-label="What it does">
      <table className={classes.table}>
        <thead>
          <tr>
            {["Range", "Group", "Partition", "From", "To", "Offsets"].map((name) => (
              <th key={name} scope="col">
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.slice(0, SHOWN).map((row) => (
            <tr
              key={`${row.bound} ${row.topic}:${row.partition}`}
              data-changed={changed.has(row.bound)}
            >
              <td>
                <FateMark fate={row.fate} />
              </td>
              <td>{row.group}</td>
              <td>
                {topics.size > 1 ? (
                  <Foreign>{`${row.topic}:${row.partition}`}</Foreign>
                ) : (
                  row.partition
                )}
              </td>
              <td>{exact(row.from)}</td>
              <Ends row={row} />
            </tr>
          ))}
        </tbody>
        {rows.length > SHOWN && (
          <tfoot>
            <tr>
              <td colSpan={6}>{`${exact(rows.length - SHOWN)} more are not shown`}</td>
            </tr>
          </tfoot>
        )}
      </table>
    </section>
  );
}

function FateMark({ fate }: { fate: Fate }) {
  switch (fate) {
    case "lost":
      return (
        <Mark tone="broken" icon="broken">
          {WORDS[fate]}
        </Mark>
      );
    case "again":
      return (
        <Mark tone="risk" icon="risk">
          {WORDS[fate]}
        </Mark>
      );
    case "publishes":
      return (
        <Mark tone="good" icon="done">
          {WORDS[fate]}
        </Mark>
      );
    default:
      return (
        <Mark tone="dim" icon={fate === "ends" ? "paused" : "steady"}>
          {WORDS[fate]}
        </Mark>
      );
  }
}

/** The end of a range, and how many offsets that are. */
function Ends({ row: { fate, from, to, moves } }: { row: EffectRow }) {
  if (to === null) {
    const why =
      fate === "stays" ? "Its end is not fixed yet." : "No task has reported to this leader yet.";
    return (
      <>
        <td>
          <Unknown why={why} />
        </td>
        <td>
          <Unknown why={why} />
        </td>
      </>
    );
  }
  return (
    <>
      <td>
        {exact(to)}
        {moves && <span className={classes.dim}> so far</span>}
      </td>
      <td>{exact(BigInt(to) - BigInt(from))}</td>
    </>
  );
}

/** Tasks that end and that run on, and files, as far as a verb is about them. */
export function EffectFacts({ reading }: { reading: Reading<VerbPreview> }) {
  const shown = reading.newer ?? reading.read;
  if (shown === null) {
    return null;
  }
  const { ends, tasks, files, sent } = shown;
  const before = reading.newer === null ? files : reading.read?.files;
  const hasTasks = (ends?.length ?? 0) + (tasks?.length ?? 0) > 0;
  return (
    <>
      {hasTasks && (
        <>
          <dt>Tasks</dt>
          <dd>
            {ends && ends.length > 0 && (
              <TaskList
                head={counted(ends.length, "task ends", "tasks end")}
                lines={ends.map(
                  ({ task, worker, unpublished }) =>
                    `${task} on ${worker}, ${unpublished === null ? "not heard of yet" : `${counted(unpublished, "offset")} read`}`,
                )}
              />
            )}
            {tasks && tasks.length > 0 && (
              <TaskList
                head={counted(tasks.length, "task runs on", "tasks run on")}
                lines={tasks}
              />
            )}
          </dd>
        </>
      )}
      {sent && sent.records.length > 0 && (
        <>
          <dt>Records</dt>
          <dd>
            <TaskList
              head={`${exact(sent.matching)} fit${sent.there === null ? "" : `, ${exact(sent.there)} are there already`}`}
              lines={sent.records.map(
                ({ records, reason, topic, partition }) =>
                  `${exact(records)} ${reason} of ${topic}:${partition}`,
              )}
            />
          </dd>
        </>
      )}
      {files && (
        <>
          <dt>Files</dt>
          <dd>
            <span data-changed={before?.n !== files.n || before.rows !== files.rows}>
              {`${counted(files.n, "file")} · ${counted(files.rows, "row")} · ${bytes(files.bytes)}`}
            </span>
          </dd>
        </>
      )}
    </>
  );
}

function TaskList({ head, lines }: { head: string; lines: readonly string[] }) {
  return (
    <details className={classes.tasks} open={lines.length <= 3}>
      <summary>{head}</summary>
      <ul>
        {lines.slice(0, NAMED).map((line) => (
          <li key={line}>{visible(line)}</li>
        ))}
        {lines.length > NAMED && <li>{`and ${exact(lines.length - NAMED)} more`}</li>}
      </ul>
    </details>
  );
}
