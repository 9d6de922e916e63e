import { type UseMutationResult, useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { dataOf, type Schemas } from "../../client/api.ts";
import { api } from "./client.ts";
import { isNotFound } from "./failures.ts";

export type DeadLetter = Schemas["DeadLetter"];

/** The first part of the key of every query that shows dead letters. */
export const DEAD_LETTERS = "dead-letters";

/** Messages that are read at once to redrive all. */
const PAGE_SIZE = 200;
/** Messages that are sent at the same time. */
const AT_ONCE = 4;

const redrive = (id: string): Promise<unknown> =>
  dataOf(api.POST("/automation/dead-letters/{id}/redrive", { params: { path: { id } } }));

/** Sends a message to its queue again. */
export function useRedrive(): UseMutationResult<unknown, Error, string> {
  const client = useQueryClient();
  return useMutation({
    mutationFn: redrive,
    onSettled: () => client.invalidateQueries({ queryKey: [DEAD_LETTERS] }),
  });
}

export interface Progress {
  readonly done: number;
  readonly total: number;
}

/** Redrives all current messages, and reports how many have been sent. Resolves with the number. */
export function useRedriveAll(): UseMutationResult<number, Error, void> & {
  readonly progress: Progress | undefined;
} {
  const client = useQueryClient();
  const [progress, setProgress] = useState<Progress>();
  const mutation = useMutation({
    mutationFn: async () => {
      const ids = await allIds();
      let done = 0;
      setProgress({ done, total: ids.length });
      const waiting = [...ids];
      const work = async (): Promise<void> => {
        for (let id = waiting.shift(); id !== undefined; id = waiting.shift()) {
          await redrive(id).catch(ignoreMissing);
          done += 1;
          setProgress({ done, total: ids.length });
        }
      };
      await Promise.all(Array.from({ length: AT_ONCE }, work));
      return done;
    },
    onSettled: () => {
      setProgress(undefined);
      return client.invalidateQueries({ queryKey: [DEAD_LETTERS] });
    },
  });
  return { ...mutation, progress };
}

/** Another caller has redriven the message meanwhile. */
function ignoreMissing(error: unknown): void {
  if (!isNotFound(error)) throw error;
}

async function allIds(): Promise<string[]> {
  const ids: string[] = [];
  for (;;) {
    const query = { offset: ids.length, limit: PAGE_SIZE };
    const { data, pagination } = await dataOf(api.GET("/automation/dead-letters", { params: { query } }));
    ids.push(...data.map(({ id }) => id));
    if (data.length === 0 || ids.length >= pagination.total) return ids;
  }
}
