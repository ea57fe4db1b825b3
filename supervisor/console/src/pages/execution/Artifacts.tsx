import { Button } from "@mantine/core";
import { saveAnswer } from "@/api/saving";
import { Size } from "@/components/Size";
import { visible } from "@/text/visible";
import type { TaskRun } from "./data";
import classes from "./execution.module.css";

const PATH = "/api/v1/executions/{execution}/artifacts/{artifact}";

type Props = { execution: string; artifacts: NonNullable<TaskRun["artifacts"]> };

/** The outputs that lie beside the record, as they are too large for it. */
export function Artifacts({ execution, artifacts }: Props) {
  return (
    <ul className={classes.artifacts} aria-label="Artifacts of the step">
      {artifacts.map(({ id, bytes }) => (
        <li key={id}>
          <code>{visible(id)}</code>
          <Size value={bytes} unknown="" />
          <Button aria-label={`Save ${visible(id)}`} onClick={() => void save(execution, id)}>
            Save
          </Button>
        </li>
      ))}
    </ul>
  );
}

async function save(execution: string, artifact: string): Promise<void> {
  await saveAnswer(
    PATH,
    { path: { execution, artifact } },
    ({ type }) => `${artifact}.${type.includes("json") ? "json" : "txt"}`,
    "It is all of the output that its record only names.",
  );
}
