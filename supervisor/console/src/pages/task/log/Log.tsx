import { Button } from "@mantine/core";
import { useLocation, useNavigate, useSearch } from "@tanstack/react-router";
import { useCallback, useDeferredValue, useEffect, useMemo, useRef, useState } from "react";
import { ProblemNote } from "@/components/ProblemNote";
import { Prose } from "@/components/Prose";
import { QueryView } from "@/components/QueryView";
import { isActive, useTask, useTaskId } from "../data";
import type { LogSearch } from "../search";
import classes from "./Log.module.css";
import { LogControls } from "./LogControls";
import { type LinesHandle, LogLines } from "./LogLines";
import { type Loaded, NOTHING, shownLines } from "./pieces";
import { useTaskLog } from "./useTaskLog";
import { errorsIn, gravities, hitsIn, lineOf, nextHit, rangeOf, shownAt } from "./view";

/** What a task has written, as its worker or a store keeps it: followed, searched, linked. */
export function Log() {
  const id = useTaskId();
  const runs = isActive(useTask(id).data?.status);
  const { hash } = useLocation();
  const linked = lineOf(hash);
  const [follows, setFollows] = useState(linked === null);
  const log = useTaskLog(id, runs, follows);
  const { load } = log;
  const isWhole = log.data?.from === 0;
  const isKnown = log.data !== undefined;
  const { mutate } = load;
  useEffect(() => {
    // A line has its number once all lines before it are there.
    if (linked !== null && isKnown && !isWhole) {
      mutate("all");
    }
  }, [linked, isKnown, isWhole, mutate]);
  return (
    <>
      {load.error !== null && (
        <ProblemNote problem={load.error} onRetry={() => mutate("older")} isStrip />
      )}
      <QueryView query={log} lines={14}>
        {(loaded) => (
          <>
            {loaded.missing !== undefined && (
              <p className={classes.missing} role="status">
                <Prose>{`The log is not all here: ${loaded.missing}`}</Prose>
              </p>
            )}
            <View
              id={id}
              loaded={loaded}
              runs={runs}
              linked={isWhole ? linked : null}
              follows={follows}
              onFollow={setFollows}
              isLoading={load.isPending}
              onLoad={mutate}
            />
          </>
        )}
      </QueryView>
    </>
  );
}

type Props = {
  id: string;
  loaded: Loaded;
  runs: boolean;
  /** The number of the line that the address names. */
  linked: number | null;
  follows: boolean;
  onFollow: (follows: boolean) => void;
  isLoading: boolean;
  onLoad: (which: "older" | "all") => void;
};

function View({ id, loaded = NOTHING, linked, follows, onFollow, ...props }: Props) {
  const search = useSearch({ from: "/shell/tasks/$task/log" });
  const navigate = useNavigate({ from: "/tasks/$task/log" });
  const handle = useRef<LinesHandle>(null);
  const find = useDeferredValue(search.find ?? "");
  const lines = useMemo(() => shownLines(loaded), [loaded]);
  const grave = useMemo(() => gravities(lines), [lines]);
  const shown = useMemo(() => shownAt(grave, search.level ?? "all"), [grave, search.level]);
  const hits = useMemo(() => hitsIn(lines, shown, find), [lines, shown, find]);
  const errors = useMemo(() => errorsIn(lines, grave, shown), [lines, grave, shown]);
  const [place, setPlace] = useState<number | null>(null);
  const change = useCallback(
    (part: LogSearch) =>
      void navigate({ search: (before) => ({ ...before, ...part }), hash: true, replace: true }),
    [navigate],
  );
  const jump = useCallback(
    (to: number) => {
      onFollow(false);
      setPlace(to);
      handle.current?.scrollTo(to);
    },
    [onFollow],
  );
  const linkedAt = linked === null ? null : linked - 1;
  const placeOfLinked =
    linkedAt === null ? -1 : shown === null ? linkedAt : shown.indexOf(linkedAt);
  useEffect(() => {
    if (placeOfLinked >= 0) {
      jump(placeOfLinked);
    }
  }, [placeOfLinked, jump]);
  const hit = place === null ? -1 : hits.indexOf(place);
  const step = (by: 1 | -1) => {
    const next = nextHit(hits, place ?? (by > 0 ? -1 : lines.length), by);
    if (next !== null) {
      jump(hits[next] ?? 0);
    }
  };
  const pointed = place === null ? linkedAt : shown === null ? place : (shown[place] ?? null);
  return (
    <>
      <LogControls
        id={id}
        search={search}
        onChange={change}
        follows={props.runs ? follows : null}
        onFollow={onFollow}
        hits={find === "" ? null : { count: hits.length, at: hit }}
        onStep={step}
        errors={errors}
        onJump={jump}
        loaded={loaded}
        onLoad={props.onLoad}
      >
        {`${rangeOf(loaded)} · ${lines.length.toLocaleString("en-GB")} lines`}
        {loaded.from > 0 && (
          <Button
            size="compact-xs"
            loading={props.isLoading}
            onClick={() => {
              onFollow(false);
              props.onLoad("older");
            }}
          >
            Load older
          </Button>
        )}
      </LogControls>
      {lines.length === 0 || shown?.length === 0 ? (
        <div className={classes.empty}>
          {lines.length === 0 ? "The log is empty." : "No loaded line is as grave as that."}
        </div>
      ) : (
        <LogLines
          lines={lines}
          grave={grave}
          shown={shown}
          isFromStart={loaded.from === 0}
          find={find}
          isWrapped={search.wrap === "yes"}
          isFollowed={follows}
          target={pointed}
          onScrollUp={() => onFollow(false)}
          onLine={(number) =>
            void navigate({ search: (before) => before, hash: `L${number}`, replace: true })
          }
          handle={handle}
        />
      )}
    </>
  );
}
