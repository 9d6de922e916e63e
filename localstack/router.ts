import type { HttpBindings } from "@hono/node-server";
import { RESPONSE_ALREADY_SENT } from "@hono/node-server/utils/response";
import { type Context, Hono } from "hono";
import type { RequestTarget } from "./request-target.ts";
import { isServicePath, type PageServer, writeError } from "./response.ts";
import { type GatewayRoute, honoPath, matchGreedy } from "./routes.ts";

/** A request as Hono passes it on. */
export interface Bindings extends HttpBindings {
  target: RequestTarget;
}

/** The route that responds to paths without another route. */
const CATCH_ALL = "/{proxy+}";

/**
 * The routes whose paths have no parameters, by method and path: they are found without a search, and rank before all
 * others.
 */
export function literalRoutes(routes: readonly GatewayRoute[]): ReadonlyMap<string, GatewayRoute> {
  const literal = routes.filter(
    ({ segments, method }) => method !== "ANY" && segments.every((segment) => "literal" in segment),
  );
  // The first of equal ones wins.
  return new Map(literal.toReversed().map((route) => [`${route.method} ${honoPath(route)}`, route]));
}

/** Hono matches exact routes; greedy ones are matched after them; then pages; any other request gets a 404. */
export function router(
  routes: readonly GatewayRoute[],
  pages: PageServer | undefined,
  handle: (route: GatewayRoute, bindings: Bindings) => void,
): Hono<{ Bindings: Bindings }> {
  const app = new Hono<{ Bindings: Bindings }>({
    getPath: (_request, options) => (options as { env: Bindings }).env.target.routePath,
  });
  for (const route of routes.filter(({ greedy }) => !greedy)) {
    const respond = ({ env }: Context<{ Bindings: Bindings }>): Response => {
      handle(route, env);
      return RESPONSE_ALREADY_SENT;
    };
    if (route.method === "ANY") app.all(honoPath(route), respond);
    else app.on(route.method, honoPath(route), respond);
  }
  const greedy = routes.filter((route) => route.greedy);
  app.notFound(({ env }) => {
    const { incoming, outgoing, target } = env;
    const path = target.routePath;
    const route = matchGreedy(greedy, incoming.method ?? "GET", path);
    if (route !== undefined && route.resource !== CATCH_ALL) handle(route, env);
    else if (!isServicePath(path) && pages?.respond(incoming, outgoing, path) === true) {
      // The page has responded.
    } else if (route === undefined) writeError(outgoing, 404, "Not found", { path });
    else handle(route, env);
    return RESPONSE_ALREADY_SENT;
  });
  return app;
}
