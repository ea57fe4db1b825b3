import { Icon } from "@/components/Icon";
import classes from "./Chart.module.css";
import { PHASES } from "./phases";

const NAMES: Record<string, string> = {
  waiting: "waits for a slot or a task",
  idle: "idle, folded",
};

/** The patterns of the steps, so that nobody needs their colours; used by all drawings here. */
export function Patterns() {
  return (
    <svg className={classes.patterns} width="0" height="0" aria-hidden="true" focusable="false">
      <defs>
        <pattern id="waiting" width="6" height="6" patternUnits="userSpaceOnUse">
          <path className={classes.lack} d="M0 3h4" />
        </pattern>
        <pattern id="reading" width="8" height="8" patternUnits="userSpaceOnUse">
          <rect className={classes.reading} width="8" height="8" />
        </pattern>
        <pattern id="pausing" width="6" height="6" patternUnits="userSpaceOnUse">
          <rect className={classes.pausing} width="6" height="6" />
          <path className={classes.stroke} d="M0 6 6 0" />
        </pattern>
        <pattern id="finishing" width="5" height="5" patternUnits="userSpaceOnUse">
          <rect className={classes.finishing} width="5" height="5" />
          <circle className={classes.dot} cx="2.5" cy="2.5" r="1.2" />
        </pattern>
        <pattern id="publishing" width="6" height="6" patternUnits="userSpaceOnUse">
          <rect className={classes.publishing} width="6" height="6" />
          <path className={classes.stroke} d="M0 3h6" />
        </pattern>
        <pattern id="idle" width="6" height="6" patternUnits="userSpaceOnUse">
          <path className={classes.idle} d="M0 6 6 0M-1 1 1-1M5 7 7 5" />
        </pattern>
      </defs>
    </svg>
  );
}

/** Says what the patterns and signs are. */
export function Key({ isDense }: { isDense: boolean }) {
  if (isDense) {
    return <p className={classes.key}>Ranges that ended, per minute; red: some of them failed.</p>;
  }
  return (
    <ul className={classes.key}>
      {[...PHASES, "idle"].map((name) => (
        <li key={name}>
          <svg width="18" height="12" aria-hidden="true" focusable="false">
            <rect width="18" height="12" rx="2" fill={`url(#${name})`} />
          </svg>
          {NAMES[name] ?? name}
        </li>
      ))}
      <li>
        <svg width="12" height="12" viewBox="-6 -6 12 12" aria-hidden="true" focusable="false">
          <path className={classes.cross} d="M-4-4 4 4M4-4-4 4" />
        </svg>
        failed
      </li>
      <li className={classes.mark}>
        <Icon name="spec" size={12} />
        version of the spec
      </li>
    </ul>
  );
}
