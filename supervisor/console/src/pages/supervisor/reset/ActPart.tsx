import { missing, useMe } from "@/api/me";
import { ActForm, SameBy } from "@/components/action/ActForm";
import form from "@/components/action/ActForm.module.css";
import { neededFor } from "@/components/action/action";
import type { Act } from "@/components/action/useAct";
import { Command } from "@/components/Command";
import { exact } from "@/text/numbers";
import { RESET } from "../life/verbs";
import { requestOf, type Settled } from "./calls";
import { commandOf, confirmOf, idleOf, type Preview, totalsOf, undoOf } from "./effect";

type Props = {
  id: string;
  stream: string;
  table: string | null;
  settled: Settled;
  act: Act<Preview>;
  onClose: () => void;
};

/** What is given up, how it is undone, the same by other means, and the button. */
export function ActPart({ id, stream, table, settled, act, onClose }: Props) {
  const me = useMe();
  const { shown } = act;
  if (shown === null) {
    return null;
  }
  const undo = undoOf(id, stream, shown);
  return (
    <ActForm
      act={act}
      verb="Set offsets"
      confirm={confirmOf(totalsOf(shown))}
      lack={missing(me, neededFor("post", RESET), table) ?? idleOf(settled.target, shown)}
      takesReason
      onClose={onClose}
    >
      <dl className={form.facts}>
        <dt>Gives up</dt>
        <dd>{givesUpOf(shown)}</dd>
        {"backfill" in shown && (
          <>
            <dt>Beside</dt>
            <dd>
              {`A bounded supervisor in ${exact(shown.backfillTaskCount)} groups reads what is skipped, once.`}
            </dd>
          </>
        )}
        <dt>Undo</dt>
        <dd>
          {undo.words}
          {undo.command !== null && (
            <Command text={undo.command} what="the command that undoes it" />
          )}
        </dd>
        <SameBy
          command={commandOf(id, settled.target)}
          request={requestOf(id, stream, settled)}
          sent={act}
        />
      </dl>
    </ActForm>
  );
}

/** Says which ranges end unpublished; their records are read again, by the ranges that follow. */
function givesUpOf({ discarded }: Preview): string {
  if (discarded.length === 0) {
    return "Nothing: no range that reads now is in the way.";
  }
  const ranges = discarded.map(({ group, offsets = [], partitions }) => {
    const parts = offsets.map(
      ({ partition, from, to }) =>
        `${partition} from ${exact(from)} ${to === null ? "on" : `to ${exact(to)}`}`,
    );
    return `group ${group} (${parts.length > 0 ? parts.join(", ") : partitions.join(", ")})`;
  });
  return `What these have read and not published is read again where the new offsets lead: ${ranges.join("; ")}.`;
}
