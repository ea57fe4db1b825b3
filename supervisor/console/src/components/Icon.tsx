/** Icons are drawn here: a library of thousands would be another dependency for twenty. */
const SHAPES = {
  broken: <rect x="3" y="3" width="10" height="10" rx="1.5" fill="currentColor" stroke="none" />,
  risk: <path d="M8 2.5 14.2 13.3H1.8z" fill="currentColor" stroke="none" />,
  note: <circle cx="8" cy="8" r="4.6" />,
  good: <circle cx="8" cy="8" r="4" fill="currentColor" stroke="none" />,
  spec: <path d="M8 2 14 8 8 14 2 8z" fill="currentColor" stroke="none" />,
  paused: <path d="M5.5 3.5v9M10.5 3.5v9" />,
  waiting: <path d="M8 4.5V8l2.3 1.6M8 2.2a5.8 5.8 0 1 1 0 11.6 5.8 5.8 0 0 1 0-11.6" />,
  done: <path d="m3 8.5 3.4 3.4L13 4.8" />,
  rising: <path d="M4 12 12 4M6 4h6v6" />,
  falling: <path d="m4 4 8 8M6 12h6V6" />,
  steady: <path d="M2.5 8h11M10 4.8 13.2 8 10 11.2" />,
  copy: <path d="M5.5 5.5h8v8h-8zM2.5 10.5v-8h8" />,
  home: <path d="M2.5 7.5 8 2.8l5.5 4.7M4 6.5v7h8v-7" />,
  list: <path d="M5.5 4h8M5.5 8h8M5.5 12h8M2.3 4h.4M2.3 8h.4M2.3 12h.4" />,
  machine: <path d="M2.5 3h11v4h-11zM2.5 9h11v4h-11zM5 5h.4M5 11h.4" />,
  tasks: <path d="M2.5 3h11v4h-11zM2.5 9h7v4h-7zM12 9.5v3l2-1.5z" />,
  table: <path d="M2.5 3.5h11v9h-11zM2.5 6.5h11M2.5 9.5h11M6.5 6.5v6" />,
  gear: (
    <path d="M2 4.5h6m4 0h2M2 11.5h2m4 0h6M8 4.5a2 2 0 1 0 4 0 2 2 0 0 0-4 0M4 11.5a2 2 0 1 0 4 0 2 2 0 0 0-4 0" />
  ),
  queue: <path d="M2.5 4.5h3v7h-3zM7 4.5h3v7H7zM11.5 8h2.5M12.5 6 14.5 8l-2 2" />,
  flow: <path d="M2 5.8h4v4.4H2zM10 2h4v4h-4zM10 10h4v4h-4zM6 8h2V4h2M8 8v4h2" />,
  execution: <path d="M2.5 3.5h5v2.4h-5zM5 7h5v2.4H5zM8.5 10.5h5v2.4h-5z" />,
  work: <path d="M2.5 4h7M2.5 8h11M2.5 12h5" />,
  book: <path d="M3.5 2.5h9v11h-9zM6 5.5h4M6 8h4M6 10.5h2" />,
  search: <path d="M7 2.5a4.5 4.5 0 1 1 0 9 4.5 4.5 0 0 1 0-9M10.3 10.3l3.2 3.2" />,
  person: (
    <path d="M8 2.5a2.6 2.6 0 1 1 0 5.2 2.6 2.6 0 0 1 0-5.2M2.8 13.5c.5-2.6 2.6-4 5.2-4s4.7 1.4 5.2 4" />
  ),
  down: <path d="m4 6 4 4 4-4" />,
  up: <path d="m4 10 4-4 4 4" />,
  close: <path d="m4 4 8 8M12 4l-8 8" />,
  terminal: <path d="m3 4.5 3.5 3.5L3 11.5M8 12h5" />,
  leave: <path d="M9.5 2.5h-6v11h6M7 8h7M11 5l3 3-3 3" />,
} as const;

export type IconName = keyof typeof SHAPES;

/** A picture beside a word; it says nothing that the word does not say. */
export function Icon({ name, size = 14 }: { name: IconName; size?: number }) {
  return (
    <svg
      width={size}
      height={size}
      viewBox="0 0 16 16"
      fill="none"
      stroke="currentColor"
      strokeWidth="1.6"
      strokeLinecap="round"
      strokeLinejoin="round"
      aria-hidden="true"
      focusable="false"
    >
      {SHAPES[name]}
    </svg>
  );
}
