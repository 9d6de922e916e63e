import type { SettingType } from "./setting-types.ts";

/** The actions of the external API by resource, with the names of the compatible service. Reference: documents 1.16. */
export const EXTERNAL_ACTIONS = {
  documents: [
    "list",
    "retrieve",
    "create",
    "update",
    "partial_update",
    "destroy",
    "children",
    "tree",
    "search",
    "all",
    "trashbin",
    "favorite_list",
    "favorite",
    "move",
    "restore",
    "duplicate",
    "link_configuration",
    "content",
    "formatted_content",
    "versions_list",
    "versions_detail",
    "versions_restore",
  ],
  document_access: ["list", "retrieve", "create", "update", "partial_update", "destroy"],
  document_invitation: ["list", "retrieve", "create", "update", "partial_update", "destroy"],
  users: ["get_me", "list"],
} as const;

export type ExternalResource = keyof typeof EXTERNAL_ACTIONS;
export type ExternalAction<Resource extends ExternalResource> = (typeof EXTERNAL_ACTIONS)[Resource][number];

/** The permitted actions, as `resource.action`. */
export type ExternalActions = ReadonlySet<string>;

export const EXTERNAL_API_DEFAULT = JSON.stringify({
  documents: { enabled: true, actions: ["list", "retrieve", "create", "children"] },
  document_access: { enabled: false, actions: [] },
  document_invitation: { enabled: false, actions: [] },
  users: { enabled: true, actions: ["get_me"] },
});

export const externalApi: SettingType<ExternalActions> = {
  parse: (value) => {
    const resources = asObject(parseJson(value));
    if (resources === undefined)
      throw new Error('must be JSON such as {"documents":{"enabled":true,"actions":["list"]}}');
    return new Set(Object.entries(resources).flatMap(([resource, each]) => actionsOf(resource, each)));
  },
};

function actionsOf(resource: string, value: unknown): string[] {
  if (!Object.hasOwn(EXTERNAL_ACTIONS, resource))
    throw new Error(`must contain only the resources ${Object.keys(EXTERNAL_ACTIONS).join(", ")}`);
  const known: readonly string[] = EXTERNAL_ACTIONS[resource as ExternalResource];
  const { enabled, actions, ...others } = asObject(value) ?? {};
  if (typeof enabled !== "boolean" || !Array.isArray(actions) || Object.keys(others).length > 0)
    throw new Error(`must have for ${resource} exactly enabled (true or false) and actions (a list)`);
  if (!actions.every((action) => known.includes(String(action))))
    throw new Error(`must contain only these actions of ${resource}: ${known.join(", ")}`);
  return enabled ? actions.map((action) => `${resource}.${action}`) : [];
}

function parseJson(value: string): unknown {
  try {
    return JSON.parse(value);
  } catch {
    return undefined;
  }
}

const asObject = (value: unknown): Readonly<Record<string, unknown>> | undefined =>
  typeof value === "object" && value !== null && !Array.isArray(value)
    ? (value as Readonly<Record<string, unknown>>)
    : undefined;
