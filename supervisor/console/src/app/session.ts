import { useMutation } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { newKey, send } from "@/api/client";
import { type Me, meQuery } from "@/api/me";
import type { Problem } from "@/api/problem";
import { queryClient } from "@/api/query";
import { showProblem } from "@/components/problemToast";
import { inConsole } from "./inConsole";

export type Credentials = { token: string } | { name: string; password: string };

/** Logs the browser in: a cookie stands for the credentials from then on. */
export function useLogin(next: string | undefined) {
  const navigate = useNavigate();
  return useMutation<Me, Problem, Credentials>({
    mutationFn: (body) => send("post", "/api/v1/sessions", { body, key: newKey() }),
    onSuccess: async (me) => {
      queryClient.clear();
      queryClient.setQueryData(meQuery.queryKey, me);
      await navigate({ href: inConsole(next), replace: true });
    },
  });
}

/** Logs the browser out.  The page is loaded anew, so that nothing that it has read is left. */
export function useLogout(): () => void {
  const { mutate } = useMutation<unknown, Problem>({
    mutationFn: () => send("delete", "/api/v1/sessions/current", { key: newKey() }),
    onSuccess: () => location.assign("/ui/login"),
    onError: showProblem,
  });
  return () => mutate();
}
