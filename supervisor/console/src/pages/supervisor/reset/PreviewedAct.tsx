import { useQuery } from "@tanstack/react-query";
import type { Problem } from "@/api/problem";
import { useAct } from "@/components/action/useAct";
import { QueryView } from "@/components/QueryView";
import { visible } from "@/text/visible";
import { ActPart } from "./ActPart";
import { act as actOn, isMoving, preview, type Settled, settle } from "./calls";
import type { Preview } from "./effect";
import { PreviewTable } from "./PreviewTable";
import classes from "./ResetForm.module.css";
import type { Target } from "./target";

type Props = {
  id: string;
  stream: string;
  table: string | null;
  target: Target;
  onClose: () => void;
};

/**
 * Shows what a reset to a place would do, looks again every 5 s, and does just that.  Where the
 * offsets of the place move with each record, it looks once: the act takes those that are shown.
 */
export function PreviewedAct({ id, stream, target, ...rest }: Props) {
  const settled = useQuery<Settled, Problem>({
    queryKey: ["settled", id, keyOf(target)],
    queryFn: ({ signal }) => settle(id, target, signal),
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
    refetchOnWindowFocus: false,
    refetchOnReconnect: false,
  });
  return (
    <QueryView query={settled} lines={4}>
      {(known) => <Previewed id={id} stream={stream} settled={known} {...rest} />}
    </QueryView>
  );
}

type PreviewedProps = Omit<Props, "target"> & { settled: Settled };

function Previewed({ id, stream, table, settled, onClose }: PreviewedProps) {
  const moves = isMoving(settled.target);
  const act = useAct<Preview>({
    // Events of the supervisor have it look again, unless the place moves by itself.
    queryKey: ["preview", moves ? {} : { path: { supervisor_id: id } }, keyOf(settled)],
    look: () => preview(id, stream, settled),
    moves,
    send: (key, given) => actOn(id, stream, settled, key, given),
    done: `The offsets of ${visible(id)} are set.`,
    onClose,
  });
  return (
    <QueryView query={act.looks} lines={5}>
      {() => (
        <div className={classes.form}>
          <PreviewTable reading={act.reading} table={table} stay={settled.stay} />
          <ActPart {...{ id, stream, table, settled, act, onClose }} />
        </div>
      )}
    </QueryView>
  );
}

function keyOf(value: object): string {
  return JSON.stringify(value, (_, each: unknown) =>
    typeof each === "bigint" ? String(each) : each,
  );
}
