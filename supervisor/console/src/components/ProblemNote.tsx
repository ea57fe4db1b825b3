import { Button } from "@mantine/core";
import type { Problem } from "@/api/problem";
import { visible } from "@/text/visible";
import { Copy } from "./Copy";
import { Icon } from "./Icon";
import classes from "./ProblemNote.module.css";

type Props = {
  problem: Problem;
  /** Asks again; left out where nothing can be repeated. */
  onRetry?: () => void;
  /** One line above data that is still shown; hints and request are behind "details". */
  isStrip?: boolean;
};

/** What went wrong, in the overlord's words: title, detail, hints, request id, retry. */
export function ProblemNote({ problem, onRetry, isStrip = false }: Props) {
  return (
    <div className={classes.note} data-strip={isStrip} role={isStrip ? "status" : "alert"}>
      <span className={classes.icon}>
        <Icon name="risk" />
      </span>
      <div className={classes.words}>
        <p className={classes.title}>{titleOf(problem)}</p>
        {detailOf(problem) !== "" && <p>{detailOf(problem)}</p>}
        {isStrip ? <Details problem={problem} /> : <Facts problem={problem} />}
      </div>
      {onRetry !== undefined && <Button onClick={onRetry}>Try again</Button>}
    </div>
  );
}

/** A problem in a list or in a toast: what and why, with hints and request behind "details". */
export function ProblemBrief({ problem }: { problem: Problem }) {
  const [title, detail] = [titleOf(problem), detailOf(problem)];
  return (
    <span className={classes.brief}>
      {detail === "" ? title : `${title}: ${detail}`}
      <Details problem={problem} />
    </span>
  );
}

/** What is in the details of a problem; nothing where it has no more than title and detail. */
export function Details({ problem }: { problem: Problem }) {
  return problem.errors.length === 0 && problem.requestId === null ? null : (
    <details className={classes.details}>
      <summary>details</summary>
      <Facts problem={problem} />
    </details>
  );
}

function Facts({ problem: { errors, requestId } }: { problem: Problem }) {
  return (
    <>
      {errors.map(({ pointer, message, hint }) => (
        <p key={`${pointer} ${message}`}>
          <code>{visible(pointer)}</code> {visible(message)}
          {hint !== "" && <span className={classes.hint}> {visible(hint)}</span>}
        </p>
      ))}
      {requestId !== null && (
        <p className={classes.request}>
          request <code>{visible(requestId)}</code>
          <Copy text={requestId} what="the request's id" />
        </p>
      )}
    </>
  );
}

function titleOf({ status, title }: Problem): string {
  return visible(status === 404 ? `${title}, or you may not read it` : title);
}

function detailOf({ title, detail }: Problem): string {
  return detail === title ? "" : visible(detail);
}
