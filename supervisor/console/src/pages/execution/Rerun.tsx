import { Checkbox, NativeSelect } from "@mantine/core";
import { modals } from "@mantine/modals";
import { useQuery } from "@tanstack/react-query";
import { useRef, useState } from "react";
import { type Got, send } from "@/api/client";
import { writeJson } from "@/api/json";
import { missing, useMe } from "@/api/me";
import { apiQuery, SAFETY_MS } from "@/api/query";
import { RERUN } from "@/changes/executions";
import { ActForm, SameBy } from "@/components/action/ActForm";
import actClasses from "@/components/action/ActForm.module.css";
import { neededFor } from "@/components/action/action";
import { DialogHead } from "@/components/action/DialogHead";
import { useAct } from "@/components/action/useAct";
import { QueryView } from "@/components/QueryView";
import { visible } from "@/text/visible";
import classes from "./execution.module.css";
import { bodyOf, commandOf, type Rerun, stepsOf } from "./rerun";

type Plan = Got<typeof RERUN>;

/** Opens the dialog that begins an ended execution anew; `onBegun` gets the id of the new one. */
export function openRerun(execution: string, onBegun: (id: string) => void): void {
  modals.open({
    withCloseButton: false,
    size: "lg",
    children: (
      <>
        <DialogHead>{`Rerun ${visible(execution)}`}</DialogHead>
        <RerunForm execution={execution} onBegun={onBegun} onClose={modals.closeAll} />
      </>
    ),
  });
}

type FormProps = { execution: string; onBegun: (id: string) => void; onClose: () => void };

function RerunForm({ execution, onBegun, onClose }: FormProps) {
  const me = useMe();
  const [wanted, setWanted] = useState<Rerun>({ from: "", latest: false, force: false });
  const started = useRef<string | null>(null);
  const whole = usePlan(execution, { ...wanted, from: "" });
  const plan = usePlan(execution, wanted);
  const act = useAct({
    queryKey: ["rerun", execution, writeJson(bodyOf(wanted))],
    look: null,
    send: async (key, { reason }) => {
      const query = reason === undefined ? {} : { reason };
      const init = { path: { execution }, query, body: bodyOf(wanted), key };
      started.current = (await send("post", RERUN, init as never)).id;
    },
    done: `${visible(execution)} is rerun.`,
    onClose: () => {
      onClose();
      if (started.current !== null) {
        onBegun(started.current);
      }
    },
  });
  const isFixed = act.isPending || act.isUnknown;
  const isHeld = (plan.data?.changed.length ?? 0) > 0 && !wanted.force;
  const lack = isHeld ? "Steps that it would keep are others now." : null;
  return (
    <ActForm
      act={act}
      verb="Rerun"
      confirm={null}
      lack={missing(me, neededFor("post", RERUN), null) ?? lack}
      takesReason
      onClose={onClose}
    >
      <div className={classes.rerun}>
        <NativeSelect
          label="Begin with"
          data-autofocus
          disabled={isFixed}
          value={wanted.from}
          data={[
            { value: "", label: "what was not done" },
            ...stepsOf(whole.data).map((name) => ({ value: name, label: visible(name) })),
          ]}
          onChange={({ currentTarget }) => setWanted({ ...wanted, from: currentTarget.value })}
        />
        <Checkbox
          label="By the newest version of the flow"
          disabled={isFixed}
          checked={wanted.latest}
          onChange={({ currentTarget }) =>
            setWanted({ from: "", latest: currentTarget.checked, force: false })
          }
        />
        <QueryView query={plan} lines={3}>
          {(known) => (
            <>
              {known.changed.length > 0 && (
                <Checkbox
                  label={`Keep the outputs of ${named(known.changed)}, which version ${known.flowVersion} has changed`}
                  disabled={isFixed}
                  checked={wanted.force}
                  onChange={({ currentTarget }) =>
                    setWanted({ ...wanted, force: currentTarget.checked })
                  }
                />
              )}
              <Effect plan={known} />
            </>
          )}
        </QueryView>
      </div>
      <dl className={actClasses.facts}>
        <dt>Undo</dt>
        <dd>Kill the new execution; what its steps have done stays done.</dd>
        <SameBy
          command={commandOf(execution, wanted)}
          request={{
            verb: "post",
            path: `/api/v1/executions/${encodeURIComponent(execution)}/rerun`,
            body: writeJson(bodyOf(wanted)),
          }}
          sent={act}
        />
      </dl>
    </ActForm>
  );
}

/** What a rerun would do. */
function Effect({ plan: { flowVersion, keeps, goesOn, runs } }: { plan: Plan }) {
  return (
    <dl className={actClasses.facts}>
      <dt>Effect</dt>
      <dd>{`A new execution of version ${flowVersion} begins, with the same inputs.`}</dd>
      <dt>Keeps</dt>
      <dd>{keeps.length === 0 ? "nothing" : `${named(keeps)}, with their outputs`}</dd>
      {goesOn.length > 0 && (
        <>
          <dt>Goes on in</dt>
          <dd>{`${named(goesOn)}: what is done inside is kept`}</dd>
        </>
      )}
      <dt>Runs</dt>
      <dd>{runs.length === 0 ? "nothing" : named(runs)}</dd>
    </dl>
  );
}

function named(steps: readonly string[]): string {
  return steps.map(visible).join(", ");
}

function usePlan(execution: string, { from, latest }: Rerun) {
  const query = { latest, ...(from === "" ? {} : { from }) };
  return useQuery({
    ...apiQuery(RERUN, { path: { execution }, query }),
    refetchInterval: SAFETY_MS,
  });
}
