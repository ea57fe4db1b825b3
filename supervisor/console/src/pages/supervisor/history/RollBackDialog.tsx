import { notifications } from "@mantine/notifications";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { ask, type Tagged } from "@/api/client";
import type { Problem } from "@/api/problem";
import type { components } from "@/api/schema";
import { DialogFrame } from "@/components/DialogFrame";
import { QueryView } from "@/components/QueryView";
import { visible } from "@/text/visible";
import { ROLLBACK, rollBack, rollBackCommand, rollBackCurl } from "../spec/save/requests";
import { StoringForm } from "../spec/save/StoringForm";

type RolledBack = components["schemas"]["RolledBack"];
type Props = {
  id: string;
  /** The version that the address names; undefined: the dialog is closed. */
  version: number | undefined;
  newest: number | undefined;
  onClose: () => void;
};

/** Makes an earlier version the newest again: what that changes first. */
export function RollBackDialog({ id, version, newest, onClose }: Props) {
  return (
    <DialogFrame
      title={`${visible(id)}: roll back to version ${version}`}
      isOpen={version !== undefined}
      isWide
      onClose={onClose}
    >
      {version !== undefined && <Preview {...{ id, version, newest, onClose }} />}
    </DialogFrame>
  );
}

function Preview({ id, version, newest, onClose }: Props & { version: number }) {
  const client = useQueryClient();
  const preview = useQuery<Tagged<RolledBack>, Problem>({
    queryKey: [ROLLBACK, { path: { supervisor_id: id }, version, newest }],
    queryFn: ({ signal }) =>
      ask(
        ROLLBACK,
        { path: { supervisor_id: id }, query: { dryRun: true }, body: { version } },
        signal,
      ),
  });
  const done = async () => {
    onClose();
    notifications.show({ message: `${visible(id)} is rolled back to version ${version}.` });
    await client.invalidateQueries();
  };
  return (
    <QueryView query={preview} lines={8}>
      {({ data, tag }) => (
        <StoringForm
          storing={{
            verb: "Roll back",
            effect: effectOf(data),
            changes: data.changes ?? [],
            warnings: data.warnings ?? [],
            onVersion:
              newest === undefined
                ? "The newest version, and no other."
                : `Version ${newest}, the newest one, and no other: if another one came first, nothing is stored.`,
            undo: `Roll back to version ${newest ?? "that is the newest now"}: each version stays in the history.`,
            command: (reason) => rollBackCommand(id, version, reason),
            curl: (reason, key) => rollBackCurl(id, version, tag, reason, key),
            run: (reason, key) => rollBack(id, version, tag, reason, key),
          }}
          onDone={done}
          onProblem={() => void preview.refetch()}
          onClose={onClose}
        />
      )}
    </QueryView>
  );
}

/** Says what the dry run foresees; what was published by the versions between stays. */
function effectOf({ modified, restarted, changes = [] }: RolledBack): string {
  if (!modified) {
    return "Nothing changes: the newest version says the same.";
  }
  if (restarted) {
    return "Its spec is stored as the newest version. What reads now hands off and publishes; tasks with that spec go on there.";
  }
  return changes.length === 0
    ? "Its spec is stored as the newest version, and the supervisor goes on where it stopped."
    : "Its spec is stored as the newest version; nothing that runs is stopped.";
}
