import { type RawSearch, textIn } from "@/app/search";

const TEXT_MAX = 1_000;

/** Whether partitions with their bars are shown, or each run of offsets. */
export type CoverageSearch = {
  by?: "runs" | undefined;
  only?: "open" | undefined;
  supervisor?: string | undefined;
  sel?: string | undefined;
};

export function coverageSearch(search: RawSearch): CoverageSearch {
  return {
    by: textIn(search, "by") === "runs" ? "runs" : undefined,
    only: textIn(search, "only") === "open" ? "open" : undefined,
    supervisor: textIn(search, "supervisor")?.slice(0, TEXT_MAX),
    sel: textIn(search, "sel")?.slice(0, TEXT_MAX),
  };
}

/** The lengths of buckets, in ms. */
export const BUCKETS = {
  PT1H: 3_600_000,
  PT6H: 21_600_000,
  P1D: 86_400_000,
  P7D: 604_800_000,
  P30D: 2_592_000_000,
} as const;
export type Bucket = keyof typeof BUCKETS;
export const BUCKET_NAMES = Object.keys(BUCKETS) as Bucket[];

export const MEASURES = ["rows", "bytes", "files"] as const;
export type Measure = (typeof MEASURES)[number];

export type TimeSearch = {
  bucket?: Bucket | undefined;
  show?: Measure | undefined;
  /** Buckets before this time. */
  to?: string | undefined;
};

export function timeSearch(search: RawSearch): TimeSearch {
  const bucket = textIn(search, "bucket");
  const show = textIn(search, "show");
  return {
    bucket: BUCKET_NAMES.find((each) => each === bucket),
    show: MEASURES.find((each) => each === show),
    to: timeIn(search, "to"),
  };
}

export const USED = ["yes", "no", "all"] as const;
export type Used = (typeof USED)[number];

export type FilesSearch = {
  /** Files in use unless it says otherwise. */
  used?: Used | undefined;
  from?: string | undefined;
  to?: string | undefined;
  supervisor?: string | undefined;
  sel?: string | undefined;
};

export function filesSearch(search: RawSearch): FilesSearch {
  const used = textIn(search, "used");
  return {
    used: USED.find((each) => each === used),
    from: timeIn(search, "from"),
    to: timeIn(search, "to"),
    supervisor: textIn(search, "supervisor")?.slice(0, TEXT_MAX),
    sel: textIn(search, "sel")?.slice(0, TEXT_MAX),
  };
}

export type CodeSearch = { reader?: string | undefined };

export function codeSearch(search: RawSearch): CodeSearch {
  return { reader: textIn(search, "reader")?.slice(0, TEXT_MAX) };
}

const WITH_ZONE = /^\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d(\.\d{1,9})?)?(Z|[+-]\d\d:\d\d)?)?$/;

/** Returns a time of a URL as the overlord takes it; one without a zone is of UTC. */
function timeIn(search: RawSearch, name: string): string | undefined {
  const text = textIn(search, name);
  return text === undefined ? undefined : utcOf(text);
}

/** Reads a time that somebody wrote; one without a zone is of UTC, a day is its begin. */
export function utcOf(text: string): string | undefined {
  const written = text.trim().replace(" ", "T");
  if (!WITH_ZONE.test(written)) {
    return undefined;
  }
  const hasZone = !written.includes("T") || /(Z|[+-]\d\d:\d\d)$/.test(written);
  const at = Date.parse(hasZone ? written : `${written}Z`);
  return Number.isNaN(at) ? undefined : new Date(at).toISOString().replace(".000Z", "Z");
}
