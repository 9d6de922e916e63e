import { type UseMutationResult, useMutation, useQueryClient } from "@tanstack/react-query";
import { dataOf, type Schemas } from "../../client/api.ts";
import { api } from "./client.ts";

/** A schedule, or a trigger that a workflow declares. */
export type Schedule = Schemas["Schedule"];

/** The first part of the key of every query that shows schedules. */
export const SCHEDULES = "schedules";

interface Change {
  readonly id: string;
  readonly isEnabled: boolean;
}

/** Pauses or resumes a schedule. */
export function useEnableSchedule(): UseMutationResult<unknown, Error, Change> {
  const client = useQueryClient();
  return useMutation({
    mutationFn: ({ id, isEnabled }: Change) => {
      const options = { params: { path: { id } } };
      return dataOf<unknown>(
        isEnabled
          ? api.POST("/automation/schedules/{id}/enable", options)
          : api.POST("/automation/schedules/{id}/disable", options),
      );
    },
    onSettled: () => client.invalidateQueries({ queryKey: [SCHEDULES] }),
  });
}

/** Starts a run of a schedule now, even if it is paused. */
export function useTriggerSchedule(): UseMutationResult<Schemas["TriggeredSchedule"], Error, string> {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (id: string) =>
      dataOf(api.POST("/automation/schedules/{id}/trigger", { params: { path: { id } } })),
    onSettled: () => client.invalidateQueries({ queryKey: [SCHEDULES] }),
  });
}
