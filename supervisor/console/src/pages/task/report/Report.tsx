import { Foreign } from "@/components/Foreign";
import { JsonText } from "@/components/JsonText";
import { Panel } from "@/components/Panel";
import { QueryView } from "@/components/QueryView";
import { exact } from "@/text/numbers";
import { type Task, useReport, useTask, useTaskId } from "../data";
import { type Counted, countedOf } from "../facts";
import classes from "../summary/Summary.module.css";

/** What the task has counted, the records that became no row, and the report as it came. */
export function Report() {
  const task = useTask(useTaskId());
  return (
    <QueryView query={task} lines={8}>
      {({ status }) => <OfTask task={status} />}
    </QueryView>
  );
}

function OfTask({ task }: { task: Task }) {
  const query = useReport(task);
  return (
    <QueryView query={query} lines={12}>
      {(report) => (
        <div className={classes.summary}>
          <BadRecords counted={countedOf(report)} />
          <Panel title="Report">
            <JsonText value={report} label="JSON of the report" />
          </Panel>
        </div>
      )}
    </QueryView>
  );
}

function BadRecords({ counted }: { counted: Counted | null }) {
  if (counted === null || counted.bad === 0) {
    return null;
  }
  const { bad, samples } = counted;
  return (
    <Panel
      title="Records that became no row"
      aside={<span className={classes.dim}>{`${exact(samples.length)} of ${exact(bad)}`}</span>}
    >
      {samples.length === 0 ? (
        <p>No sample of them is on record with this task.</p>
      ) : (
        <table className={classes.table} aria-label="Samples of records that became no row">
          <thead>
            <tr>
              <th scope="col">Partition</th>
              <th scope="col" data-align="right">
                Offset
              </th>
              <th scope="col">Why</th>
              <th scope="col">Record</th>
            </tr>
          </thead>
          <tbody>
            {samples.map((sample) => (
              <tr key={`${sample.topic}:${sample.partition}:${sample.offset}`}>
                <td>
                  <Foreign>{`${sample.topic}:${sample.partition}`}</Foreign>
                </td>
                <td data-align="right">{exact(sample.offset)}</td>
                <td data-long="true">
                  <Foreign>{sample.reason}</Foreign>
                </td>
                <td data-long="true">
                  <code>
                    <Foreign>{sample.input}</Foreign>
                  </code>
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </Panel>
  );
}
