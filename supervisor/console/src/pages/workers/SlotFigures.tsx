import type { Overview } from "@/api/overview";
import { Count } from "@/components/Count";
import { Figure, Figures } from "@/components/Figures";
import { counted, exact } from "@/text/numbers";
import { visible } from "@/text/visible";
import type { Worker } from "./workers";

type Props = { workers: readonly Worker[]; slots: Overview["slots"] };

const UNKNOWN = "The overview does not say it now.";

/** Slots that are needed, used and free: whether the workers are enough. */
export function SlotFigures({ workers, slots }: Props) {
  const missing = slots === null ? 0n : missingOf(slots);
  return (
    <Figures>
      <Figure
        name="Slots needed"
        note={
          missing > 0 ? `${exact(missing)} too few: start another worker` : "by all supervisors"
        }
        isBad={missing > 0}
      >
        <Count value={slots?.needed} unknown={UNKNOWN} />
      </Figure>
      <Figure name="Slots used" note={slots === null ? "" : `of ${exact(slots.total)}`}>
        <Count value={slots?.used} unknown={UNKNOWN} />
      </Figure>
      <Figure name="Slots free" note="of workers that take tasks">
        <Count value={slots?.free} unknown={UNKNOWN} />
      </Figure>
      <Figure name="Tasks" note={`on ${counted(workers.length, "worker")}`}>
        <Count value={sumOf(workers)} unknown={UNKNOWN} />
      </Figure>
      <Figure name="Releases" note={releasesOf(workers)}>
        <Count value={new Set(versionsOf(workers)).size || null} unknown="No worker has said it." />
      </Figure>
    </Figures>
  );
}

function missingOf({ needed, used, free }: NonNullable<Overview["slots"]>): bigint {
  return BigInt(needed) - BigInt(used) - BigInt(free);
}

function sumOf(workers: readonly Worker[]): bigint {
  return workers.reduce((sum, { taskCount }) => sum + BigInt(taskCount), 0n);
}

function versionsOf(workers: readonly Worker[]): string[] {
  return workers.flatMap(({ version }) => (version === null ? [] : [version])).sort();
}

function releasesOf(workers: readonly Worker[]): string {
  return visible([...new Set(versionsOf(workers))].join(", "));
}
