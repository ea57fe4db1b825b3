import { Button } from "@mantine/core";
import { useNavigate } from "@tanstack/react-router";
import { Page } from "@/components/Page";
import { QueryView } from "@/components/QueryView";
import { ColumnMenu } from "@/components/table/ColumnMenu";
import { DataTable } from "@/components/table/DataTable";
import { counted } from "@/text/numbers";
import { Filters } from "../Filters";
import type { SupervisorsSearch } from "../search";
import { COLUMNS, NAME } from "./columns";
import { useTerminated } from "./rows";

type Props = {
  search: SupervisorsSearch;
  onChange: (part: Partial<SupervisorsSearch>, replace?: boolean) => void;
};

/** The supervisors that are terminated, newest end first; the page of each brings it back. */
export function TerminatedList({ search, onChange }: Props) {
  const navigate = useNavigate();
  const list = useTerminated(search);
  const isFiltered = search.q !== undefined || search.table !== undefined;
  return (
    <Page
      title="Supervisors"
      sentence={
        list.data === undefined
          ? undefined
          : `${counted(list.data.matching, "terminated supervisor")}${isFiltered ? ` ${list.data.matching === 1 ? "fits" : "fit"} the filters` : ""}, newest end first`
      }
      actions={<ColumnMenu name={NAME} columns={COLUMNS} />}
      fills
    >
      <Filters search={search} totals={{}} onChange={onChange} />
      <QueryView query={list} lines={14}>
        {({ rows, matching }) => (
          <DataTable
            name={NAME}
            label="Terminated supervisors"
            columns={COLUMNS}
            rows={rows}
            rowId={({ id }) => id}
            total={matching}
            active={search.sel}
            onActive={(sel) => onChange({ sel }, true)}
            onOpen={({ id }) => void navigate({ to: "/supervisors/$id/overview", params: { id } })}
            onEnd={list.more}
            empty={
              isFiltered ? (
                <>
                  <p>No terminated supervisor fits the filters.</p>
                  <Button mt="xs" onClick={() => onChange({ q: undefined, table: undefined })}>
                    Clear filters
                  </Button>
                </>
              ) : (
                <p>No supervisor is terminated. A forgotten one has left nothing to show.</p>
              )
            }
          />
        )}
      </QueryView>
    </Page>
  );
}
