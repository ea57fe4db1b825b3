import { Sparkline } from "@/components/Sparkline";
import { useNow } from "@/components/Time";
import classes from "./columns.module.css";
import { STEP_MS, useLagOf } from "./lags";

const DAY_MS = 86_400_000;

/** The lag of a row over the last 24 hours, behind its number. */
export function LagCourse({ id }: { id: string }) {
  const samples = useLagOf(id);
  const end = Math.ceil(useNow() / STEP_MS) * STEP_MS;
  return samples.length === 0 ? null : (
    <span className={classes.course}>
      <Sparkline samples={samples} begin={end - DAY_MS} end={end} stepMs={STEP_MS} />
    </span>
  );
}
