import { Popover, UnstyledButton } from "@mantine/core";
import { useOverview } from "@/api/overview";
import { POLL_MS, SAFETY_MS } from "@/api/query";
import { useApi } from "@/api/use";
import { Icon } from "@/components/Icon";
import { QueryView } from "@/components/QueryView";
import { SupervisorLink } from "@/components/SupervisorLink";
import { Age } from "@/components/Time";
import { counted } from "@/text/numbers";
import { visible } from "@/text/visible";
import classes from "./OperationsChip.module.css";

const SHOWN = 20;

/** The changes that run: what each waits for, and the newest that have ended. */
export function OperationsChip() {
  const running = useOverview(SAFETY_MS).data?.operations ?? 0;
  return (
    <Popover position="bottom-end" width={420} shadow="md" trapFocus returnFocus>
      <Popover.Target>
        <UnstyledButton className={classes.chip} data-running={running > 0}>
          {running === 0 ? "No operations" : counted(running, "operation")}
          <Icon name="down" size={11} />
        </UnstyledButton>
      </Popover.Target>
      <Popover.Dropdown aria-label="Operations">
        <Newest />
      </Popover.Dropdown>
    </Popover>
  );
}

/** The newest changes; they are asked for while the list is open. */
function Newest() {
  const query = useApi("/api/v1/operations", { query: { limit: SHOWN } }, POLL_MS);
  return (
    <QueryView query={query}>
      {({ operations }) =>
        operations.length === 0 ? (
          <p>Nothing was changed yet. A change shows here until it is done.</p>
        ) : (
          <ul className={classes.list}>
            {operations.map(({ id, kind, supervisor, state, waitsFor, at, askedBy }) => (
              <li key={id}>
                <span className={classes.what}>
                  <strong>{kind}</strong> <SupervisorLink id={supervisor} />
                  <span className={classes.state} data-state={state}>
                    {state}
                  </span>
                </span>
                <span className={classes.dim}>
                  {waitsFor !== "" && <span>waits for {visible(waitsFor)} · </span>}
                  {askedBy !== "" && <span>{visible(askedBy)} · </span>}
                  <Age at={at} unknown="When it was wanted is not known." />
                </span>
              </li>
            ))}
          </ul>
        )
      }
    </QueryView>
  );
}
