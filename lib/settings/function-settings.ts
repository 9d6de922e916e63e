import { documentSettings } from "./document-settings.ts";
import type { Setting } from "./setting-types.ts";

/**
 * The settings of DOCUMENT_SETTINGS that consumers in Lambda read. The others are for endpoints and clients, or require
 * secrets, which consumers cannot read.
 */
export const CONSUMER_SETTINGS: ReadonlySet<string> = new Set([
  "API_USERS_SEARCH_QUERY_MIN_LENGTH",
  "ATTACHMENTS_TOTAL_MAX_SIZE",
  "COLLABORATION_WS_NOT_CONNECTED_READ_ONLY",
  "DOCUMENT_ATTACHMENTS_MAX_SIZE",
  "DOCUMENT_ATTACHMENT_CHECK_UNSAFE_MIME_TYPES_ENABLED",
  "DOCUMENT_IMAGE_MAX_SIZE",
  "LANGUAGES",
  "LANGUAGE_CODE",
  "NO_WEBSOCKET_CACHE_TIMEOUT",
  "REACTIONS_MAX_PER_COMMENT",
] satisfies (keyof typeof documentSettings)[]);

const namesOf = (isIncluded: (setting: Setting) => boolean): readonly string[] =>
  Object.entries<Setting>(documentSettings)
    .filter(([, setting]) => isIncluded(setting))
    .map(([name]) => name);

/**
 * The settings that the parameter store may hold for functions in Lambda: neither a parameter of the template nor
 * the environment of a function is a place for secrets, and functions have no files of the operator.
 */
export const STORED_SETTINGS = {
  values: namesOf(({ isSecret }) => isSecret === true),
  files: namesOf(({ isPath }) => isPath === true),
};
