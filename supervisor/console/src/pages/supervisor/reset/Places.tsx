import type { Place } from "../search";
import classes from "./ResetForm.module.css";

const WORDS: readonly [Place, string][] = [
  ["earliest", "earliest"],
  ["latest", "latest"],
  ["time", "a time"],
  ["shift", "shift by"],
  ["offsets", "per partition"],
  ["json", "paste JSON"],
  ["beside", "go on now, read the rest beside"],
];

type Props = { place: Place | undefined; onChange: (place: Place) => void };

/** The kinds of places to begin at. */
export function Places({ place, onChange }: Props) {
  return (
    <fieldset className={classes.places} aria-label="Begin at">
      {WORDS.map(([name, label]) => (
        <label key={name}>
          <input
            type="radio"
            name="place"
            value={name}
            checked={place === name}
            onChange={() => onChange(name)}
          />
          {label}
        </label>
      ))}
    </fieldset>
  );
}
