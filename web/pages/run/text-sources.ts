import { dataOf } from "../../../client/api.ts";
import { api } from "../../api/client.ts";
import type { RunStream } from "./run-stream.ts";
import type { TextSource } from "./text/use-text.ts";

interface RunOfText {
  readonly id: string;
  /** The stream of the run while it has one. */
  readonly stream: RunStream | undefined;
}

/** The log of a run. */
export const logSource = ({ id, stream }: RunOfText): TextSource => ({
  read: async (range, signal) => {
    const { log, ...position } = await dataOf(
      api.GET("/automation/runs/{id}/log", { params: { path: { id }, query: range }, ...withSignal(signal) }),
    );
    return { text: log, ...position };
  },
  follow:
    stream === undefined
      ? undefined
      : (offset, listener) =>
          stream.followLog(offset, ({ log, ...position }) => listener({ text: log, ...position })),
});

interface Output extends RunOfText {
  readonly step: string;
  readonly stdout: "stdout" | "stderr";
  /** The last one if undefined. */
  readonly attempt: number | undefined;
}

/** What a step prints. The run's log says when there is more of it. */
export const outputSource = ({ id, stream, step, stdout, attempt }: Output): TextSource => ({
  read: async (range, signal) => {
    const query = { step, stream: stdout, attempt, ...range };
    const { output, ...position } = await dataOf(
      api.GET("/automation/runs/{id}/output", { params: { path: { id }, query }, ...withSignal(signal) }),
    );
    return { text: output, ...position };
  },
  follow:
    stream === undefined
      ? undefined
      : (_offset, listener) => {
          let stop: (() => void) | undefined;
          let isStopped = false;
          void logSource({ id, stream: undefined })
            .read({ tail: 1 })
            .catch(() => ({ next_offset: 0 }))
            .then(({ next_offset }) => {
              if (!isStopped) stop = stream.followLog(next_offset, () => listener());
              // What was printed since the text was read.
              if (!isStopped) listener();
            });
          return () => {
            isStopped = true;
            stop?.();
          };
        },
});

const withSignal = (signal: AbortSignal | undefined) => (signal === undefined ? {} : { signal });
