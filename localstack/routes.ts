import type { TemplateFunction } from "./template.ts";

export interface GatewayRoute {
  readonly fn: TemplateFunction;
  /** `ANY` matches every method. */
  readonly method: string;
  /** The path in the template. */
  readonly resource: string;
  /** Segments after the leading slash. */
  readonly segments: readonly Segment[];
  /** The last segment matches the rest of the path, including slashes. */
  readonly greedy: boolean;
  readonly stream: boolean;
}

type Segment = { readonly literal: string } | { readonly parameter: string };

const PARAMETER = /^\{([^{}+]+)(\+?)\}$/;

/** The routes of the template, the more specific paths first, as in API Gateway. */
export function gatewayRoutes(functions: readonly TemplateFunction[]): GatewayRoute[] {
  return functions
    .flatMap((fn) => fn.routes.map((route) => gatewayRoute(fn, route)))
    .map((route) => ({ route, rank: rank(route) }))
    .sort((a, b) => (a.rank < b.rank ? -1 : a.rank > b.rank ? 1 : 0))
    .map(({ route }) => route);
}

function gatewayRoute(fn: TemplateFunction, route: TemplateFunction["routes"][number]): GatewayRoute {
  const parts = route.path.split("/").filter((part) => part !== "");
  let greedy = false;
  const segments = parts.map((part, index): Segment => {
    const parameter = PARAMETER.exec(part);
    if (parameter === null) {
      if (/[{}*:]/.test(part)) throw new Error(`${fn.logicalId}: the path ${route.path} cannot be routed`);
      return { literal: part };
    }
    if (parameter[2] === "+") {
      if (index !== parts.length - 1)
        throw new Error(`${fn.logicalId}: {${parameter[1]}+} must end ${route.path}`);
      greedy = true;
    }
    return { parameter: parameter[1] ?? "" };
  });
  return {
    fn,
    method: route.method.toUpperCase(),
    resource: route.path,
    segments,
    greedy,
    stream: route.stream,
  };
}

/** Sorts literal before parameter before greedy at the first segment in which two routes differ, and `ANY` last. */
function rank(route: GatewayRoute): string {
  const kinds = route.segments.map((segment, index) => {
    if ("literal" in segment) return "a";
    return route.greedy && index === route.segments.length - 1 ? "c" : "b";
  });
  return `${kinds.join("")}~${route.method === "ANY" ? 1 : 0}`;
}

/** The path in the syntax of Hono. Parameters are named by position, so that the names of two routes never conflict. */
export function honoPath(route: GatewayRoute): string {
  return `/${route.segments.map((segment, index) => ("literal" in segment ? segment.literal : `:p${index}`)).join("/")}`;
}

/** The first greedy route that matches the path; the rest must have at least one character. */
export function matchGreedy(
  routes: readonly GatewayRoute[],
  method: string,
  path: string,
): GatewayRoute | undefined {
  const parts = path.slice(1).split("/");
  return routes.find((route) => {
    if (route.method !== "ANY" && route.method !== method) return false;
    const last = route.segments.length - 1;
    if (parts.length <= last || parts.slice(last).join("/") === "") return false;
    return route.segments.every((segment, index) => {
      if ("literal" in segment) return parts[index] === segment.literal;
      return index === last || parts[index] !== "";
    });
  });
}

/** The path's parameters, decoded once; null if the route has none, as in API Gateway's event. */
export function pathParameters(route: GatewayRoute, path: string): Record<string, string> | null {
  let parameters: Record<string, string> | null = null;
  const parts = path.slice(1).split("/");
  for (const [index, segment] of route.segments.entries()) {
    if ("literal" in segment) continue;
    const last = index === route.segments.length - 1;
    const raw = route.greedy && last ? parts.slice(index).join("/") : (parts[index] ?? "");
    parameters ??= {};
    parameters[segment.parameter] = raw.includes("%") ? decodeURIComponent(raw) : raw;
  }
  return parameters;
}
