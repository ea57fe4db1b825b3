import { Modal } from "@mantine/core";
import { lazy, Suspense } from "react";
import { handoffOf, suspendOf, terminateOf } from "@/changes/lifecycle";
import { resumeOf } from "@/changes/supervisors";
import { ActionForm } from "@/components/action/ActionDialog";
import type { Action } from "@/components/action/action";
import { DialogHead } from "@/components/action/DialogHead";
import { Shape } from "@/components/Shape";
import { visible } from "@/text/visible";
import { type ListedRow, useStatus } from "../data";
import type { DialogName, DialogSearch } from "../search";

const ResetForm = lazy(async () => ({ default: (await import("../reset/ResetForm")).ResetForm }));

type Props = {
  id: string;
  row: ListedRow | null | undefined;
  search: DialogSearch;
  onClose: () => void;
};

/** The dialog that the address names, with the values that it names. */
export function Dialogs({ id, row, search, onClose }: Props) {
  const name = row ? search.do : undefined;
  return (
    <Modal.Root
      opened={name !== undefined}
      onClose={onClose}
      size={name === "reset" ? "min(1040px, 94vw)" : "xl"}
      centered
      lockScroll={false}
    >
      <Modal.Overlay backgroundOpacity={0.45} />
      <Modal.Content>
        <Modal.Body>
          <DialogHead>{name === undefined ? "" : titleOf(name, id)}</DialogHead>
          {row && name === "reset" && (
            <Suspense fallback={<Shape lines={6} />}>
              <ResetForm id={id} row={row} filled={search} onClose={onClose} />
            </Suspense>
          )}
          {name !== undefined && name !== "reset" && <Life id={id} name={name} onClose={onClose} />}
        </Modal.Body>
      </Modal.Content>
    </Modal.Root>
  );
}

const TITLES: Record<DialogName, string> = {
  reset: "set offsets",
  suspend: "suspend",
  resume: "resume",
  terminate: "terminate",
  handoff: "hand off",
};

function titleOf(name: DialogName, id: string): string {
  return `${visible(id)}: ${TITLES[name]}`;
}

type LifeProps = { id: string; name: Exclude<DialogName, "reset">; onClose: () => void };

function Life({ id, name, onClose }: LifeProps) {
  const groups = useStatus(id).data?.payload.groups;
  if (name === "handoff" && groups === undefined) {
    return <Shape lines={4} />;
  }
  const reading = new Set((groups ?? []).map(({ group }) => group));
  const action = actionOf(
    id,
    name,
    [...reading].sort((one, other) => one - other),
  );
  return action === null ? (
    <p>No group reads now: there is nothing to hand off.</p>
  ) : (
    <ActionForm action={action} onClose={onClose} />
  );
}

function actionOf(id: string, name: LifeProps["name"], groups: readonly number[]): Action | null {
  switch (name) {
    case "suspend":
      return suspendOf(id);
    case "resume":
      return resumeOf(id);
    case "terminate":
      return terminateOf(id);
    case "handoff":
      return groups.length === 0 ? null : handoffOf(id, groups);
  }
}
