import { Button } from "@mantine/core";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { useCallback, useMemo, useState } from "react";
import { ArchiveNote } from "@/components/ArchiveNote";
import { Chip } from "@/components/filters/Chip";
import filters from "@/components/filters/Filters.module.css";
import { TextFilter } from "@/components/filters/TextFilter";
import { Icon } from "@/components/Icon";
import { QueryView } from "@/components/QueryView";
import { Stamp } from "@/components/Time";
import { ColumnMenu } from "@/components/table/ColumnMenu";
import { DataTable } from "@/components/table/DataTable";
import { counted, exact } from "@/text/numbers";
import { AuditFrame, useLack } from "./AuditFrame";
import { columnsOf, NAME } from "./columns";
import classes from "./columns.module.css";
import { EntryDialog } from "./EntryFacts";
import type { Entry } from "./entries";
import { type Listed, useAudit } from "./rows";
import { type AuditSearch, isFiltered, NO_FILTER } from "./search";

const FILTERS = [
  ["supervisor", "Supervisor", 200],
  ["action", "What, such as apply", 160],
  ["actor", "Who", 160],
] as const;

/** Who changed what, when, from where and why; newest first. */
export function AuditPage() {
  const search = useSearch({ from: "/shell/audit" });
  const navigate = useNavigate({ from: "/audit" });
  const list = useAudit(search, useLack() === null);
  const [opened, setOpened] = useState<Entry | null>(null);
  const columns = useMemo(() => columnsOf(setOpened), []);
  const change = useCallback(
    (part: Partial<AuditSearch>) =>
      void navigate({ search: (before) => ({ ...before, ...part }), replace: true }),
    [navigate],
  );
  return (
    <AuditFrame
      title="Audit"
      sentence={list.data && sentenceOf(list.data, search)}
      actions={<ColumnMenu name={NAME} columns={columns} />}
    >
      <search className={filters.filters}>
        {FILTERS.map(([name, label, width]) => (
          <TextFilter
            key={name}
            label={label}
            width={width}
            value={search[name]}
            onChange={(text) => change({ [name]: text })}
          />
        ))}
        <Chip
          isOn={search.by === "people"}
          onClick={() => change({ by: search.by === undefined ? "people" : undefined })}
        >
          By people
        </Chip>
        {isFiltered(search) && (
          <Button
            variant="subtle"
            leftSection={<Icon name="close" size={11} />}
            onClick={() => change(NO_FILTER)}
          >
            Clear
          </Button>
        )}
      </search>
      <QueryView query={list} lines={14}>
        {({ entries, hasMore, missing, ...listed }) => (
          <>
            <ArchiveNote what="changes" missing={missing} />
            {search.by !== undefined && hasMore && <Further {...listed} more={list.more} />}
            <DataTable
              name={NAME}
              label="Changes"
              columns={columns}
              rows={entries}
              rowId={({ key }) => key}
              total={entries.length + (hasMore && search.by === undefined ? 1 : 0)}
              active={search.sel}
              onActive={(sel) => change({ sel })}
              onOpen={setOpened}
              opensByClick
              onEnd={search.by === undefined ? list.more : nothing}
              empty={emptyOf(search, missing !== null)}
            />
          </>
        )}
      </QueryView>
      <EntryDialog entry={opened} onClose={() => setOpened(null)} />
    </AuditFrame>
  );
}

function nothing() {
  // Few of many entries are shown: somebody decides how far back to look.
}

type FurtherProps = Pick<Listed, "looked" | "since"> & { more: () => void };

/** How far back the entries of people are shown, and the way further back. */
function Further({ looked, since, more }: FurtherProps) {
  return (
    <p className={classes.further}>
      <span>
        These are among the newest {exact(looked)} changes, back to{" "}
        <Stamp at={since} unknown="When it was is not known." />.
      </span>
      <Button variant="subtle" size="compact-xs" onClick={more}>
        Look further back
      </Button>
    </p>
  );
}

function emptyOf(search: AuditSearch, lacksOlder: boolean): string {
  if (search.by !== undefined) {
    return "No change by a person is among those that were looked at.";
  }
  if (isFiltered(search)) {
    return "No change fits the filters: they take whole names.";
  }
  return lacksOlder ? "No change is newer than those of the archive." : "Nothing was changed yet.";
}

function sentenceOf({ entries, hasMore }: Listed, search: AuditSearch): string {
  const number = hasMore
    ? `The newest ${counted(entries.length, "change")}`
    : counted(entries.length, "change");
  const whose = search.by === undefined ? "" : " by people";
  const isCut = isFiltered({ ...search, by: undefined });
  return `${number}${whose}${isCut ? " that fit the filters" : ""}, newest first`;
}
