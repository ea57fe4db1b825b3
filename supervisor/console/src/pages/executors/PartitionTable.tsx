import { Count } from "@/components/Count";
import { Foreign } from "@/components/Foreign";
import { Mark } from "@/components/Mark";
import { Unknown } from "@/components/Unknown";
import type { Executor, Partition } from "./data";
import classes from "./executors.module.css";
import { troubleOf } from "./words";

type Props = { partitions: readonly Partition[]; executors: readonly Executor[] };

/** Every partition: who works it, and what waits in it. */
export function PartitionTable({ partitions, executors }: Props) {
  return (
    <table className={classes.table} aria-label="Partitions">
      <thead>
        <tr>
          <th scope="col">Partition</th>
          <th scope="col">Worked by</th>
          <th scope="col" className={classes.number}>
            Inputs that wait
          </th>
          <th scope="col" className={classes.number}>
            Next offset
          </th>
          <th scope="col" className={classes.number}>
            Tables behind
          </th>
        </tr>
      </thead>
      <tbody>
        {partitions.map((each) => (
          <tr key={each.partition}>
            <td>{each.partition}</td>
            <td>
              <Owner partition={each} trouble={troubleOf(each, executors)} />
            </td>
            <td className={classes.number}>
              <Count value={each.lag} unknown="" />
            </td>
            <td className={classes.number}>
              {each.position === null ? (
                <Unknown why="Nothing was worked in here yet." />
              ) : (
                String(each.position)
              )}
            </td>
            <td className={classes.number}>
              <Count value={each.projectionLag} unknown="" />
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function Owner({ partition: { owner }, trouble }: { partition: Partition; trouble: string }) {
  if (owner === null) {
    return (
      <Mark tone="broken" icon="broken">
        nobody
      </Mark>
    );
  }
  return (
    <>
      <Foreign>{owner}</Foreign>
      {trouble !== "" && <div className={classes.dim}>{trouble}</div>}
    </>
  );
}
