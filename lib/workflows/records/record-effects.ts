import type { EffectKind, EventDraft, EventEffects } from "../../events/publish.ts";
import { canonicalTopic } from "../../events/topic-match.ts";
import type { Ports } from "../../platform/ports.ts";
import { applyArtifactEvents } from "../artifacts/artifact-effects.ts";
import { type AssetDeps, applyAssetEvents } from "../assets/asset-effects.ts";
import { assetFacets } from "../assets/facets.ts";
import { RECORD_WRITES, WORKSPACE_WRITES } from "../findings/event-batches.ts";
import { type RecordEffects, type RecordEvent, workspaceOf } from "../findings/event-effects.ts";
import { numberSequence } from "../lists/number-sequence.ts";
import { stepsPendingWrite } from "../runs/step-results.ts";
import {
  applyVulnerabilityEvents,
  type VulnerabilityDeps,
} from "../vulnerabilities/vulnerability-effects.ts";
import {
  KnownWorkspaces,
  REPORTED,
  type Reported,
  type WorkspaceChange,
  type WorkspaceDeps,
  workspaceWrites,
} from "../workspaces/workspace-records.ts";

/** Dependencies of record effects, shared by a process. */
export const recordDeps = (ports: Ports): RecordDeps => ({
  tables: ports.tables,
  ids: ports.ids,
  assetNumbers: numberSequence(ports, "assets"),
  assetFacets: assetFacets(ports),
  vulnerabilityNumbers: numberSequence(ports, "vulnerabilities"),
  workspaceNumbers: numberSequence(ports, "workspaces"),
  knownWorkspaces: new KnownWorkspaces(),
});

export type RecordDeps = Pick<Ports, "tables" | "ids"> & AssetDeps & VulnerabilityDeps & WorkspaceDeps;

/**
 * Effects of events besides the log: they create and update assets, vulnerabilities and artifacts, and the counters of
 * workspaces, in the transaction of the events. Reference 5 and 6.
 */
export function recordEffects(deps: RecordDeps): EventEffects {
  return {
    apply: async (drafts, at) => {
      const kinds = drafts.map(kindOf);
      if (kinds.every((kind) => kind === undefined)) return { drafts, writes: [] };
      const of = (kind: EffectKind): RecordEvent[] =>
        drafts.flatMap((draft, index) => (kinds[index] === kind ? [{ at: index, draft }] : []));
      const settled = await Promise.all([
        applyAll(of("asset"), (events) => applyAssetEvents(deps, events, at)),
        applyAll(of("vulnerability"), (events) => applyVulnerabilityEvents(deps, events, at)),
        applyAll(of("artifact"), (events) => applyArtifactEvents(deps, events, at)),
        applyAll(of("totals"), async (events) => applyTotals(events)),
        applyAll(of("run"), async (events) => applyRuns(events)),
      ]);
      const named = new Map(settled.flatMap((one) => [...one.named]));
      const changes = settled.flatMap(({ workspaces }) => workspaces);
      return {
        drafts: drafts.flatMap((draft, index) => (named.has(index) ? (named.get(index) ?? []) : [draft])),
        writes: [...settled.flatMap(({ writes }) => writes), ...(await workspaceWrites(deps, changes, at))],
      };
    },
    writesAtMost: (draft) => {
      const kind = kindOf(draft);
      return kind === undefined ? 0 : RECORD_WRITES[kind] + WORKSPACE_WRITES;
    },
  };
}

/** A `run.started` that a caller emits has no effect on runs. */
const kindOf = ({ topic, effect }: EventDraft): EffectKind | undefined =>
  effect ?? (canonicalTopic(topic) === "asset.discovered" ? "asset" : undefined);

const NOTHING: RecordEffects = { named: new Map(), writes: [], workspaces: [] };

const applyAll = async (
  events: readonly RecordEvent[],
  settle: (events: readonly RecordEvent[]) => Promise<RecordEffects>,
): Promise<RecordEffects> => (events.length === 0 ? NOTHING : settle(events));

/** Counters that workflows report; they record no events. */
function applyTotals(events: readonly RecordEvent[]): RecordEffects {
  const workspaces = events.flatMap(({ draft }): WorkspaceChange[] => {
    const { counter, add } = draft.data;
    const reported = REPORTED.find((name) => name === counter);
    if (reported === undefined || !Number.isSafeInteger(add)) return [];
    return [
      { workspace: workspaceOf(draft), add: { [`reported_${reported satisfies Reported}`]: Number(add) } },
    ];
  });
  return { named: new Map(events.map(({ at }) => [at, undefined])), writes: [], workspaces };
}

/** Each run creates its workspace if that is new, and adds the pending entry of its steps. */
function applyRuns(events: readonly RecordEvent[]): RecordEffects {
  const workspaces = events.map(
    ({ draft }): WorkspaceChange => ({
      workspace: workspaceOf(draft),
      run: { workflow: draft.workflow_name ?? "" },
    }),
  );
  const writes = events.flatMap(({ draft }) =>
    draft.run_id === undefined ? [] : [stepsPendingWrite(draft.run_id)],
  );
  return { named: new Map(), writes, workspaces };
}
