import { type UseMutationResult, useMutation, useQueryClient } from "@tanstack/react-query";
import { useLocation } from "wouter";
import { dataOf, type Schemas } from "../../../client/api.ts";
import { api } from "../../api/client.ts";
import { messageOf } from "../../components/error-state.tsx";
import { showToast } from "../../components/toasts.tsx";
import { useTranslation } from "../../i18n/use-translation.ts";
import { runKey } from "./timeline-data.ts";

/** What a new run is made from, besides the run itself. */
export type NewRun =
  | { readonly action: "resume" }
  | { readonly action: "rerun"; readonly params: Readonly<Record<string, string>> }
  | {
      readonly action: "replay";
      readonly step: string;
      readonly params: Readonly<Record<string, string>>;
      readonly values: Readonly<Record<string, unknown>>;
    };

const TEXTS = { resume: "run.resumed", rerun: "run.rerun_started", replay: "run.replayed" } as const;

/** Starts a run that is made from another one, and opens it. */
export function useNewRun(id: string): UseMutationResult<Schemas["RunMadeAgain"], Error, NewRun> {
  const { t } = useTranslation();
  const client = useQueryClient();
  const [, navigate] = useLocation();
  const params = { path: { id } };
  return useMutation({
    mutationFn: (request: NewRun) => {
      if (request.action === "resume") return dataOf(api.POST("/automation/runs/{id}/resume", { params }));
      if (request.action === "rerun")
        return dataOf(
          api.POST("/automation/runs/{id}/rerun", { params, body: { params: { ...request.params } } }),
        );
      const { step, params: changed, values } = request;
      return dataOf(
        api.POST("/automation/runs/{id}/replay", {
          params,
          body: { step, params: { ...changed }, values: { ...values } },
        }),
      );
    },
    onSuccess: ({ run_uuid }, { action }) => {
      void client.invalidateQueries({ queryKey: ["runs"] });
      showToast(t(TEXTS[action]));
      navigate(`/runs/${run_uuid}`);
    },
  });
}

/** Cancels a run, which cannot be undone. */
export function useCancelRun(id: string): UseMutationResult<unknown, Error, void> {
  const { t } = useTranslation();
  const client = useQueryClient();
  return useMutation({
    mutationFn: () => dataOf<unknown>(api.DELETE("/automation/runs/{id}", { params: { path: { id } } })),
    onError: (error) => showToast(`${t("error.action")}: ${messageOf(error, t)}`),
    onSuccess: () => showToast(t("run.cancelled")),
    onSettled: () => client.invalidateQueries({ queryKey: runKey(id) }),
  });
}
