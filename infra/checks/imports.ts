import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { OPTIONAL_PACKAGES } from "../../lib/conversion/editor-packages.ts";
import { type ImportEdge, importGraph } from "./import-graph.ts";
import { FOLDER_ORDER, IMPORT_RULES, type ImportRule, SERVICES } from "./import-rules.ts";
import { type Finding, isTest, listSources } from "./sources.ts";

/** Packages declared in package.json. */
export interface Packages {
  readonly dependencies: ReadonlySet<string>;
  readonly devDependencies: ReadonlySet<string>;
}

/** Checks the import rules in the tree at `root`. */
export async function checkImports(root: string): Promise<Finding[]> {
  const sources = await listSources(root);
  const edges = await importGraph(root, sources);
  const manifest = JSON.parse(await readFile(join(root, "package.json"), "utf8")) as Partial<
    Record<"dependencies" | "devDependencies", Record<string, string>>
  >;
  const packages: Packages = {
    dependencies: new Set(Object.keys(manifest.dependencies ?? {})),
    devDependencies: new Set(Object.keys(manifest.devDependencies ?? {})),
  };
  const known = new Set(sources.map(({ path }) => path));
  return [
    ...findForbiddenImports(edges),
    ...findMixedServices(edges),
    ...findUpwardImports(edges, known),
    ...findCycles(edges),
    ...findUndeclaredPackages(edges, packages),
    ...findMissingFiles(edges, known),
  ];
}

const isLocal = (target: string): boolean => !target.startsWith("npm:") && !target.startsWith("node:");

/** Imports that a named rule forbids. Tests may import anything. */
export function findForbiddenImports(edges: readonly ImportEdge[]): Finding[] {
  return edges
    .filter(({ from }) => !isTest(from))
    .flatMap((edge) =>
      IMPORT_RULES.filter((rule) => isBroken(rule, edge)).map((rule) => ({
        path: edge.from,
        rule: rule.name,
        message: `imports ${edge.to}: ${rule.why}`,
      })),
    );
}

function isBroken(rule: ImportRule, { from, to, typeOnly }: ImportEdge): boolean {
  if (!rule.from.test(from) || rule.except?.test(from) === true) return false;
  if (rule.never?.test(to) === true) return true;
  if (rule.only === undefined || !isLocal(to) || rule.only.test(to)) return false;
  return !(typeOnly && rule.onlyTypes?.test(to) === true);
}

/** A consumer may import only one service. */
export function findMixedServices(edges: readonly ImportEdge[]): Finding[] {
  const servicesByFile = new Map<string, Set<string>>();
  for (const { from, to } of edges) {
    if (!/^functions\/(?:executors|consumers|schedules)\//.test(from) || isTest(from)) continue;
    for (const [service, files] of Object.entries(SERVICES)) {
      if (files.test(to)) servicesByFile.set(from, (servicesByFile.get(from) ?? new Set()).add(service));
    }
  }
  return [...servicesByFile]
    .filter(([, services]) => services.size > 1)
    .map(([path, services]) => ({
      path,
      rule: "one-service",
      message: `serves ${[...services].join(" and ")}`,
    }));
}

/** Imports of a higher folder of the same service, and folders that the order omits. */
export function findUpwardImports(
  edges: readonly ImportEdge[],
  known: ReadonlySet<string>,
  orders: Readonly<Record<string, readonly string[]>> = FOLDER_ORDER,
): Finding[] {
  return Object.entries(orders).flatMap(([service, order]) => {
    const prefix = `${service}/`;
    const own = edges.filter(({ from, to }) => from.startsWith(prefix) && to.startsWith(prefix));
    const layerOf = (path: string): string => path.slice(prefix.length).replace(/\/.*/s, "");
    const between = own
      .map((edge) => ({ ...edge, source: layerOf(edge.from), target: layerOf(edge.to) }))
      .filter(({ from, source, target }) => source !== target && !isTest(from));
    const folders = [...known].filter((path) => path.startsWith(prefix) && path.includes("/", prefix.length));
    const used = [...folders.map(layerOf), ...between.flatMap(({ source, target }) => [source, target])];
    const unnamed = [...new Set(used)].filter((layer) => !order.includes(layer));
    return [
      ...unnamed.map((layer) => ({
        path: `${prefix}${layer}`,
        rule: "folder-order",
        message: `is missing from FOLDER_ORDER["${service}"] in infra/checks/import-rules.ts`,
      })),
      ...between
        .filter(
          ({ source, target }) => order.includes(source) && order.indexOf(target) > order.indexOf(source),
        )
        .map(({ from, to, source, target }) => ({
          path: from,
          rule: "folder-order",
          message: `imports ${to}: ${source} comes before ${target} in the folder order, so it may not import it`,
        })),
    ];
  });
}

/** Cycles of run-time imports, one issue per cycle, at its first file. Cycles of type imports are harmless. */
export function findCycles(edges: readonly ImportEdge[]): Finding[] {
  const targets = new Map<string, string[]>();
  for (const { from, to, typeOnly } of edges) {
    if (!typeOnly && isLocal(to)) targets.set(from, [...(targets.get(from) ?? []), to]);
  }
  const findings: Finding[] = [];
  const done = new Set<string>();
  const trail: string[] = [];
  const visit = (file: string): void => {
    const start = trail.indexOf(file);
    if (start >= 0) {
      const cycle = [...trail.slice(start), file].join(" -> ");
      findings.push({ path: file, rule: "no-cycles", message: cycle });
      return;
    }
    if (done.has(file)) return;
    trail.push(file);
    for (const next of targets.get(file) ?? []) visit(next);
    trail.pop();
    done.add(file);
  };
  for (const file of targets.keys()) visit(file);
  return findings;
}

/** Code that runs without the development dependencies. */
const SHIPPED = /^(?:lib|functions|localstack|bin)\//;

/** Packages that package.json does not declare, or only as development dependencies of shipped code. */
export function findUndeclaredPackages(edges: readonly ImportEdge[], packages: Packages): Finding[] {
  return edges.flatMap(({ from, to, typeOnly }) => {
    if (!to.startsWith("npm:")) return [];
    const parts = to.slice("npm:".length).split("/");
    const name = parts.slice(0, to.startsWith("npm:@") ? 2 : 1).join("/");
    if (packages.dependencies.has(name) || OPTIONAL_PACKAGES.has(name)) return [];
    const isDevelopment = !SHIPPED.test(from) || isTest(from) || typeOnly;
    if (packages.devDependencies.has(name) && isDevelopment) return [];
    return [
      {
        path: from,
        rule: "declared-packages",
        message: `imports ${name}, which is missing from dependencies`,
      },
    ];
  });
}

/** Imports of files that do not exist, or without the extension. */
export function findMissingFiles(edges: readonly ImportEdge[], known: ReadonlySet<string>): Finding[] {
  return edges
    .filter(({ to }) => isLocal(to) && !/\.(?:css|json)$/.test(to) && !known.has(to))
    .map(({ from, to }) => ({
      path: from,
      rule: "no-missing-files",
      message: `imports ${to}, which does not exist`,
    }));
}
