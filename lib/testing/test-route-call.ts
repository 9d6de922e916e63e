import type { Deps } from "../app/compose.ts";
import { toHandler } from "../http/handler.ts";
import { fullPath, type Route } from "../http/route.ts";
import { call as callHandler } from "./test-handler-call.ts";
import type { RequestParts } from "./test-requests.ts";

/** Calls a route's handler as the gateway does, and returns what tests of routes compare. */
export async function call<P, Q, B, R>(
  deps: Deps,
  route: Route<P, Q, B, R, Deps>,
  parts: RequestParts = {},
  // biome-ignore lint/suspicious/noExplicitAny: what comes back is looked into by the test
): Promise<{ status: number; body: any }> {
  const called = await callHandler(
    deps,
    toHandler(route, async () => deps),
    {
      ...parts,
      path: fullPath(route).replace(/\{(\w+)\+?\}/g, (_, name: string) => parts.params?.[name] ?? ""),
    },
  );
  return { status: called.status, body: called.text === "" ? undefined : called.json };
}
