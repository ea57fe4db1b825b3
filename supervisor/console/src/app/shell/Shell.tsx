import { useQuery } from "@tanstack/react-query";
import { Navigate, Outlet, useRouter } from "@tanstack/react-router";
import { useEffect } from "react";
import { meQuery } from "@/api/me";
import { startPulse } from "@/api/pulse";
import { POLL_MS, queryClient } from "@/api/query";
import { startStream } from "@/api/stream/sharing";
import { Boundary } from "@/components/Boundary";
import { ProblemNote } from "@/components/ProblemNote";
import { useContact } from "../contact";
import { useKeyListener } from "../keys";
import { Banners } from "./Banners";
import { Header } from "./Header";
import { Menu } from "./Menu";
import { Palette } from "./Palette";
import classes from "./Shell.module.css";
import { useShellKeys } from "./shellKeys";

/** The frame of all pages but the login: it knows who calls, and keeps what is shown fresh. */
export function Shell() {
  const me = useQuery({
    ...meQuery,
    staleTime: 60_000,
    refetchInterval: ({ state }) => (state.error?.passes ? POLL_MS : false),
  });
  const { history } = useRouter();
  if (me.error?.status === 401) {
    const next = history.location.href.replace(/^\/ui/, "");
    return <Navigate to="/login" search={{ next: next === "/" ? undefined : next }} replace />;
  }
  if (me.data !== undefined) {
    return <Frame />;
  }
  return me.error === null ? null : (
    <main className={classes.alone}>
      <ProblemNote problem={me.error} onRetry={() => void me.refetch()} />
    </main>
  );
}

function Frame() {
  const { state } = useContact();
  useEffect(startPulse, []);
  useEffect(() => startStream(queryClient, () => void queryClient.invalidateQueries(meQuery)), []);
  useKeyListener();
  useShellKeys();
  return (
    <div className={classes.shell} data-stale={state === "stale"}>
      <a className={classes.skip} href="#content">
        Skip to the content
      </a>
      <Header />
      <Menu />
      <main id="content" className={classes.main} tabIndex={-1}>
        <Banners />
        <div className={`${classes.content} ages`}>
          <Boundary>
            <Outlet />
          </Boundary>
        </div>
      </main>
      <Palette />
    </div>
  );
}
