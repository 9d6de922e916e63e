import { AsyncLocalStorage } from "node:async_hooks";
import { GetObjectCommand, PutObjectCommand, S3Client } from "@aws-sdk/client-s3";
import { coversPermission } from "./compare-roles.ts";
import {
  type CommandInput,
  missingObjectPermissions,
  type Permission,
  requiredPermissions,
} from "./permissions.ts";

export interface Recorder {
  /** The distinct rights used so far, by the name given to `isWithinBounds`. */
  done(): ReadonlyMap<string, readonly Permission[]>;
  /**
   * Calls a function and records its requests under this name. Requests that need a right outside `granted` fail as
   * they do in AWS.
   */
  within<Result>(name: string, call: () => Result, granted?: readonly Permission[]): Result;
  /** Stops recording. */
  stop(): void;
}

const INVOCATION = /\/2015-03-31\/functions\/([\w-]+)\/invocations$/;

interface Command {
  readonly input: CommandInput;
}

interface Composed extends Command {
  resolveMiddleware(this: Composed, ...args: unknown[]): unknown;
}

interface Running {
  readonly own: Map<string, Permission>;
  readonly granted: readonly Permission[] | undefined;
}

const accessDenied = (rights: readonly Permission[]): Error =>
  Object.assign(
    new Error(
      `not authorized: ${rights.map(({ action, resource }) => `${action} on ${resource}`).join(", ")}`,
    ),
    {
      name: "AccessDeniedException",
      $fault: "client",
      $metadata: { httpStatusCode: 403 },
    },
  );

type Send = (this: unknown, command: Command, ...rest: unknown[]) => unknown;

/**
 * Records the rights that requests of the AWS SDK need, for all clients of this process: they inherit `send` from one
 * class. Requests outside of `isWithinBounds` are not recorded.
 */
export function startRecorder(): Recorder {
  const running = new AsyncLocalStorage<Running>();
  const byName = new Map<string, Map<string, Permission>>();
  const shared = Object.getPrototypeOf(S3Client.prototype) as { send: Send };
  const { send } = shared;
  shared.send = function (command, ...rest) {
    const current = running.getStore();
    const rights = requiredPermissions(command.constructor.name, command.input);
    const keep = (right: Permission): void =>
      void current?.own.set(`${right.action} ${right.resource}`, right);
    rights.forEach(keep);
    const denied = rights.filter(
      (right) => current?.granted?.some((grant) => coversPermission(grant, right)) === false,
    );
    if (denied.length > 0) return Promise.reject(accessDenied(denied));
    const answer = send.call(this, command, ...rest);
    if (current !== undefined) {
      // The caller gets the original result, this is a copy.
      Promise.resolve(answer).catch((error) => missingObjectPermissions(error, command.input).forEach(keep));
    }
    return answer;
  };
  // Someone else sends the request that a function presigns, with the function's rights.
  const presigned = [GetObjectCommand, PutObjectCommand].map(({ name, prototype }) => {
    const command = prototype as unknown as Composed;
    const { resolveMiddleware } = command;
    command.resolveMiddleware = function (...args) {
      const current = running.getStore();
      for (const right of requiredPermissions(name, this.input))
        current?.own.set(`${right.action} ${right.resource}`, right);
      return resolveMiddleware.apply(this, args);
    };
    return () => {
      command.resolveMiddleware = resolveMiddleware;
    };
  });
  // Invocations of functions are signed requests without the SDK.
  const { fetch: plainFetch } = globalThis;
  globalThis.fetch = (input, init) => {
    const FunctionName = INVOCATION.exec(String(input))?.[1];
    const current = running.getStore();
    if (FunctionName !== undefined)
      for (const right of requiredPermissions("InvokeCommand", { FunctionName }))
        current?.own.set(`${right.action} ${right.resource}`, right);
    return plainFetch(input, init);
  };
  return {
    done: () => new Map([...byName].map(([name, rights]) => [name, [...rights.values()]])),
    within: (name, call, granted) => {
      const own = byName.get(name) ?? new Map<string, Permission>();
      byName.set(name, own);
      return running.run({ own, granted }, call);
    },
    stop: () => {
      shared.send = send;
      for (const restore of presigned) restore();
      globalThis.fetch = plainFetch;
    },
  };
}
