import { Kbd, SegmentedControl, UnstyledButton } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import { Icon } from "@/components/Icon";
import type { Zone } from "@/text/times";
import { localZone } from "@/text/times";
import { setPreferences, usePreferences } from "../preferences";
import { CallerMenu } from "./CallerMenu";
import classes from "./Header.module.css";
import { LiveState } from "./LiveState";
import { OperationsChip } from "./OperationsChip";
import { openPalette } from "./Palette";

/** The line above all pages. */
export function Header() {
  return (
    <header className={classes.header}>
      <Link to="/" className={classes.brand}>
        <svg width="22" height="22" viewBox="0 0 32 32" aria-hidden="true">
          <rect width="32" height="32" rx="7" fill="#0b4f6c" />
          <path
            d="M6 12c3.3 0 3.3 3 6.7 3s3.3-3 6.6-3 3.4 3 6.7 3M6 20c3.3 0 3.3 3 6.7 3s3.3-3 6.6-3 3.4 3 6.7 3"
            fill="none"
            stroke="#fff"
            strokeWidth="2.6"
            strokeLinecap="round"
          />
        </svg>
        <span>Tidegate</span>
        <span className={classes.host}>{location.host}</span>
      </Link>
      <UnstyledButton className={classes.search} onClick={openPalette}>
        <Icon name="search" />
        <span>Search or go to…</span>
        <Kbd size="xs">{isMac() ? "⌘K" : "Ctrl K"}</Kbd>
      </UnstyledButton>
      <div className={classes.end}>
        <OperationsChip />
        <LiveState />
        <ZoneSwitch />
        <CallerMenu />
      </div>
    </header>
  );
}

function ZoneSwitch() {
  const { zone } = usePreferences();
  return (
    <SegmentedControl
      aria-label="Time zone"
      value={zone}
      onChange={(value) => setPreferences({ zone: value as Zone })}
      data={[
        { value: "local", label: localZone() === "UTC" ? "Local" : localZone() },
        { value: "utc", label: "UTC" },
      ]}
    />
  );
}

function isMac(): boolean {
  return navigator.userAgent.includes("Mac");
}
