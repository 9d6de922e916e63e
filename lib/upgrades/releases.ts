/** A release of the contract that cannot be skipped, and what it asks of whoever runs the service. */
export interface Release {
  /** `5.0`: fix releases of it go by the same name. */
  readonly name: string;
  readonly asks: readonly string[];
}

const release = (name: string, ...asks: readonly string[]): Release => ({ name, asks });

/** Every major and minor release in their order. Seed: documents 9; reference 0.2 and 7.3. */
export const RELEASES: readonly Release[] = [
  ...["1.0", "1.1", "1.2", "1.3", "1.4", "1.5", "1.6", "1.7", "1.8", "1.9", "1.10"].map((name) =>
    release(name),
  ),
  ...["2.0", "2.1"].map((name) => release(name)),
  release(
    "2.2",
    "Language models answer only those who have signed in from here on: set AI_ALLOW_REACH_FROM=public to keep them for everybody.",
  ),
  ...["2.3", "2.4", "2.5", "2.6"].map((name) => release(name)),
  release(
    "3.0",
    "The collaboration server asks the service itself who may come in: take the auth-url annotation off the ingress of its websocket.",
    "Set COLLABORATION_BACKEND_BASE_URL to an address at which the collaboration server reaches the service.",
  ),
  ...["3.1", "3.2"].map((name) => release(name)),
  release(
    "3.3",
    "Parts under AGPL-3.0 come in: build with PUBLISH_AS_MIT=true to leave them out, and what needs them, such as export to PDF.",
    "The footer is a part of the theme file: name yours with THEME_CUSTOMIZATION_FILE_PATH.",
  ),
  ...["3.4", "3.5", "3.6", "3.7", "3.8", "3.9", "3.10"].map((name) => release(name)),
  release(
    "4.0",
    "The browser's side has a new design system: look through style sheets of your own (FRONTEND_CSS_URL).",
    "In the theme file the header's logo is header.icon now, with src, width and height.",
  ),
  ...["4.1", "4.2", "4.3", "4.4", "4.5"].map((name) => release(name)),
  release("4.6", "Favicon and logo come from the theme file: write yours into it."),
  ...["4.7", "4.8"].map((name) => release(name)),
  release(
    "5.0",
    "GET documents/{id}/content/ is GET documents/{id}/formatted-content/ now, and a document's own answer has no content: its stored form is read and written at content/.",
    "GET documents/{id}/descendants is gone: clients search in its place.",
    "Converting files takes DocSpec 3.0.0 or later; 2.x does not work any more.",
    "Rename AI_API_KEY to PRIMARY_SDK_API_KEY and AI_BASE_URL to PRIMARY_SDK_BASE_URL; or use MISTRAL_SDK_API_KEY and MISTRAL_SDK_BASE_URL, not both.",
    "Where your gateway asks for leave with another header than X-Original-URL, name it with MEDIA_AUTH_ORIGINAL_URL_HEADER.",
  ),
  release("5.1"),
  release(
    "5.2",
    "Documents are left, not masked: clients call leave/ in place of mask/.",
    "A document that moves under another parent may lose the accesses and invitations that were its own.",
    "POSTHOG_KEY is the key alone now, and POSTHOG_HOST says which PostHog.",
  ),
  release(
    "5.3",
    "A comment has at most REACTIONS_MAX_PER_COMMENT distinct reactions, 15 where nothing is said.",
  ),
  release(
    "5.4",
    "Search in a tree goes by document in place of path.",
    "Rename COLLABORATION_WS_NOT_CONNECTED_READY_ONLY to COLLABORATION_WS_NOT_CONNECTED_READ_ONLY.",
    "CRISP_WEBSITE_ID has no effect any more.",
  ),
];

/** Which release of the contract the stored data is of, by the product's own major and minor version. */
export const PRODUCT_RELEASES: Readonly<Record<string, string>> = { "0.1": "5.0.0" };

/** Of what was stored before data carried its release. */
export const FIRST_RELEASE = "5.0.0";

/** A version in its parts. */
export interface Version {
  /** Of `RELEASES`. */
  readonly name: string;
  /** Its place in there. */
  readonly at: number;
  readonly fix: number;
}

/** An upgrade that is not to be made; its message is for whoever asked for it. */
export class UpgradeRefused extends Error {
  override readonly name = "UpgradeRefused";
}

/** Reads `5.0.1`, `5.0` or `v5.0.1`. Throws UpgradeRefused for a release that there is not. */
export function toVersion(text: string): Version {
  const [, name = "", fix = "0"] = /^v?(\d{1,4}\.\d{1,4})(?:\.(\d{1,4}))?$/.exec(text) ?? [];
  const at = RELEASES.findIndex((each) => each.name === name);
  if (at === -1) {
    const ends = `${RELEASES.at(0)?.name}.0 to ${RELEASES.at(-1)?.name}`;
    throw new UpgradeRefused(`There is no release ${text.slice(0, 40)}: there are ${ends}, such as 5.0.0`);
  }
  return { name, at, fix: Number(fix) };
}

export const toText = ({ name, fix }: Pick<Version, "name" | "fix">): string => `${name}.${fix}`;

/** The release of the contract that a version of the product stands for. Throws an Error where the table lacks it. */
export function releaseOf(productVersion: string): string {
  const found = PRODUCT_RELEASES[productVersion.split(".", 2).join(".")];
  if (found === undefined) throw new Error(`the table of releases lacks ${productVersion}`);
  return found;
}
