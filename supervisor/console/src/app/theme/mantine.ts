import {
  type CSSVariablesResolver,
  createTheme,
  type MantineColorsTuple,
  type MantineThemeOverride,
} from "@mantine/core";

const tide: MantineColorsTuple = [
  "#e6f4fa",
  "#cfe6f0",
  "#9fcce0",
  "#6bb1cf",
  "#439ac0",
  "#2a8bb5",
  "#1b7ca6",
  "#0a5c7d",
  "#084e6a",
  "#043e56",
];

/** Ink, lines and grounds of Mantine's own parts, in the light and in the dark. */
const gray: MantineColorsTuple = [
  "#f5f7f9",
  "#eceff3",
  "#e3e8ed",
  "#dbe1e7",
  "#c5ced6",
  "#a3afba",
  "#677480",
  "#55616e",
  "#36424e",
  "#17212b",
];
const dark: MantineColorsTuple = [
  "#dce4ec",
  "#b9c5d0",
  "#94a2b0",
  "#62707e",
  "#3a4652",
  "#28323c",
  "#1c242d",
  "#141a21",
  "#10161c",
  "#0d1217",
];

export const theme: MantineThemeOverride = createTheme({
  colors: { tide, gray, dark },
  primaryColor: "tide",
  primaryShade: { light: 7, dark: 3 },
  autoContrast: true,
  respectReducedMotion: true,
  luminanceThreshold: 0.35,
  defaultRadius: 4,
  fontFamily:
    'Inter, system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", "Helvetica Neue", Arial, sans-serif',
  fontFamilyMonospace: "var(--mono)",
  fontSizes: { xs: "12px", sm: "13px", md: "14px", lg: "16px", xl: "18px" },
  components: {
    Button: {
      defaultProps: { size: "xs", variant: "default" },
      styles: { root: { fontWeight: 500 } },
    },
    TextInput: { defaultProps: { size: "xs" } },
    PasswordInput: { defaultProps: { size: "xs" } },
    Textarea: { defaultProps: { size: "xs" } },
    NativeSelect: { defaultProps: { size: "xs" } },
    SegmentedControl: { defaultProps: { size: "xs" } },
    Checkbox: { defaultProps: { size: "xs" } },
    Switch: { defaultProps: { size: "sm" } },
    Tooltip: { defaultProps: { openDelay: 300, withArrow: true, multiline: true, maw: 380 } },
    Notification: { defaultProps: { closeButtonProps: { "aria-label": "Close" } } },
    // The placeholder would be a child of the menu that is no item, and that can have the focus.
    Menu: {
      defaultProps: { shadow: "md", position: "bottom-end", withInitialFocusPlaceholder: false },
    },
    // The window does not scroll, and the lock would add a style sheet without the nonce.
    Modal: {
      defaultProps: {
        closeButtonProps: { "aria-label": "Close" },
        lockScroll: false,
        centered: true,
        overlayProps: { backgroundOpacity: 0.45 },
      },
    },
  },
});

/** Gives Mantine's own variables our colours, so that there is one palette. */
export const resolver: CSSVariablesResolver = () => {
  const shared = {
    "--mantine-color-body": "var(--surface)",
    "--mantine-color-text": "var(--ink)",
    "--mantine-color-dimmed": "var(--ink-dim)",
    "--mantine-color-placeholder": "var(--ink-dim)",
    "--mantine-color-default": "var(--surface)",
    "--mantine-color-default-hover": "var(--hover)",
    "--mantine-color-default-color": "var(--ink)",
    "--mantine-color-default-border": "var(--line)",
    "--mantine-color-anchor": "var(--accent)",
    "--mantine-color-error": "var(--broken)",
  };
  return { variables: {}, light: shared, dark: shared };
};
