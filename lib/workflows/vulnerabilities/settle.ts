import type { EventDraft } from "../../events/publish.ts";
import type { TopicData } from "../../events/topics.ts";
import type { Ports } from "../../platform/ports.ts";
import type { Attribute, Write } from "../../platform/tables.ts";
import { type Settling, type Telling, workspaceOf } from "../findings/event-effects.ts";
import { changedFields, takenFields, textOf } from "../findings/fields.ts";
import type { Numbers } from "../lists/number-sequence.ts";
import { markWrite } from "../lists/table.ts";
import type { WorkspaceChange } from "../workspaces/records.ts";
import {
  countsOf,
  identityKey,
  identityOf,
  type StoredVulnerability,
  vulnerabilitiesTable,
  vulnerabilityIdentitiesTable,
  vulnerabilityKey,
  vulnerabilityList,
} from "./table.ts";

export interface VulnerabilityDeps extends Pick<Ports, "tables" | "ids"> {
  readonly vulnerabilityNumbers: Numbers;
}

const OWN_FIELDS: ReadonlySet<string> = new Set([
  ...["pk", "sk", "id", "org_uuid", "identity", "listed_mark", "revision", "workspace"],
  ...["created_at", "updated_at", "last_seen_at"],
]);
const TEXT_FIELDS: ReadonlySet<string> = new Set([
  ...["vuln_info", "vuln_title", "vuln_desc", "vuln_poc", "severity", "confidence", "finding_hash"],
  ...["asset_type", "asset_value", "detail_http_request", "detail_http_response", "raw_vuln_json"],
]);
/** Fields that terminals and reports show as they are. */
const LABELS: ReadonlySet<string> = new Set([
  ...["vuln_title", "severity", "confidence", "finding_hash", "asset_type", "asset_value"],
]);
/** Longest severity and confidence, characters. */
const WORD_MAX_LENGTH = 64;

interface Case {
  readonly identity: string;
  readonly before: StoredVulnerability | undefined;
  now: StoredVulnerability | undefined;
  readonly changed: Set<string>;
}

/**
 * Brings vulnerabilities up to date: a finding that is told again is the same one. A new one becomes a `vuln.found`,
 * one that is known no event. Reference 6.
 */
export async function settleVulnerabilities(
  deps: VulnerabilityDeps,
  tellings: readonly Telling[],
  at: string,
): Promise<Settling> {
  const named = new Map<number, EventDraft | undefined>();
  const told = tellings.map(({ at: place, draft }) => {
    const workspace = workspaceOf(draft);
    const fields = vulnerabilityFields(draft.data);
    return { place, draft, workspace, fields, identity: identityOf(workspace, fields) };
  });
  const known = await knownOf(deps, new Set(told.map(({ identity }) => identity)));
  const cases = new Map<string, Case>();
  for (const { place, draft, workspace, fields, identity } of told) {
    const before = known.get(identity);
    const one = cases.get(identity) ?? { identity, before, now: before, changed: new Set<string>() };
    cases.set(identity, one);
    const { now } = one;
    if (now !== undefined) {
      for (const name of changedFields(asRecord(now), fields)) one.changed.add(name);
      one.now = { ...now, ...fields };
      named.set(place, undefined);
      continue;
    }
    const id = await deps.vulnerabilityNumbers.next();
    one.now = {
      ...{ vuln_title: "", severity: "info", confidence: "", asset_value: "" },
      ...{ ...fields, ...vulnerabilityKey(id), id, workspace, identity },
      ...{ created_at: at, updated_at: at, last_seen_at: at },
      ...{ listed_mark: deps.ids.random(), revision: 1 },
    };
    named.set(place, foundEvent(draft, one.now));
  }
  const writes: Write[] = [];
  const workspaces: WorkspaceChange[] = [];
  for (const one of cases.values()) {
    writes.push(...writesOf(deps, one, at));
    const { before, now } = one;
    if (now === undefined || before?.severity === now.severity) continue;
    const { workspace } = now;
    workspaces.push({ workspace, add: countsOf(now.severity, 1) });
    if (before !== undefined) workspaces.push({ workspace, add: countsOf(before.severity, -1) });
  }
  return { named, writes, workspaces };
}

/** The vulnerability's fields as they were told. */
export function vulnerabilityFields(data: Readonly<Record<string, unknown>>): Record<string, Attribute> {
  const fields = takenFields(data, OWN_FIELDS, TEXT_FIELDS, LABELS);
  const { severity, confidence } = fields;
  return {
    ...fields,
    ...(severity === undefined
      ? {}
      : { severity: textOf(severity).trim().toLowerCase().slice(0, WORD_MAX_LENGTH) }),
    ...(confidence === undefined ? {} : { confidence: textOf(confidence).trim().slice(0, WORD_MAX_LENGTH) }),
  };
}

/** What is kept of a vulnerability by itself: nothing that is told changes these. */
export const isOwnVulnerabilityField = (name: string): boolean => OWN_FIELDS.has(name);

async function knownOf(
  { tables }: VulnerabilityDeps,
  identities: ReadonlySet<string>,
): Promise<Map<string, StoredVulnerability>> {
  const held = await tables.batchGet(vulnerabilityIdentitiesTable, [...identities].map(identityKey));
  const keys = held.map(({ id }) => vulnerabilityKey(id));
  const known = keys.length === 0 ? [] : await tables.batchGet(vulnerabilitiesTable, keys);
  return new Map(known.map((one) => [one.identity, one]));
}

const asRecord = (one: StoredVulnerability) => one as unknown as Readonly<Record<string, unknown>>;

function foundEvent(draft: EventDraft, found: StoredVulnerability): EventDraft {
  const { tells: _tells, ...rest } = draft;
  const { id, workspace, vuln_title, severity, asset_value } = found;
  const data: TopicData<"vuln.found"> = {
    ...vulnerabilityFields(draft.data),
    ...{ vulnerability_id: id, vuln_title, severity, asset_value, workspace },
  };
  const name = `${draft.source}-vuln-found`;
  return { ...rest, topic: "vuln.found", name, data_type: "vulnerability", workspace, data };
}

function writesOf(deps: VulnerabilityDeps, { identity, before, now, changed }: Case, at: string): Write[] {
  if (now === undefined) return [];
  const table = vulnerabilitiesTable;
  const { pk, sk, id } = now;
  if (before === undefined)
    return [
      {
        op: "put",
        table: vulnerabilityIdentitiesTable,
        item: { ...identityKey(identity), id },
        when: [["pk", "missing"]],
      },
      { op: "put", table, item: now, when: [["pk", "missing"]] },
      markWrite(vulnerabilityList.name, pk, now.listed_mark),
    ];
  const when = [["revision", "=", before.revision]] as const;
  if (changed.size === 0)
    return before.last_seen_at === at
      ? []
      : [{ op: "update", table, key: { pk, sk }, change: { set: { last_seen_at: at } }, when }];
  const all = asRecord(now);
  const set = Object.fromEntries([...changed].map((name) => [name, all[name] as Attribute]));
  const listed_mark = deps.ids.random();
  const revision = before.revision + 1;
  return [
    {
      op: "update",
      table,
      key: { pk, sk },
      change: { set: { ...set, updated_at: at, last_seen_at: at, listed_mark, revision } },
      when,
    },
    markWrite(vulnerabilityList.name, pk, listed_mark),
  ];
}
