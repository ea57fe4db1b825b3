import { Button } from "@mantine/core";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { useCallback, useMemo, useState } from "react";
import { ArchiveNote } from "@/components/ArchiveNote";
import filters from "@/components/filters/Filters.module.css";
import { TextFilter } from "@/components/filters/TextFilter";
import { Icon } from "@/components/Icon";
import { QueryView } from "@/components/QueryView";
import { ColumnMenu } from "@/components/table/ColumnMenu";
import { DataTable } from "@/components/table/DataTable";
import { counted } from "@/text/numbers";
import { AuditFrame, useLack } from "./AuditFrame";
import { columnsOf, NAME } from "./columns";
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
      sentence={list.data && sentenceOf(list.data, isFiltered(search))}
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
        {({ entries, hasMore, missing }) => (
          <>
            <ArchiveNote what="changes" missing={missing} />
            <DataTable
              name={NAME}
              label="Changes"
              columns={columns}
              rows={entries}
              rowId={({ key }) => key}
              total={entries.length + (hasMore ? 1 : 0)}
              active={search.sel}
              onActive={(sel) => change({ sel })}
              onOpen={setOpened}
              onEnd={list.more}
              empty={emptyOf(isFiltered(search), missing !== null)}
            />
          </>
        )}
      </QueryView>
      <EntryDialog entry={opened} onClose={() => setOpened(null)} />
    </AuditFrame>
  );
}

function emptyOf(isCut: boolean, lacksOlder: boolean): string {
  if (isCut) {
    return "No change fits the filters: they take whole names.";
  }
  return lacksOlder ? "No change is newer than those of the archive." : "Nothing was changed yet.";
}

function sentenceOf({ entries, hasMore }: Listed, isCut: boolean): string {
  const number = hasMore
    ? `The newest ${counted(entries.length, "change")}`
    : counted(entries.length, "change");
  return `${number}${isCut ? " that fit the filters" : ""}, newest first`;
}
