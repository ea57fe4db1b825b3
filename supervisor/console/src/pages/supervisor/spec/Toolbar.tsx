import { Button, SegmentedControl } from "@mantine/core";
import { useState } from "react";
import { Barred } from "@/components/Barred";
import { visible } from "@/text/visible";
import { useRow } from "../data";
import type { SpecView } from "../search";
import { AskDiscard } from "./AskDiscard";
import type { Drafting } from "./draft";
import type { Judging } from "./judge";
import classes from "./Toolbar.module.css";

type Props = {
  id: string;
  view: SpecView;
  drafting: Drafting;
  judging: Judging;
  lack: string | null;
  isChecking: boolean;
  onView: (view: SpecView) => void;
  onCheck: () => void;
  onSave: () => void;
  onCompare: () => void;
};

/** The views of the draft, what state it is in, and what can be done with it. */
export function Toolbar(props: Props) {
  const { id, view, drafting, judging, lack, isChecking } = props;
  const [isAsking, setAsking] = useState(false);
  const { base, newest, isChanged, isOutdated } = drafting;
  const next = base.number === null ? "" : ` as version ${base.number + 1}`;
  const unread = "error" in judging.read ? "The draft is no JSON yet." : null;
  return (
    <>
      <div className={classes.bar}>
        <SegmentedControl
          aria-label="Views of the spec"
          value={view}
          onChange={(value) => props.onView(value as SpecView)}
          data={[
            { value: "form", label: "Form" },
            { value: "json", label: "JSON" },
            { value: "diff", label: newest.number === null ? "Diff" : `Diff to v${newest.number}` },
          ]}
        />
        <span className={classes.state}>
          {isChanged
            ? "A draft, kept in this browser's tab until it is stored."
            : `This is ${base.number === null ? "the newest version" : `version ${base.number}, the newest`}.`}
        </span>
        {isChanged && <Button onClick={() => setAsking(true)}>Discard…</Button>}
        <Barred why={lack ?? unread} loading={isChecking} onClick={props.onCheck}>
          Check
        </Barred>
        <Barred
          variant="filled"
          why={lack ?? unread ?? hindrance(id, drafting, judging)}
          onClick={props.onSave}
        >
          {`Save${next}…`}
        </Barred>
      </div>
      {isOutdated && <Outdated {...{ id, drafting }} onCompare={props.onCompare} />}
      <AskDiscard
        isOpen={isAsking}
        title={`Discard the draft of ${visible(id)}`}
        onClose={() => setAsking(false)}
        onDiscard={drafting.discard}
      />
    </>
  );
}

function Outdated({ id, drafting, onCompare }: Pick<Props, "id" | "drafting" | "onCompare">) {
  const { base, newest } = drafting;
  const row = useRow(id);
  const isOfRow = row?.version === newest.number;
  return (
    <div className={classes.outdated} role="alert">
      <span>
        {newest.number === null ? "Another version" : `Version ${newest.number}`}
        {isOfRow && row.versionBy !== "" && ` by ${visible(row.versionBy)}`}
        {" came after you began"}
        {base.number !== null && ` from version ${base.number}`}. Nothing of your draft is lost.
      </span>
      <Button onClick={onCompare}>Compare three ways…</Button>
    </div>
  );
}

/** Says why the draft cannot be stored now; null: it can. */
function hindrance(id: string, drafting: Drafting, { judged, isSettled }: Judging): string | null {
  if (!drafting.isChanged) {
    return "Nothing is changed.";
  }
  if (drafting.isOutdated) {
    return "Another version came meanwhile: compare them first.";
  }
  if (judged === undefined || !isSettled) {
    return "The overlord has not judged the draft yet.";
  }
  if (!judged.valid) {
    return "The overlord would refuse it: it has problems.";
  }
  if (judged.id !== id) {
    return `Its id is ${judged.id}, another supervisor's: this page stores ${id} only.`;
  }
  return judged.changes.length === 0 ? "It says the same as the stored version." : null;
}
