import { Link, useNavigate, useSearch } from "@tanstack/react-router";
import { useCallback, useMemo } from "react";
import { missing, type Permission, useMe } from "@/api/me";
import { useOverview } from "@/api/overview";
import { POLL_MS } from "@/api/query";
import { type LetterOf, nameOf, numberOf } from "@/changes/letters";
import { Chip } from "@/components/filters/Chip";
import filters from "@/components/filters/Filters.module.css";
import { TextFilter } from "@/components/filters/TextFilter";
import { Page } from "@/components/Page";
import { QueryView } from "@/components/QueryView";
import { ColumnMenu } from "@/components/table/ColumnMenu";
import { DataTable } from "@/components/table/DataTable";
import { visible } from "@/text/visible";
import { columnsOf, NAME } from "./columns";
import { LetterDialog } from "./LetterDialog";
import classes from "./letters.module.css";
import { hasPersisters, type Listed, urlsOf, useLackOfReading, useLetters } from "./rows";
import { isNarrowed, type LettersSearch } from "./search";

/** Records of reports and logs that could not be stored; persisters keep them. */
export function LettersPage() {
  const search = useSearch({ from: "/shell/logs/dead-letters" });
  const lack = useLackOfReading();
  const overview = useOverview(POLL_MS);
  const list = useLetters(search, lack === null && hasPersisters(overview.data));
  const navigate = useNavigate({ from: "/logs/dead-letters" });
  const me = useMe();
  const open = useCallback(
    ({ letter, persister }: LetterOf) =>
      void navigate({
        search: (before) => ({ ...before, letter: nameOf(letter), of: persister }),
      }),
    [navigate],
  );
  const lackFor = useCallback(
    (permission: Permission | null) => missing(me, permission, null),
    [me],
  );
  const columns = useMemo(() => columnsOf(lackFor, open), [lackFor, open]);
  return (
    <Page
      title="Dead letters"
      sentence={<Sentence listed={list.data} />}
      actions={<ColumnMenu name={NAME} columns={columns} />}
      fills
    >
      {lack !== null ? (
        <p role="status">{`You may not read dead letters. ${lack}`}</p>
      ) : (
        <QueryView query={overview} lines={14}>
          {(known) =>
            hasPersisters(known) ? (
              <Letters list={list} columns={columns} urls={urlsOf(known)} onOpen={open} />
            ) : (
              <p role="status">
                This overlord knows no persister: name its address in{" "}
                <code>TIDEGATE_REPORTS_PERSISTER</code> of the overlords.
              </p>
            )
          }
        </QueryView>
      )}
      <LetterDialog
        name={lack === null ? search.letter : undefined}
        persister={search.of}
        lackFor={lackFor}
        onClose={() =>
          void navigate({
            search: (before) => ({ ...before, letter: undefined, of: undefined }),
            replace: true,
          })
        }
      />
    </Page>
  );
}

function Sentence({ listed }: { listed: Listed | undefined }) {
  return (
    <>
      Records of{" "}
      <Link to="/work" activeOptions={{ exact: true }} className={classes.back}>
        stored reports and logs
      </Link>{" "}
      that could not be stored
      {listed !== undefined &&
        listed.rows.length > 0 &&
        ` · ${numberOf(listed.rows, listed.hasMore)}, newest first`}
    </>
  );
}

type LettersProps = {
  list: ReturnType<typeof useLetters>;
  columns: ReturnType<typeof columnsOf>;
  urls: readonly string[];
  onOpen: (row: LetterOf) => void;
};

function Letters({ list, columns, urls, onOpen }: LettersProps) {
  const search = useSearch({ from: "/shell/logs/dead-letters" });
  const navigate = useNavigate({ from: "/logs/dead-letters" });
  const change = useCallback(
    (part: LettersSearch) =>
      void navigate({ search: (before) => ({ ...before, ...part }), replace: true }),
    [navigate],
  );
  return (
    <>
      <Filters search={search} urls={urls} onChange={change} />
      <QueryView query={list} lines={14}>
        {({ rows, hasMore }) => (
          <DataTable
            name={NAME}
            label="Dead letters"
            columns={columns}
            rows={rows}
            rowId={({ letter }) => nameOf(letter)}
            total={rows.length + (hasMore ? 1 : 0)}
            active={search.sel}
            onActive={(sel) => change({ sel })}
            onOpen={onOpen}
            onEnd={list.more}
            empty={
              isNarrowed(search)
                ? "No dead letter fits the filters."
                : "No dead letter waits for somebody: each record was stored, or was dealt with."
            }
          />
        )}
      </QueryView>
    </>
  );
}

type FiltersProps = {
  search: LettersSearch;
  urls: readonly string[];
  onChange: (part: LettersSearch) => void;
};

function Filters({ search, urls, onChange }: FiltersProps) {
  return (
    <search className={filters.filters}>
      <TextFilter
        label="Text in the reason"
        width={190}
        value={search.about}
        onChange={(about) => onChange({ about })}
      />
      <Chip
        isOn={search.handled === true}
        onClick={() => onChange({ handled: search.handled ? undefined : true })}
      >
        Also handled ones
      </Chip>
      {urls.length > 1 &&
        urls.map((url) => (
          <Chip
            key={url}
            isOn={search.persister === url}
            onClick={() => onChange({ persister: search.persister === url ? undefined : url })}
          >
            {visible(url)}
          </Chip>
        ))}
    </search>
  );
}
