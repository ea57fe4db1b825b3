import { Button } from "@mantine/core";
import { useBlocker } from "@tanstack/react-router";
import { DialogFrame } from "@/components/DialogFrame";
import { visible } from "@/text/visible";
import classes from "./AskDiscard.module.css";

type Props = { id: string; isChanged: boolean; onDiscard: () => void };

/** Asks before a page with a draft is left. */
export function Leaving({ id, isChanged, onDiscard }: Props) {
  const { proceed, reset, status } = useBlocker({
    shouldBlockFn: ({ current, next }) => isChanged && current.pathname !== next.pathname,
    enableBeforeUnload: isChanged,
    withResolver: true,
  });
  return (
    <DialogFrame
      title={`Leave the draft of ${visible(id)}`}
      isOpen={status === "blocked"}
      onClose={() => reset?.()}
    >
      <div className={classes.ask}>
        <p>It is not stored. It is kept in this browser's tab, and is there when you come back.</p>
        <div className={classes.buttons}>
          <Button onClick={() => reset?.()}>Stay</Button>
          <Button
            onClick={() => {
              onDiscard();
              proceed?.();
            }}
          >
            Leave and discard it
          </Button>
          <Button variant="filled" data-autofocus onClick={() => proceed?.()}>
            Leave and keep it
          </Button>
        </div>
      </div>
    </DialogFrame>
  );
}
