/** Limits of workflow definitions. A definition above a limit is rejected with a message that names the limit. */

export const DEFINITION_BYTES = 256 * 1024;
/** Lexical tokens of a YAML text; bounds the work of parsing (about 5 us per token) for any text. */
export const YAML_TOKENS = 60_000;
/** Nesting of collections, in YAML and JSON. */
export const DEFINITION_DEPTH = 64;
export const DEFINITION_KEYS = 5_000;
export const KEYS_PER_MAP = 1_000;
export const TEXT_CHARACTERS = 64 * 1024;

export const NAME_CHARACTERS = 128;
export const STEPS_PER_WORKFLOW = 1_000;
/** Nesting of steps: 1 is a step of the workflow's own list. */
export const STEP_NESTING_DEPTH = 16;
export const PARALLEL_STEPS = 256;
export const FOREACH_PARALLEL_ITEMS = 10_000;
export const COMMANDS_PER_STEP = 1_000;
export const EXPORTS_PER_STEP = 64;
export const VOLUMES_PER_STEP = 64;
export const ACTIONS_PER_STEP = 64;
export const CASES_PER_DECISION = 64;
export const DEPENDENCIES_PER_KIND = 64;
/** Attempts of one step, including the first. */
export const RETRY_ATTEMPTS = 100;
/** Maximum delay between two attempts, and maximum backoff factor. */
export const RETRY_DELAY_MS = 86_400_000;
export const RETRY_BACKOFF = 10;
export const TRIGGERS_PER_WORKFLOW = 64;
export const FILTERS_PER_TRIGGER = 64;
export const PARAMS_PER_WORKFLOW = 256;
export const MODULES_PER_FLOW = 256;
export const REPORTS_PER_WORKFLOW = 256;
export const TAGS_PER_WORKFLOW = 64;
/** HTTP method, in upper case. */
export const HTTP_METHOD = /^[A-Z]{1,20}$/;
/** The longest timer of Node, a little under 25 days. */
export const TIMEOUT_MS = 2_147_483_647;

/** Maximum number of problems and warnings in one response. */
export const PROBLEMS_REPORTED = 50;
