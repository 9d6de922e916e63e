import { useMutation, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { ApiFailure, dataOf, type Schemas } from "../../client/api.ts";
import { api } from "../api/client.ts";

const POLL_MS = 700;

export type ExportJob = Schemas["Export"];

interface StartedExport {
  readonly start: (address: string) => void;
  readonly isPending: boolean;
  readonly error: Error | null;
  /** The job that writes the file; undefined if the response was the file. */
  readonly job: ExportJob | undefined;
}

/** Requests a file of the service: it is downloaded at once, or written by a job that is then followed. */
export function useExport(): StartedExport {
  const [id, setId] = useState<string>();
  const started = useMutation({
    mutationFn: requestFile,
    onSuccess: (job) => setId(job?.id),
  });
  const job = useQuery({
    queryKey: ["export", id],
    enabled: id !== undefined,
    queryFn: ({ signal }) =>
      dataOf(api.GET("/api/v1.0/exports/{id}", { params: { path: { id: id ?? "" } }, signal })),
    refetchInterval: ({ state }) =>
      state.data?.status === "done" || state.data?.status === "failed" ? false : POLL_MS,
  });
  const isRunning = id !== undefined && job.data?.status !== "done" && job.data?.status !== "failed";
  return {
    start: (address) => {
      setId(undefined);
      started.mutate(address);
    },
    isPending: started.isPending || isRunning,
    error: started.error ?? job.error,
    job: id === undefined ? undefined : job.data,
  };
}

async function requestFile(address: string): Promise<ExportJob | undefined> {
  const response = await fetch(address);
  if (!response.ok) throw new ApiFailure(response.status, await response.json().catch(() => undefined));
  if (response.status === 202) return (await response.json()) as ExportJob;
  const name = /filename\*=UTF-8''([^;]+)/.exec(response.headers.get("content-disposition") ?? "")?.[1];
  const url = URL.createObjectURL(await response.blob());
  const link = document.createElement("a");
  link.href = url;
  link.download = name === undefined ? "" : decodeURIComponent(name);
  link.click();
  URL.revokeObjectURL(url);
  return undefined;
}
