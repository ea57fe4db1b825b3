import { Button } from "@mantine/core";
import { DialogFrame } from "@/components/DialogFrame";
import classes from "./AskDiscard.module.css";

type Props = { isOpen: boolean; title: string; onClose: () => void; onDiscard: () => void };

/** Asks before a draft is thrown away. */
export function AskDiscard({ isOpen, title, onClose, onDiscard }: Props) {
  return (
    <DialogFrame title={title} isOpen={isOpen} onClose={onClose}>
      <div className={classes.ask}>
        <p>What you have written is gone then. The stored spec stays as it is.</p>
        <div className={classes.buttons}>
          <Button data-autofocus onClick={onClose}>
            Keep it
          </Button>
          <Button
            variant="filled"
            onClick={() => {
              onDiscard();
              onClose();
            }}
          >
            Discard it
          </Button>
        </div>
      </div>
    </DialogFrame>
  );
}
