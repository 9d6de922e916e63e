import { AsyncLocalStorage } from "node:async_hooks";
import { PutObjectCommand, S3Client } from "@aws-sdk/client-s3";
import { type CommandInput, type Right, rightsOf, rightsOfAbsence } from "./rights.ts";

export interface Recorder {
  /** By the name that `within` was given: what was done so far, each thing once. */
  done(): ReadonlyMap<string, readonly Right[]>;
  /** Calls, and has everything that comes of it recorded under this name. */
  within<Result>(name: string, call: () => Result): Result;
  /** Records no more. */
  stop(): void;
}

interface Command {
  readonly input: CommandInput;
}

interface Composed extends Command {
  resolveMiddleware(this: Composed, ...args: unknown[]): unknown;
}

type Send = (this: unknown, command: Command, ...rest: unknown[]) => unknown;

/**
 * Records the rights that requests of AWS's SDK take, whichever client of this process makes them: all clients have
 * `send` from one class. What is sent outside of `within` is nobody's.
 */
export function startRecorder(): Recorder {
  const running = new AsyncLocalStorage<Map<string, Right>>();
  const byName = new Map<string, Map<string, Right>>();
  const shared = Object.getPrototypeOf(S3Client.prototype) as { send: Send };
  const { send } = shared;
  shared.send = function (command, ...rest) {
    const own = running.getStore();
    const answer = send.call(this, command, ...rest);
    if (own !== undefined) {
      const keep = (right: Right): void => void own.set(`${right.action} ${right.resource}`, right);
      rightsOf(command.constructor.name, command.input).forEach(keep);
      // Callers have the answer itself, and this its copy.
      Promise.resolve(answer).catch((error) => rightsOfAbsence(error, command.input).forEach(keep));
    }
    return answer;
  };
  // What a function signs is sent by others, with its rights.
  const put = PutObjectCommand.prototype as unknown as Composed;
  const { resolveMiddleware } = put;
  put.resolveMiddleware = function (...args) {
    const own = running.getStore();
    for (const right of rightsOf("PutObjectCommand", this.input))
      own?.set(`${right.action} ${right.resource}`, right);
    return resolveMiddleware.apply(this, args);
  };
  return {
    done: () => new Map([...byName].map(([name, rights]) => [name, [...rights.values()]])),
    within: (name, call) => {
      const own = byName.get(name) ?? new Map<string, Right>();
      byName.set(name, own);
      return running.run(own, call);
    },
    stop: () => {
      shared.send = send;
      put.resolveMiddleware = resolveMiddleware;
    },
  };
}
