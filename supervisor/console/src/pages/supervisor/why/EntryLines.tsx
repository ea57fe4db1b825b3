import { Link } from "@tanstack/react-router";
import { Foreign } from "@/components/Foreign";
import { Mark } from "@/components/Mark";
import { TaskLink } from "@/components/TaskLink";
import { Clock } from "@/components/Time";
import { counted, exact } from "@/text/numbers";
import { visible } from "@/text/visible";
import { windowOf } from "../search";
import { type Acted, actionWords, type Entry, type Fold, kindOf } from "./decisions";
import classes from "./Why.module.css";

type Props = { entry: Entry; supervisor: string; onAbout: (about: string) => void };

/** One pass, an action a line; or some passes in a row that did nothing, or failed alike. */
export function EntryLines({ entry, supervisor, onAbout }: Props) {
  if (entry.kind !== "acted") {
    return <Folded fold={entry} />;
  }
  return entry.actions.map((planned, index) => (
    <tr key={`${planned.action} ${planned.about}`} data-first={index === 0}>
      <td className={classes.at}>
        {index === 0 && (
          <>
            <Clock at={entry.plan.at} unknown="" />
            <span className={classes.dim}> term {entry.plan.term}</span>
          </>
        )}
      </td>
      <td title={visible(planned.action)}>{visible(actionWords(planned.action))}</td>
      <td>
        <About entry={entry} planned={planned} supervisor={supervisor} onAbout={onAbout} />
      </td>
      <td>{visible(planned.why)}</td>
    </tr>
  ));
}

function Folded({ fold: { kind, count, from, to, error } }: { fold: Fold }) {
  return (
    <tr data-first="true">
      <td className={classes.at}>
        <Clock at={to} unknown="" />
      </td>
      <td colSpan={3}>
        {kind === "idle" ? (
          <span className={classes.dim}>{counted(count, "pass", "passes")} without an action</span>
        ) : (
          <>
            <Mark tone="broken" icon="broken">
              {count === 1 ? "the pass failed" : `${exact(count)} passes failed`}
            </Mark>{" "}
            <span className={classes.error}>{visible(error)}</span>
          </>
        )}
        {count > 1 && (
          <span className={classes.dim}>
            {` ×${exact(count)}, since `}
            <Clock at={from} unknown="" />
          </span>
        )}
      </td>
    </tr>
  );
}

type AboutProps = Props & { entry: Acted; planned: Acted["actions"][number] };

function About({ entry, planned: { action, about }, supervisor, onAbout }: AboutProps) {
  if (about === "") {
    return <span className={classes.dim}>all</span>;
  }
  const kind = kindOf(action);
  return (
    <span className={classes.about}>
      {kind === "range" && (
        <Link
          to="/supervisors/$id/timeline"
          params={{ id: supervisor }}
          search={{ range: about, window: windowOf(entry.plan.at) }}
        >
          <Foreign>{about}</Foreign>
        </Link>
      )}
      {kind === "task" && <TaskLink id={about} />}
      {kind === "other" && <Foreign>{about}</Foreign>}
      <button type="button" className={classes.only} onClick={() => onAbout(about)}>
        only this
      </button>
    </span>
  );
}
