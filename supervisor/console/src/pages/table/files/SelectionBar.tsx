import { Button } from "@mantine/core";
import { missing, useMe } from "@/api/me";
import { MARK_UNUSED, MARK_USED, markUnusedOf, markUsedOf } from "@/changes/tables";
import { openAction } from "@/components/action/ActionDialog";
import { neededFor } from "@/components/action/action";
import { Barred } from "@/components/Barred";
import { counted } from "@/text/numbers";
import { bytes } from "@/text/sizes";
import { canReturn, type Segment } from "./rows";
import classes from "./SelectionBar.module.css";

type Props = {
  name: string;
  chosen: readonly Segment[];
  onClear: () => void;
};

/** What can be done with the files that are selected. */
export function SelectionBar({ name, chosen, onClear }: Props) {
  const me = useMe();
  const used = chosen.filter((each) => each.used);
  const back = chosen.filter(canReturn);
  const ids = (some: readonly Segment[]) => ({ segmentIds: some.map(({ id }) => id) });
  const sum = (of: (each: Segment) => number) =>
    chosen.reduce((total, each) => total + BigInt(of(each)), 0n);
  return (
    <div className={classes.bar} role="toolbar" aria-label="Selected files">
      <strong>{counted(chosen.length, "file")} selected</strong>
      <span>{`${sum((each) => each.rows).toLocaleString("en-GB")} rows`}</span>
      <span>{bytes(sum((each) => each.sizeBytes))}</span>
      <Barred
        why={
          used.length === 0
            ? "None of them is in use."
            : missing(me, neededFor("post", MARK_UNUSED), name)
        }
        onClick={() => openAction(markUnusedOf(name, ids(used)))}
      >
        {`Take out ${used.length}…`}
      </Barred>
      <Barred
        why={
          back.length === 0
            ? "None of them can be put back: they are in use, compacted or deleted."
            : missing(me, neededFor("post", MARK_USED), name)
        }
        onClick={() => openAction(markUsedOf(name, ids(back)))}
      >
        {`Put back ${back.length}…`}
      </Barred>
      <Button variant="subtle" onClick={onClear}>
        Select none
      </Button>
    </div>
  );
}
