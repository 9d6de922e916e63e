import { type UseQueryResult, useQuery, useQueryClient } from "@tanstack/react-query";
import { useEffect, useMemo, useState } from "react";
import { dataOf } from "../../../client/api.ts";
import { api } from "../../api/client.ts";
import { createRefresher } from "../../api/refresher.ts";
import { isFinished, type Run } from "../../api/runs.ts";
import { RunStream } from "./run-stream.ts";
import { runKey, timelineKey } from "./timeline-data.ts";

interface LiveRun {
  readonly run: UseQueryResult<{ readonly data: Run }>;
  readonly stream: RunStream;
}

/** A run that is read once, and changes with its stream until it has finished. */
export function useLiveRun(id: string): LiveRun {
  const client = useQueryClient();
  const run = useQuery({
    queryKey: runKey(id),
    queryFn: ({ signal }) => dataOf(api.GET("/automation/runs/{id}", { params: { path: { id } }, signal })),
  });
  const stream = useMemo(() => {
    const refresh = createRefresher(() =>
      client.refetchQueries({ queryKey: timelineKey(id) }, { cancelRefetch: false }),
    );
    return new RunStream(id, {
      onRun: (data) => {
        client.setQueryData(runKey(id), { data });
        refresh();
      },
      onEvent: refresh,
      onEnd: () => {
        refresh();
        void client.invalidateQueries({ queryKey: ["runs"] });
      },
    });
  }, [client, id]);
  // The stream ends by itself, after the last part of the log.
  const [isLive, setLive] = useState(false);
  if (!isLive && run.data !== undefined && !isFinished(run.data.data)) setLive(true);
  useEffect(() => {
    if (!isLive) return;
    stream.open();
    return () => stream.close();
  }, [stream, isLive]);
  return { run, stream };
}
