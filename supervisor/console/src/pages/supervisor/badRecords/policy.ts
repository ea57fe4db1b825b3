import { SAFETY_MS } from "@/api/query";
import { useApi } from "@/api/use";
import { known } from "@/text/known";

const PATH = "/druid/indexer/v1/supervisor/{supervisor_id}";

type Members = Readonly<Record<string, unknown>>;

/** The newest spec of a supervisor, with its defaults. */
export function useSpec(id: string) {
  return useApi(PATH, { path: { supervisor_id: id } }, SAFETY_MS);
}

const POLICIES: Readonly<Record<string, string>> = {
  quarantine: "what cannot be read is kept here as it was sent",
  drop: "what cannot be read is counted and dropped, so nothing is kept here",
  warn: "what cannot be read is counted and a worker logs it; nothing is kept here",
  fail: "the first record that cannot be read fails its range; nothing is kept here",
};

/** Says what becomes of bad records by a spec; null: the spec is not known. */
export function policyOf(spec: unknown): string | null {
  const mode = membersOf(membersOf(membersOf(spec).spec).tuningConfig).badRecords;
  if (typeof mode !== "string") {
    return null;
  }
  const words = known(POLICIES, mode);
  return words === undefined ? `badRecords: ${mode}` : `${words} (badRecords: ${mode})`;
}

/** The request for a sample of one record, by a spec; null: the spec is none. */
export function sampleOf(
  spec: unknown,
  { topic, partition, offset }: { topic: string; partition: number; offset: string },
): Members | null {
  const inner = membersOf(membersOf(spec).spec);
  const io = membersOf(inner.ioConfig);
  if (Object.keys(io).length === 0) {
    return null;
  }
  // A range that is read once has one topic, and says itself where it begins.
  const { topicPattern: _, useEarliestOffset: __, ...rest } = io;
  const name = String(partition);
  const ioConfig = {
    ...rest,
    type: "kafka",
    topic,
    boundedStreamConfig: {
      startSequenceNumbers: { [name]: offset },
      endSequenceNumbers: { [name]: String(BigInt(offset) + 1n) },
    },
  };
  return {
    type: "kafka",
    spec: { ...inner, type: "kafka", ioConfig },
    samplerConfig: { numRows: 1, timeoutMs: 15_000 },
  };
}

function membersOf(value: unknown): Members {
  return typeof value === "object" && value !== null ? (value as Members) : {};
}
