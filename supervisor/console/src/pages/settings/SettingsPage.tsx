import { SegmentedControl, Switch, useMantineColorScheme } from "@mantine/core";
import type { ReactNode } from "react";
import { useApi } from "@/api/use";
import { setPreferences, usePreferences } from "@/app/preferences";
import { Page } from "@/components/Page";
import { Panel } from "@/components/Panel";
import { QueryView } from "@/components/QueryView";
import { localZone, type Zone } from "@/text/times";
import { visible } from "@/text/visible";
import { Caller } from "./Caller";
import classes from "./SettingsPage.module.css";

const RARELY_MS = 60_000;
const SENTENCE = "How the console looks, what you may do, and which server answers.";
const KEPT = "Kept in this browser.";
const OVERLORD =
  "The overlord is the server of Tidegate: it plans what the workers read, publishes, and serves this console; one of several leads.";
const KEYS =
  "j: next row, k: row before, o: open the row, x: select it, /: filter the list, g and a letter: go to a page, ?: list all keys of the page";

/** How the console looks in this browser; who calls, and what it may do. */
export function SettingsPage() {
  const status = useApi("/status", {}, RARELY_MS);
  return (
    <Page title="Settings" sentence={SENTENCE}>
      <div className={classes.columns}>
        <Panel title="Look and feel" aside={<span className={classes.label}>{KEPT}</span>}>
          <Preferences />
        </Panel>
        <Panel title="You">
          <Caller />
        </Panel>
        <Panel title="Overlord">
          <QueryView query={status} lines={2}>
            {({ version, leader, leaderUrl }) => (
              <>
                <p>{OVERLORD}</p>
                <p>
                  Version {visible(version)}; it {leader ? "leads" : "follows"}
                  {!leader && leaderUrl !== null && ` ${visible(leaderUrl)}`}.
                </p>
              </>
            )}
          </QueryView>
        </Panel>
      </div>
    </Page>
  );
}

function Preferences() {
  const { zone, density, keys } = usePreferences();
  const { colorScheme, setColorScheme } = useMantineColorScheme();
  return (
    <div className={classes.fields}>
      <Field label="Colours">
        <SegmentedControl
          aria-label="Colours"
          value={colorScheme}
          onChange={(value) => setColorScheme(value as "light" | "dark" | "auto")}
          data={[
            { value: "auto", label: "System" },
            { value: "light", label: "Light" },
            { value: "dark", label: "Dark" },
          ]}
        />
      </Field>
      <Field label="Times">
        <SegmentedControl
          aria-label="Times"
          value={zone}
          onChange={(value) => setPreferences({ zone: value as Zone })}
          data={[
            { value: "local", label: `Local (${localZone()})` },
            { value: "utc", label: "UTC" },
          ]}
        />
      </Field>
      <Field label="Rows of tables">
        <SegmentedControl
          aria-label="Rows of tables"
          value={density}
          onChange={(value) => setPreferences({ density: value as "dense" | "roomy" })}
          data={[
            { value: "dense", label: "Dense" },
            { value: "roomy", label: "Roomy" },
          ]}
        />
      </Field>
      <Field label="Single keys">
        <Switch
          label={KEYS}
          checked={keys}
          onChange={({ currentTarget }) => setPreferences({ keys: currentTarget.checked })}
        />
      </Field>
    </div>
  );
}

function Field({ label, children }: { label: string; children: ReactNode }) {
  return (
    <div className={classes.field}>
      <span className={classes.label}>{label}</span>
      {children}
    </div>
  );
}
