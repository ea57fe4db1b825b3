import type { Overview } from "@/api/overview";
import { Count } from "@/components/Count";
import { Figure, Figures } from "@/components/Figures";
import { counted } from "@/text/numbers";
import type { Worker } from "./workers";

type Props = { workers: readonly Worker[]; slots: Overview["slots"] };

const UNKNOWN = "The overview does not say it now.";

/** Slots that are needed, used and free: whether the workers are enough. */
export function SlotFigures({ workers, slots }: Props) {
  const missing = slots === null ? 0 : slots.needed - slots.used - slots.free;
  return (
    <Figures>
      <Figure
        name="Slots needed"
        note={missing > 0 ? `${missing} too few: start another worker` : "by all supervisors"}
        isBad={missing > 0}
      >
        <Count value={slots?.needed} unknown={UNKNOWN} />
      </Figure>
      <Figure name="Slots used" note={slots === null ? "" : `of ${slots.total}`}>
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

function sumOf(workers: readonly Worker[]): number {
  return workers.reduce((sum, { taskCount }) => sum + taskCount, 0);
}

function versionsOf(workers: readonly Worker[]): string[] {
  return workers.flatMap(({ version }) => (version === null ? [] : [version])).sort();
}

function releasesOf(workers: readonly Worker[]): string {
  return [...new Set(versionsOf(workers))].join(", ");
}
