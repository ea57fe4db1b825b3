import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { getBytes } from "@/api/client";
import type { Problem } from "@/api/problem";
import { type Loaded, NOTHING, type Piece, withPiece } from "./pieces";

const PATH = "/druid/indexer/v1/task/{task_id}/log";
/** What the overlord gives at once. */
const PIECE_BYTES = 1_048_576;
const FOLLOWED_MS = 2_000;
const SEEN_MS = 5_000;
/** Pieces that are asked for at once; what a task may write more comes with the next look. */
const PIECES_MAX = 32;

/** Asks for the bytes of a log from `offset` on; a negative one counts from the end. */
async function pieceOf(id: string, offset: number, signal?: AbortSignal): Promise<Piece> {
  const params = { path: { task_id: id }, query: { offset } };
  const { bytes, headers } = await getBytes(PATH, params, signal);
  const start = Number(headers.get("X-Tidegate-Log-Start") ?? 0);
  const size = Number(headers.get("X-Tidegate-Log-Size") ?? start + bytes.length);
  const missing = headers.get("X-Tidegate-Log-Missing");
  return { start, size, bytes, missing: missing === null ? undefined : readable(missing) };
}

/** A text of a header, whose signs beyond ASCII are written by their bytes. */
function readable(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/**
 * The log of a task: its end first, then what comes; older pieces by `load`.  What is loaded stays
 * while its worker is away.
 */
export function useTaskLog(id: string, isActive: boolean, isFollowed: boolean) {
  const client = useQueryClient();
  const key = [PATH, { path: { task_id: id } }];
  const loaded = () => client.getQueryData<Loaded>(key) ?? NOTHING;
  const query = useQuery<Loaded, Problem>({
    queryKey: key,
    queryFn: async ({ signal }) => {
      let text = NOTHING;
      for (let pieces = 0; pieces < PIECES_MAX; pieces += 1) {
        const before = loaded();
        const from = before.pieces.length === 0 ? -PIECE_BYTES : before.to;
        const piece = await pieceOf(id, from, signal);
        // Older pieces may have come meanwhile.
        text = withPiece(loaded(), piece);
        if (text.to >= text.size) {
          break;
        }
        client.setQueryData(key, text);
      }
      return text;
    },
    refetchInterval: isActive ? (isFollowed ? FOLLOWED_MS : SEEN_MS) : false,
    structuralSharing: false,
    staleTime: isActive ? 1_000 : 30_000,
  });
  const load = useMutation<void, Problem, "older" | "all">({
    mutationFn: async (which) => {
      for (let pieces = 0; pieces < PIECES_MAX && loaded().from > 0; pieces += 1) {
        const piece = await pieceOf(id, Math.max(0, loaded().from - PIECE_BYTES));
        client.setQueryData<Loaded>(key, (now) => withPiece(now ?? NOTHING, piece));
        if (which === "older") {
          return;
        }
      }
    },
  });
  return { ...query, load };
}
