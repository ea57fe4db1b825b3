import { notifications } from "@mantine/notifications";
import { useQueryClient } from "@tanstack/react-query";
import type { Problem } from "@/api/problem";
import { Copy } from "@/components/Copy";
import { DialogFrame } from "@/components/DialogFrame";
import { visible } from "@/text/visible";
import type { Drafting } from "../draft";
import type { Judged } from "../judge";
import { fileOf, store, storeCommand, storeCurl } from "./requests";
import classes from "./SaveDialog.module.css";
import { StoringForm } from "./StoringForm";

type Props = {
  id: string;
  drafting: Drafting;
  judged: Judged;
  isOpen: boolean;
  /** Reads the new version, from which the next draft begins. */
  onStored: () => Promise<void>;
  /** Somebody else has stored a version meanwhile. */
  onOutdated: () => void;
  onClose: () => void;
};

/** Stores the draft as the next version: its changes with their effects first. */
export function SaveDialog({ id, drafting, judged, isOpen, onStored, onOutdated, onClose }: Props) {
  const client = useQueryClient();
  const { text, base } = drafting;
  const next = base.number === null ? "the next version" : `version ${base.number + 1}`;
  const name = visible(id);
  const done = async () => {
    await onStored();
    onClose();
    notifications.show({ message: `${name}: ${next} is stored.` });
    void client.invalidateQueries();
  };
  const failed = (problem: Problem) => {
    if (problem.status === 412) {
      onClose();
      onOutdated();
    }
  };
  return (
    <DialogFrame title={`${name}: save as ${next}`} isOpen={isOpen} isWide onClose={onClose}>
      <StoringForm
        storing={{
          verb: `Save as ${next}`,
          effect: visible(judged.restartsWhat),
          changes: judged.changes,
          warnings: judged.warnings,
          onVersion: `${base.number === null ? "The version" : `Version ${base.number}`} that you began from, and no other: if another one came first, nothing is stored.`,
          undo:
            base.number === null
              ? "Roll back in the history."
              : `Roll back to version ${base.number} in the history; what was published in between stays.`,
          command: (reason) => storeCommand(id, reason),
          curl: (reason, key) => storeCurl(id, base.tag, reason, key),
          aside: (
            <span className={classes.file}>
              {fileOf(id)} is this draft <Copy text={text} what="the draft" />
            </span>
          ),
          run: (reason, key) => store(text, base.tag, reason, key),
        }}
        onDone={done}
        onProblem={failed}
        onClose={onClose}
      />
    </DialogFrame>
  );
}
