import type { Ports } from "../../platform/ports.ts";
import { assetFacets } from "../assets/facets.ts";
import { numbers } from "../lists/number-sequence.ts";
import { KnownWorkspaces } from "../workspaces/records.ts";
import type { RecordDeps } from "./effects.ts";

/** What a process keeps to bring records up to date; one for all of it. */
export const recordDeps = (ports: Ports): RecordDeps => ({
  tables: ports.tables,
  ids: ports.ids,
  assetNumbers: numbers(ports, "assets"),
  assetFacets: assetFacets(ports),
  vulnerabilityNumbers: numbers(ports, "vulnerabilities"),
  workspaceNumbers: numbers(ports, "workspaces"),
  knownWorkspaces: new KnownWorkspaces(),
});
