import type { Permission } from "./permissions.ts";
import type { DeployedFunction, DeployedRoles } from "./policies.ts";

/** Issues of a stack's roles, one line each; none if all lists are empty. */
export interface RoleIssues {
  /** Functions that were never called. */
  readonly neverCalled: readonly string[];
  /** Requests that the function's role does not allow. */
  readonly missing: readonly string[];
  /** Rights of a role that none of its functions uses. */
  readonly unused: readonly string[];
}

/**
 * Compares the requests of functions, by actor, with the grants of their stack's roles. A function that was called
 * has an entry, even if it is empty.
 */
export function compareRoles(
  roles: DeployedRoles,
  done: ReadonlyMap<string, readonly Permission[]>,
): RoleIssues {
  const missing = new Set<string>();
  const used = new Set<Permission>();
  for (const fn of roles.functions) {
    const granted = roles.granted.get(fn.role) ?? [];
    for (const right of [...(done.get(fn.actor) ?? []), ...lambdaRights(roles, fn)]) {
      const covering = granted.filter((grant) => coversPermission(grant, right));
      for (const grant of covering) used.add(grant);
      if (covering.length === 0)
        missing.add(`${fn.role}, as ${fn.logicalId} needs it: ${formatPermission(right)}`);
    }
  }
  return {
    neverCalled: [...new Set(roles.functions.map(({ actor }) => actor))].filter((actor) => !done.has(actor)),
    missing: [...missing].sort(),
    unused: [...roles.granted]
      .flatMap(([role, grants]) =>
        grants.filter((grant) => !used.has(grant)).map((grant) => `${role}: ${formatPermission(grant)}`),
      )
      .sort(),
  };
}

/** Requests that Lambda makes with the function's role, which the emulators do not: for its log and its queues. */
function lambdaRights({ logs }: DeployedRoles, { queues }: DeployedFunction): Permission[] {
  // The last one is for the handler, which changes the visibility of messages only in Lambda.
  const polling = [
    "ReceiveMessage",
    "DeleteMessage",
    "ChangeMessageVisibility",
    "GetQueueAttributes",
    "GetQueueUrl",
  ];
  return [
    ...["CreateLogStream", "PutLogEvents"].map((name) => ({ action: `logs:${name}`, resource: logs })),
    ...queues.flatMap((resource) => polling.map((name) => ({ action: `sqs:${name}`, resource }))),
  ];
}

/** Whether a grant, whose resource may contain `*`, covers a request. */
export function coversPermission(grant: Permission, { action, resource }: Permission): boolean {
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

const formatPermission = ({ action, resource }: Permission): string => `${action} on ${resource}`;
