import { visible } from "@/text/visible";
import classes from "./ChangesTable.module.css";
import { EffectMark } from "./EffectMark";
import { fieldName, shown } from "./facts";
import type { SpecChange } from "./judge";

/** The fields that a change of the spec changes, each with what that disturbs. */
export function ChangesTable({ changes }: { changes: readonly SpecChange[] }) {
  return (
    <div className={classes.scroller}>
      <table className={classes.table} aria-label="Changed fields">
        <thead>
          <tr>
            <th scope="col">Field</th>
            <th scope="col">From</th>
            <th scope="col">To</th>
            <th scope="col">Effect</th>
          </tr>
        </thead>
        <tbody>
          {changes.map((change) => (
            <tr key={change.field}>
              <th scope="row">{visible(fieldName(change.field))}</th>
              <td>
                <code>{shown(change.from)}</code>
              </td>
              <td>
                <code>{shown(change.to)}</code>
              </td>
              <td>
                <EffectMark effect={change.effect} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
