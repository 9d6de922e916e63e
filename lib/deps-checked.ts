import type { Deps } from "./deps.ts";
import { PRODUCT_VERSION } from "./platform/product-version.ts";
import { checkMark } from "./upgrades/mark.ts";
import { releaseOf } from "./upgrades/releases.ts";

/** The dependencies, once the stored data is known to be of this release. Throws UpgradeRefused. */
export async function checked(deps: Deps): Promise<Deps> {
  const start = "start a server of this release on the stack once, with WEFT_PLATFORM=aws";
  await checkMark(deps.tables, releaseOf(PRODUCT_VERSION), start);
  return deps;
}
