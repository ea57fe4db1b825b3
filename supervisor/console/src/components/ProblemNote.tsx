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
  /** One line above data that is still shown. */
  isStrip?: boolean;
};

/** What went wrong, in the overlord's words: title, detail, hints, request id, retry. */
export function ProblemNote({ problem, onRetry, isStrip = false }: Props) {
  const title = problem.status === 404 ? `${problem.title}, or you may not read it` : problem.title;
  return (
    <div className={classes.note} data-strip={isStrip} role={isStrip ? "status" : "alert"}>
      <span className={classes.icon}>
        <Icon name="risk" />
      </span>
      <div className={classes.words}>
        <p className={classes.title}>{visible(title)}</p>
        {problem.detail !== "" && problem.detail !== problem.title && (
          <p>{visible(problem.detail)}</p>
        )}
        {problem.errors.map(({ pointer, message, hint }) => (
          <p key={`${pointer} ${message}`}>
            <code>{visible(pointer)}</code> {visible(message)}
            {hint !== "" && <span className={classes.hint}> {visible(hint)}</span>}
          </p>
        ))}
        {problem.requestId !== null && !isStrip && (
          <p className={classes.request}>
            request <code>{visible(problem.requestId)}</code>
            <Copy text={problem.requestId} what="the request's id" />
          </p>
        )}
      </div>
      {onRetry !== undefined && <Button onClick={onRetry}>Try again</Button>}
    </div>
  );
}
