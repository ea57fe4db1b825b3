import classes from "./Shape.module.css";

/** Grey lines of the final shape; they come after 150 ms, so that quick answers do not flicker. */
export function Shape({ lines }: { lines: number }) {
  return (
    <div className={classes.shape} role="status" aria-label="Loading">
      {Array.from({ length: lines }, (_, line) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the lines are all alike
        <span key={line} className={classes.line} data-short={line % 3 === 2} />
      ))}
    </div>
  );
}
