import { ActionIcon, Button, SegmentedControl, TextInput, Tooltip } from "@mantine/core";
import { useDebouncedCallback } from "@mantine/hooks";
import { type ReactNode, useEffect, useRef, useState } from "react";
import { saveFile } from "@/api/saving";
import { useKeys } from "@/app/keys";
import { copyLink } from "@/app/shell/shellKeys";
import { Chip } from "@/components/filters/Chip";
import { Icon } from "@/components/Icon";
import { exact } from "@/text/numbers";
import type { LogSearch } from "../search";
import classes from "./Log.module.css";
import type { Loaded } from "./pieces";
import type { Level } from "./view";

const TYPING_MS = 150;
const NAMES: { value: Level; label: string }[] = [
  { value: "all", label: "All" },
  { value: "warnings", label: "Warnings" },
  { value: "errors", label: "Errors" },
];

type Props = {
  id: string;
  search: LogSearch;
  onChange: (part: LogSearch) => void;
  /** Null: nothing comes any more. */
  follows: boolean | null;
  onFollow: (follows: boolean) => void;
  /** Lines with the text that is searched, and which of them is pointed at; null: no text is. */
  hits: { count: number; at: number } | null;
  onStep: (by: 1 | -1) => void;
  errors: { first: number; last: number } | null;
  onJump: (place: number) => void;
  loaded: Loaded;
  onLoad: (which: "all") => void;
  children: ReactNode;
};

/** Follows, searches, filters, jumps and saves. */
export function LogControls({ search, onChange, follows, hits, errors, ...props }: Props) {
  const field = useRef<HTMLInputElement>(null);
  useKeys([
    { keys: "/", label: "Search the log", run: () => field.current?.focus() },
    { keys: "n", label: "Next hit", run: () => props.onStep(1) },
    { keys: "N", label: "Hit before", run: () => props.onStep(-1) },
  ]);
  return (
    <search className={classes.controls}>
      {follows !== null && (
        <Chip isOn={follows} onClick={() => props.onFollow(!follows)}>
          Follow
        </Chip>
      )}
      <SegmentedControl
        aria-label="Level"
        data={NAMES}
        value={search.level ?? "all"}
        onChange={(value) =>
          onChange({ level: value === "warnings" || value === "errors" ? value : undefined })
        }
      />
      <FindField field={field} value={search.find} onChange={onChange} onStep={props.onStep} />
      {hits !== null && (
        <>
          <span className={classes.hits} role="status">
            {hitsText(hits)}
          </span>
          <Arrow label="Hit before" icon="up" onClick={() => props.onStep(-1)} />
          <Arrow label="Next hit" icon="down" onClick={() => props.onStep(1)} />
        </>
      )}
      <Chip
        isOn={search.wrap === "yes"}
        onClick={() => onChange({ wrap: search.wrap === "yes" ? undefined : "yes" })}
      >
        Wrap
      </Chip>
      {errors !== null && (
        <>
          <Button variant="subtle" px={6} onClick={() => props.onJump(errors.first)}>
            First error
          </Button>
          <Button variant="subtle" px={6} onClick={() => props.onJump(errors.last)}>
            Last error
          </Button>
        </>
      )}
      <div className={classes.right}>
        {props.children}
        <Tooltip label="Copy a link to this view, and its line">
          <ActionIcon
            variant="default"
            size={30}
            aria-label="Copy link"
            onClick={() => void copyLink()}
          >
            <Icon name="copy" size={12} />
          </ActionIcon>
        </Tooltip>
        <Download id={props.id} loaded={props.loaded} onLoad={props.onLoad} />
      </div>
    </search>
  );
}

function hitsText({ count, at }: { count: number; at: number }): string {
  if (count === 0) {
    return "no hit";
  }
  return at < 0 ? `${exact(count)} hits` : `${exact(at + 1)} of ${exact(count)}`;
}

type FindProps = {
  field: React.RefObject<HTMLInputElement | null>;
  value: string | undefined;
  onChange: (part: LogSearch) => void;
  onStep: (by: 1 | -1) => void;
};

function FindField({ field, value = "", onChange, onStep }: FindProps) {
  const [typed, setTyped] = useState(value);
  const later = useDebouncedCallback(
    (text: string) => onChange({ find: text || undefined }),
    TYPING_MS,
  );
  useEffect(() => setTyped(value), [value]);
  return (
    <TextInput
      ref={field}
      w={172}
      aria-label="Search in the loaded lines"
      placeholder="Search in the loaded lines"
      value={typed}
      leftSection={<Icon name="search" size={12} />}
      onChange={({ currentTarget }) => {
        setTyped(currentTarget.value);
        later(currentTarget.value);
      }}
      onKeyDown={(event) => {
        if (event.key === "Enter") {
          onStep(event.shiftKey ? -1 : 1);
        } else if (event.key === "Escape") {
          event.currentTarget.blur();
        }
      }}
    />
  );
}

type ArrowProps = { label: string; icon: "up" | "down"; onClick: () => void };

function Arrow({ label, icon, onClick }: ArrowProps) {
  return (
    <ActionIcon variant="default" size={30} aria-label={label} onClick={onClick}>
      <Icon name={icon} size={12} />
    </ActionIcon>
  );
}

/** Saves the whole log; what is older is loaded first. */
function Download({ id, loaded, onLoad }: Pick<Props, "id" | "loaded" | "onLoad">) {
  const [isWanted, setWanted] = useState(false);
  useEffect(() => {
    if (isWanted && loaded.from === 0) {
      setWanted(false);
      saveFile(new Blob([...loaded.pieces], { type: "text/plain" }), `${id}.log`);
    }
  }, [isWanted, loaded, id]);
  return (
    <Button
      onClick={() => {
        setWanted(true);
        if (loaded.from > 0) {
          onLoad("all");
        }
      }}
    >
      Download
    </Button>
  );
}
