import type { EventDraft, EventEffects, ToldKind } from "../../events/publish.ts";
import { canonicalTopic } from "../../events/topic-match.ts";
import type { Ports } from "../../platform/ports.ts";
import { applyArtifactEvents } from "../artifacts/artifact-effects.ts";
import { type AssetDeps, applyAssetEvents } from "../assets/asset-effects.ts";
import { assetFacets } from "../assets/facets.ts";
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
    settle: async (drafts, at) => {
      const kinds = drafts.map(kindOf);
      if (kinds.every((kind) => kind === undefined)) return { drafts, writes: [] };
      const of = (kind: ToldKind): RecordEvent[] =>
        drafts.flatMap((draft, place) => (kinds[place] === kind ? [{ at: place, draft }] : []));
      const settled = await Promise.all([
        settleAll(of("asset"), (tellings) => applyAssetEvents(deps, tellings, at)),
        settleAll(of("vulnerability"), (tellings) => applyVulnerabilityEvents(deps, tellings, at)),
        settleAll(of("artifact"), (tellings) => applyArtifactEvents(deps, tellings, at)),
        settleAll(of("totals"), async (tellings) => settleTotals(tellings)),
        settleAll(of("run"), async (tellings) => settleRuns(tellings)),
      ]);
      const named = new Map(settled.flatMap((one) => [...one.named]));
      const changes = settled.flatMap(({ workspaces }) => workspaces);
      return {
        drafts: drafts.flatMap((draft, place) => (named.has(place) ? (named.get(place) ?? []) : [draft])),
        writes: [...settled.flatMap(({ writes }) => writes), ...(await workspaceWrites(deps, changes, at))],
      };
    },
  };
}

/** A `run.started` that a caller emits has no effect on runs. */
const kindOf = ({ topic, tells }: EventDraft): ToldKind | undefined =>
  tells ?? (canonicalTopic(topic) === "asset.discovered" ? "asset" : undefined);

const NOTHING: RecordEffects = { named: new Map(), writes: [], workspaces: [] };

const settleAll = async (
  tellings: readonly RecordEvent[],
  settle: (tellings: readonly RecordEvent[]) => Promise<RecordEffects>,
): Promise<RecordEffects> => (tellings.length === 0 ? NOTHING : settle(tellings));

/** Counters that workflows report; they record no events. */
function settleTotals(tellings: readonly RecordEvent[]): RecordEffects {
  const workspaces = tellings.flatMap(({ draft }): WorkspaceChange[] => {
    const { counter, add } = draft.data;
    const reported = REPORTED.find((name) => name === counter);
    if (reported === undefined || !Number.isSafeInteger(add)) return [];
    return [
      { workspace: workspaceOf(draft), add: { [`reported_${reported satisfies Reported}`]: Number(add) } },
    ];
  });
  return { named: new Map(tellings.map(({ at }) => [at, undefined])), writes: [], workspaces };
}

/** Each run creates its workspace if that is new, and adds the pending entry of its steps. */
function settleRuns(tellings: readonly RecordEvent[]): RecordEffects {
  const workspaces = tellings.map(
    ({ draft }): WorkspaceChange => ({
      workspace: workspaceOf(draft),
      run: { workflow: draft.workflow_name ?? "" },
    }),
  );
  const writes = tellings.flatMap(({ draft }) =>
    draft.run_id === undefined ? [] : [stepsPendingWrite(draft.run_id)],
  );
  return { named: new Map(), writes, workspaces };
}
