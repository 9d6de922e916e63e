import type { DeployedFunction, DeployedRoles } from "./policies.ts";
import type { Right } from "./rights.ts";

/** What is wrong with the roles of a stack, a line each; nothing where all lists are empty. */
export interface RoleFaults {
  /** Functions of which nothing is known, as none of them was called. */
  readonly neverCalled: readonly string[];
  /** What a function did that its role does not let it do. */
  readonly lacking: readonly string[];
  /** What a role lets its functions do that none of them did. */
  readonly unused: readonly string[];
}

/**
 * Compares what functions did, by their actor, with what the roles of their stack grant. A function that was called
 * has an entry, be it an empty one.
 */
export function roleFaults(roles: DeployedRoles, done: ReadonlyMap<string, readonly Right[]>): RoleFaults {
  const lacking = new Set<string>();
  const used = new Set<Right>();
  for (const fn of roles.functions) {
    const granted = roles.granted.get(fn.role) ?? [];
    for (const right of [...(done.get(fn.actor) ?? []), ...lambdasOwn(roles, fn)]) {
      const covering = granted.filter((grant) => covers(grant, right));
      for (const grant of covering) used.add(grant);
      if (covering.length === 0) lacking.add(`${fn.role}, as ${fn.logicalId} needs it: ${lineOf(right)}`);
    }
  }
  return {
    neverCalled: [...new Set(roles.functions.map(({ actor }) => actor))].filter((actor) => !done.has(actor)),
    lacking: [...lacking].sort(),
    unused: [...roles.granted]
      .flatMap(([role, grants]) =>
        grants.filter((grant) => !used.has(grant)).map((grant) => `${role}: ${lineOf(grant)}`),
      )
      .sort(),
  };
}

/** What Lambda does for a function with the function's role, where no emulator runs: its log, and its queues. */
function lambdasOwn({ logs }: DeployedRoles, { queues }: DeployedFunction): Right[] {
  // The last one is for the handler, which manages the visibility of its messages in Lambda alone.
  const polling = [
    ...["ReceiveMessage", "DeleteMessage", "ChangeMessageVisibility", "GetQueueAttributes"],
    "GetQueueUrl",
  ];
  return [
    ...["CreateLogStream", "PutLogEvents"].map((name) => ({ action: `logs:${name}`, resource: logs })),
    ...queues.flatMap((resource) => polling.map((name) => ({ action: `sqs:${name}`, resource }))),
  ];
}

/** Whether a grant, whose resource may have `*` in it, lets this be done. */
export function covers(grant: Right, { action, resource }: Right): boolean {
  if (grant.action !== action) return false;
  const [first = "", ...rest] = grant.resource.split("*");
  if (rest.length === 0) return resource === first;
  if (!resource.startsWith(first)) return false;
  let at = first.length;
  for (const [index, part] of rest.entries()) {
    const last = index === rest.length - 1;
    const found = last ? resource.length - part.length : resource.indexOf(part, at);
    if (found < at || !resource.startsWith(part, found)) return false;
    at = found + part.length;
  }
  return true;
}

const lineOf = ({ action, resource }: Right): string => `${action} on ${resource}`;
