import { Link, Outlet, useLocation } from "@tanstack/react-router";
import { Page } from "@/components/Page";
import { QueryView } from "@/components/QueryView";
import { visible } from "@/text/visible";
import { useStats, useTableName } from "./data";
import { Head } from "./Head";
import { Tabs } from "./Tabs";
import { Verbs } from "./Verbs";

/** Tabs whose table scrolls by itself. */
const FILLS = ["/coverage", "/files"];

/** One table: what it holds in words, then the tab that the address names. */
export function TablePage() {
  const name = useTableName();
  const query = useStats(name);
  const { pathname } = useLocation();
  return (
    <Page
      title={visible(name)}
      fills={FILLS.some((tab) => pathname.endsWith(tab))}
      actions={query.data ? <Verbs stats={query.data} /> : undefined}
      sentence={query.data ? <Head stats={query.data} /> : undefined}
    >
      <QueryView query={query} lines={8}>
        {(stats) =>
          stats === null ? (
            <NoTable name={name} />
          ) : (
            <>
              <Tabs name={name} />
              <Outlet />
            </>
          )
        }
      </QueryView>
    </Page>
  );
}

function NoTable({ name }: { name: string }) {
  return (
    <div>
      <p>{`No table ${visible(name)} is fed or was published into, or you may not read it.`}</p>
      <Link to="/tables">All tables</Link>
    </div>
  );
}
