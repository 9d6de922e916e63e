import type { Template } from "./template.ts";

/** What a bundle of the server has with it. */
export interface Bundled {
  /** The repository's template as it was read for the bundle, and where it stands. */
  readonly template: { readonly path: string; readonly read: Template } | undefined;
  /** Modules of the template's functions by the absolute paths of their sources. */
  readonly functions: Readonly<Record<string, () => Promise<Record<string, unknown>>>>;
}

/** Nothing where the sources run as they stand; `bundle/build.ts` puts another module in the place of this one. */
export const bundled: Bundled = { template: undefined, functions: {} };
