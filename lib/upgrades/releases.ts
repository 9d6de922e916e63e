/** A release of the contract that cannot be skipped, and the actions that it requires of operators. */
export interface Release {
  /** `5.0`: includes its fix releases. */
  readonly name: string;
  readonly actions: readonly string[];
}

const release = (name: string, ...actions: readonly string[]): Release => ({ name, actions });

/** Every major and minor release in order. Seed: documents 9; reference 0.2 and 7.3. */
export const RELEASES: readonly Release[] = [
  ...["1.0", "1.1", "1.2", "1.3", "1.4", "1.5", "1.6", "1.7", "1.8", "1.9", "1.10"].map((name) =>
    release(name),
  ),
  ...["2.0", "2.1"].map((name) => release(name)),
  release(
    "2.2",
    "Language models are only available to authenticated users: set AI_ALLOW_REACH_FROM=public to allow everyone.",
  ),
  ...["2.3", "2.4", "2.5", "2.6"].map((name) => release(name)),
  release(
    "3.0",
    "The collaboration server now checks access with the service itself: remove the auth-url annotation from the ingress of its WebSocket.",
    "Set COLLABORATION_BACKEND_BASE_URL to a URL at which the collaboration server reaches the service.",
  ),
  ...["3.1", "3.2"].map((name) => release(name)),
  release(
    "3.3",
    "Adds parts under AGPL-3.0: build with PUBLISH_AS_MIT=true to exclude them and the features that need them, such as PDF export.",
    "The footer is part of the theme file: set THEME_CUSTOMIZATION_FILE_PATH to use your own.",
  ),
  ...["3.4", "3.5", "3.6", "3.7", "3.8", "3.9", "3.10"].map((name) => release(name)),
  release(
    "4.0",
    "The frontend has a new design system: review custom style sheets (FRONTEND_CSS_URL).",
    "In the theme file the header's logo is now header.icon, with src, width and height.",
  ),
  ...["4.1", "4.2", "4.3", "4.4", "4.5"].map((name) => release(name)),
  release("4.6", "Favicon and logo come from the theme file: set your own there."),
  ...["4.7", "4.8"].map((name) => release(name)),
  release(
    "5.0",
    "GET documents/{id}/content/ is now GET documents/{id}/formatted-content/, and the document's response has no content: read and write the stored form at content/.",
    "GET documents/{id}/descendants is removed: use the search instead.",
    "Converting files requires DocSpec 3.0.0 or later; 2.x is no longer supported.",
    "Rename AI_API_KEY to PRIMARY_SDK_API_KEY and AI_BASE_URL to PRIMARY_SDK_BASE_URL; or use MISTRAL_SDK_API_KEY and MISTRAL_SDK_BASE_URL, not both.",
    "If your gateway authorizes requests with a header other than X-Original-URL, set MEDIA_AUTH_ORIGINAL_URL_HEADER.",
  ),
  release("5.1"),
  release(
    "5.2",
    "Users leave documents instead of masking them: call leave/ instead of mask/.",
    "A document that moves to another parent may lose its own accesses and invitations.",
    "POSTHOG_KEY now contains only the key; set POSTHOG_HOST to the PostHog instance.",
  ),
  release("5.3", "A comment has at most REACTIONS_MAX_PER_COMMENT distinct reactions, 15 by default."),
  release(
    "5.4",
    "Search in a tree uses the parameter document instead of path.",
    "Rename COLLABORATION_WS_NOT_CONNECTED_READY_ONLY to COLLABORATION_WS_NOT_CONNECTED_READ_ONLY.",
    "CRISP_WEBSITE_ID no longer has an effect.",
  ),
];

/** The contract release of the stored data, by the product's major and minor version. */
export const PRODUCT_RELEASES: Readonly<Record<string, string>> = { "0.1": "5.0.0" };

/** The release of data stored before data had a release. */
export const FIRST_RELEASE = "5.0.0";

/** A parsed version. */
export interface Version {
  /** One of `RELEASES`. */
  readonly name: string;
  /** Its index in `RELEASES`. */
  readonly at: number;
  readonly fix: number;
}

/** An upgrade that is not possible; its message is for the operator. */
export class UpgradeError extends Error {
  override readonly name = "UpgradeError";
}

/** Parses `5.0.1`, `5.0` or `v5.0.1`. Throws UpgradeError for an unknown release. */
export function toVersion(text: string): Version {
  const [, name = "", fix = "0"] = /^v?(\d{1,4}\.\d{1,4})(?:\.(\d{1,4}))?$/.exec(text) ?? [];
  const at = RELEASES.findIndex((each) => each.name === name);
  if (at === -1) {
    const ends = `${RELEASES.at(0)?.name}.0 to ${RELEASES.at(-1)?.name}`;
    throw new UpgradeError(`Unknown release ${text.slice(0, 40)}: use ${ends}, such as 5.0.0`);
  }
  return { name, at, fix: Number(fix) };
}

export const formatVersion = ({ name, fix }: Pick<Version, "name" | "fix">): string => `${name}.${fix}`;

/** The contract release of a product version. Throws an Error if it is missing from the table. */
export function releaseOf(productVersion: string): string {
  const found = PRODUCT_RELEASES[productVersion.split(".", 2).join(".")];
  if (found === undefined) throw new Error(`${productVersion} is missing from PRODUCT_RELEASES`);
  return found;
}
