import { notifications } from "@mantine/notifications";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useEffect, useReducer, useRef, useState } from "react";
import { newKey } from "@/api/client";
import type { Problem } from "@/api/problem";
import { POLL_MS } from "@/api/query";
import { QueryView } from "@/components/QueryView";
import { visible } from "@/text/visible";
import { ActPart } from "./ActPart";
import { act, isMoving, outdatedBy, preview, type Settled, settle } from "./calls";
import { accept, type Preview, type Reading, receive, UNREAD } from "./effect";
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

type Step = { seen: Preview } | "read";

function next(reading: Reading, step: Step): Reading {
  return step === "read" ? accept(reading) : receive(reading, step.seen);
}

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
  const [reading, step] = useReducer(next, UNREAD);
  const [typed, setTyped] = useState("");
  const client = useQueryClient();
  const keys = useRef(new Map<string, string>());
  const moves = isMoving(settled.target);
  const looks = useQuery<Preview, Problem>({
    // Events of the supervisor have it look again, unless the place moves by itself.
    queryKey: ["preview", moves ? {} : { path: { supervisor_id: id } }, keyOf(settled)],
    queryFn: () => preview(id, stream, settled),
    refetchInterval: moves ? false : POLL_MS,
    staleTime: moves ? Number.POSITIVE_INFINITY : 0,
    gcTime: 0,
    refetchOnWindowFocus: moves ? false : "always",
    refetchOnReconnect: moves ? false : "always",
  });
  useEffect(() => {
    if (looks.data !== undefined) {
      step({ seen: looks.data });
    }
  }, [looks.data]);
  const digest = reading.read?.digest ?? "";
  const reset = useMutation<Preview, Problem>({
    mutationFn: () => act(id, stream, settled, keyFor(keys.current, digest), digest),
    onSuccess: () => {
      onClose();
      notifications.show({ message: `${visible(id)} begins elsewhere.` });
      void client.invalidateQueries();
    },
    onError: (problem) => {
      const newer = outdatedBy(problem);
      if (newer !== null) {
        setTyped("");
        step({ seen: newer });
      }
    },
  });
  return (
    <QueryView query={looks} lines={5}>
      {() => (
        <div className={classes.form}>
          <PreviewTable reading={reading} table={table} stay={settled.stay} />
          <ActPart
            id={id}
            stream={stream}
            table={table}
            settled={settled}
            reading={reading}
            typed={typed}
            requestKey={keyFor(keys.current, digest)}
            onType={setTyped}
            onRead={() => {
              setTyped("");
              reset.reset();
              step("read");
            }}
            onAct={() => reset.mutate()}
            act={reset}
            onClose={onClose}
          />
        </div>
      )}
    </QueryView>
  );
}

/** The key of what is sent: kept over tries, another one where another preview was confirmed. */
function keyFor(keys: Map<string, string>, digest: string): string {
  const key = keys.get(digest) ?? newKey();
  keys.set(digest, key);
  return key;
}

function keyOf(value: object): string {
  return JSON.stringify(value, (_, each: unknown) =>
    typeof each === "bigint" ? String(each) : each,
  );
}
