import * as z from "zod";
import { readAll } from "../../events/read-all.ts";
import { derivedId } from "../../platform/ids.ts";
import type { Ports } from "../../platform/ports.ts";
import type { Key, TableSpec, Write } from "../../platform/tables.ts";
import { textsOf } from "../findings/finding-fields.ts";
import type { StoredAsset } from "./table.ts";

/** Facets that callers can list, and the asset fields that they are read from. Reference 1.6. */
const KINDS = {
  technologies: "tech",
  sources: "source",
  remarks: "remarks",
  asset_types: "asset_type",
} as const;
type Kind = keyof typeof KINDS;

const values = z.array(z.string());
export const assetStats = z
  .object({ technologies: values, sources: values, remarks: values, asset_types: values })
  .meta({ id: "AssetStats" });

/** A value that some asset of a workspace has or had. */
export interface StoredFacet extends Key {
  readonly kind: Kind;
  readonly value: string;
}

export const facetsTable: TableSpec<StoredFacet> = { name: "asset-facets", indexes: {} };

/** Longest value that is stored, characters; maximum values per field of one asset; maximum cached values. */
const VALUE_MAX_LENGTH = 200;
const VALUES_MAX = 50;
const WRITTEN_MAX = 50_000;
const WRITES_AT_ONCE = 100;
/** Maximum number of values of a facet in one response. */
const SHOWN_MAX = 5_000;

/** The partition of all workspaces. */
const EVERYWHERE = "";
const facetsOf = (workspace: string): string => derivedId("asset-facets", workspace);

export interface Facets {
  /** Stores the values of assets before they are committed. Values of a commit that fails do no harm. */
  note(assets: readonly StoredAsset[]): Promise<void>;
}

/** A process does not write a value again that it has already written. */
export function assetFacets(deps: Pick<Ports, "tables">): Facets {
  const written = new Set<string>();
  return {
    note: async (assets) => {
      const fresh = new Map<string, StoredFacet>();
      for (const asset of assets) {
        for (const [kind, value] of facets(asset)) {
          for (const workspace of [EVERYWHERE, asset.workspace]) {
            const name = `${kind} ${value.length} ${value}${workspace}`;
            if (written.has(name) || fresh.has(name)) continue;
            fresh.set(name, { pk: facetsOf(workspace), sk: `${kind}#${value}`, kind, value });
          }
        }
      }
      const all = [...fresh];
      for (let start = 0; start < all.length; start += WRITES_AT_ONCE) {
        const part = all.slice(start, start + WRITES_AT_ONCE);
        await deps.tables.write(part.map(([, item]): Write => ({ op: "put", table: facetsTable, item })));
        if (written.size > WRITTEN_MAX) written.clear();
        for (const [name] of part) written.add(name);
      }
    },
  };
}

function* facets(asset: StoredAsset): Generator<readonly [Kind, string]> {
  const all = asset as unknown as Readonly<Record<string, unknown>>;
  for (const [kind, field] of Object.entries(KINDS)) {
    for (const value of textsOf(all[field]).slice(0, VALUES_MAX))
      yield [kind as Kind, value.slice(0, VALUE_MAX_LENGTH).toWellFormed()];
  }
}

/** The values of asset filters, in one workspace or in all. Reference 1.6. */
export async function readAssetStats(
  deps: Pick<Ports, "tables">,
  workspace: string | undefined,
): Promise<z.infer<typeof assetStats>> {
  const pk = facetsOf(workspace ?? EVERYWHERE);
  const of = async (kind: Kind): Promise<string[]> => {
    const items = await readAll(deps, facetsTable, { pk, sk: { beginsWith: `${kind}#` } });
    return items.slice(0, SHOWN_MAX).map(({ value }) => value);
  };
  const [technologies, sources, remarks, asset_types] = await Promise.all([
    of("technologies"),
    of("sources"),
    of("remarks"),
    of("asset_types"),
  ]);
  return { technologies, sources, remarks, asset_types };
}
