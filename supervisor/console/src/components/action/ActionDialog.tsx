import { Button, TextInput } from "@mantine/core";
import { modals } from "@mantine/modals";
import { notifications } from "@mantine/notifications";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { newKey } from "@/api/client";
import type { Problem } from "@/api/problem";
import { useContact } from "@/app/contact";
import { Command } from "../Command";
import { ProblemNote } from "../ProblemNote";
import classes from "./ActionDialog.module.css";
import { type Action, curlOf } from "./action";

/** Opens the dialog of a change: effect, undo, the same by CLI and curl, then the button. */
export function openAction(action: Action): void {
  const form = <ActionForm action={action} onClose={modals.closeAll} />;
  modals.open({ title: action.title, size: "lg", children: form });
}

type Props = { action: Action; onClose: () => void };

/** What stands in the dialog of a change. */
export function ActionForm({ action, onClose }: Props) {
  const [key] = useState(newKey);
  const [typed, setTyped] = useState("");
  const client = useQueryClient();
  const { state } = useContact();
  const act = useMutation<unknown, Problem>({
    mutationFn: () => action.run(key),
    onSuccess: () => {
      onClose();
      notifications.show({ message: action.done });
      void client.invalidateQueries();
    },
  });
  const isConfirmed =
    action.confirm === undefined || typed.replaceAll(/[ ,]/g, "") === action.confirm;
  return (
    <form
      className={classes.form}
      onSubmit={(event) => {
        event.preventDefault();
        if (isConfirmed && state !== "stale") {
          act.mutate();
        }
      }}
    >
      <dl className={classes.facts}>
        <dt>Effect</dt>
        <dd>{action.effect}</dd>
        <dt>Undo</dt>
        <dd>{action.undo}</dd>
        <dt>Command line</dt>
        <dd>
          <Command text={action.command} />
        </dd>
        <dt>curl</dt>
        <dd>
          <Command text={curlOf(action.request, location.origin, key)} what="the curl command" />
        </dd>
      </dl>
      {action.confirm !== undefined && (
        <TextInput
          label={`Type ${action.confirm} to confirm`}
          value={typed}
          autoComplete="off"
          onChange={({ currentTarget }) => setTyped(currentTarget.value)}
        />
      )}
      {act.error !== null && <ProblemNote problem={act.error} />}
      {state === "stale" && (
        <p role="status">The overlord does not answer: nothing can be changed.</p>
      )}
      <div className={classes.buttons}>
        <Button onClick={onClose}>Cancel</Button>
        <Button
          type="submit"
          variant="filled"
          data-autofocus
          loading={act.isPending}
          disabled={!isConfirmed || state === "stale"}
        >
          {action.verb}
        </Button>
      </div>
    </form>
  );
}
