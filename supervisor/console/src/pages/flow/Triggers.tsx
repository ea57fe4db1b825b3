import { missing, useMe } from "@/api/me";
import {
  FIRE_TRIGGER,
  fireTriggerOf,
  PAUSE_TRIGGER,
  pauseTriggerOf,
  RESUME_TRIGGER,
  resumeTriggerOf,
} from "@/changes/triggers";
import { openAction } from "@/components/action/ActionDialog";
import { neededFor } from "@/components/action/action";
import { Barred } from "@/components/Barred";
import { Count } from "@/components/Count";
import { Foreign } from "@/components/Foreign";
import { ExecutionLink } from "@/components/flow/links";
import { Mark } from "@/components/Mark";
import { Panel } from "@/components/Panel";
import { QueryView } from "@/components/QueryView";
import { Ago, Due } from "@/components/Time";
import { visible } from "@/text/visible";
import classes from "./flow.module.css";
import { ruleOf, shownOf, type Trigger, useTriggers, whyNoNext } from "./triggers";

/** What starts a flow by itself: when each trigger fired and fires next, and why it did not. */
export function Triggers({ flow }: { flow: string }) {
  const query = useTriggers(flow);
  return (
    <Panel title="Triggers">
      <QueryView query={query} lines={3}>
        {({ triggers }) =>
          triggers.length === 0 ? (
            <p className={classes.dim}>It has none: only a request starts it.</p>
          ) : (
            <table className={classes.inputs} aria-label="Triggers">
              <thead>
                <tr>
                  <th scope="col">Trigger</th>
                  <th scope="col">Fires</th>
                  <th scope="col">State</th>
                  <th scope="col">Last</th>
                  <th scope="col">Next</th>
                  <th scope="col">Fired</th>
                  <th scope="col">Passed by</th>
                  <th scope="col">Actions</th>
                </tr>
              </thead>
              <tbody>
                {triggers.map((trigger) => (
                  <Row key={trigger.name} flow={flow} trigger={trigger} />
                ))}
              </tbody>
            </table>
          )
        }
      </QueryView>
    </Panel>
  );
}

type Props = { flow: string; trigger: Trigger };

function Row({ flow, trigger }: Props) {
  const { name, type, fired, passed, lastAt, lastExecution, nextAt } = trigger;
  return (
    <tr>
      <th scope="row" className={classes.name}>
        <Foreign>{name}</Foreign>
      </th>
      <td>
        {visible(type)}
        <div className={classes.dim}>
          <Foreign>{ruleOf(trigger)}</Foreign>
        </div>
      </td>
      <td>
        <State trigger={trigger} />
      </td>
      <td>
        <Ago at={lastAt} unknown="It has not fired yet." />
        {lastExecution !== null && (
          <div>
            <ExecutionLink id={lastExecution} />
          </div>
        )}
      </td>
      <td>
        <Due at={nextAt} unknown={whyNoNext(trigger)} />
      </td>
      <td>
        <Count value={fired} unknown="" />
      </td>
      <td>
        <Count value={passed} unknown="" />
      </td>
      <td>
        <Verbs flow={flow} trigger={trigger} />
      </td>
    </tr>
  );
}

/** How it is now, by whom, and why it did not fire the last time. */
function State({ trigger }: { trigger: Trigger }) {
  const { paused, pausedBy, problem, problemAt } = trigger;
  const { word, ...look } = shownOf(trigger);
  return (
    <>
      <Mark {...look}>{word}</Mark>
      {paused && (
        <div className={classes.dim}>
          {pausedBy === null ? (
            "by its document"
          ) : (
            <>
              by <Foreign>{pausedBy}</Foreign>
            </>
          )}
        </div>
      )}
      {problem !== "" && (
        <div>
          <Foreign>{problem}</Foreign>
          <span className={classes.dim}>
            {", "}
            <Ago at={problemAt} unknown="When is not known." />
          </span>
        </div>
      )}
    </>
  );
}

function Verbs({ flow, trigger: { name, paused } }: Props) {
  const me = useMe();
  const at = { flow, trigger: name };
  return (
    <div className={classes.verbs}>
      {paused ? (
        <Barred
          size="compact-xs"
          aria-label={`Resume ${visible(name)}`}
          why={missing(me, neededFor("post", RESUME_TRIGGER), null)}
          onClick={() => openAction(resumeTriggerOf(at))}
        >
          Resume…
        </Barred>
      ) : (
        <Barred
          size="compact-xs"
          aria-label={`Pause ${visible(name)}`}
          why={missing(me, neededFor("post", PAUSE_TRIGGER), null)}
          onClick={() => openAction(pauseTriggerOf(at))}
        >
          Pause…
        </Barred>
      )}
      <Barred
        size="compact-xs"
        aria-label={`Fire ${visible(name)} now`}
        why={missing(me, neededFor("post", FIRE_TRIGGER), null)}
        onClick={() => openAction(fireTriggerOf(at))}
      >
        Fire now…
      </Barred>
    </div>
  );
}
