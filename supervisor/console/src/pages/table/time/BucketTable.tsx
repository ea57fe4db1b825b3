import { Link } from "@tanstack/react-router";
import { usePreferences } from "@/app/preferences";
import { Size } from "@/components/Size";
import { minute } from "@/text/days";
import { exact } from "@/text/numbers";
import classes from "./BucketTable.module.css";
import { type TimeBucket, windowOf } from "./shape";

type Props = {
  name: string;
  buckets: readonly TimeBucket[];
  bucketMs: number;
  fileMs: number;
};

/** The same buckets to read, the newest first; each leads to its files. */
export function BucketTable({ name, buckets, bucketMs, fileMs }: Props) {
  const { zone } = usePreferences();
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, also by keys
    <section className={classes.place} tabIndex={0} aria-label="Buckets of time">
      <table className={classes.table} aria-label="Buckets of time">
        <thead>
          <tr>
            {["From", "Rows", "Size", "Files", "Small", "Taken out"].map((head) => (
              <th key={head} scope="col">
                {head}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {[...buckets].reverse().map((bucket) => (
            <tr key={bucket.start}>
              <td>
                <Link
                  to="/tables/$ds/files"
                  params={{ ds: name }}
                  search={windowOf(bucket, bucket, bucketMs, fileMs)}
                >
                  {minute(new Date(bucket.start), zone)}
                </Link>
              </td>
              <td>{exact(bucket.rows)}</td>
              <td>
                <Size value={bucket.bytes} unknown="" />
              </td>
              <td>{exact(bucket.files)}</td>
              <td>{exact(bucket.small)}</td>
              <td>{exact(bucket.unused)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}
