/** What a workflow definition may be made of at most. Everything below is refused with a message that names the limit. */

export const DEFINITION_BYTES = 256 * 1024;
/** Lexical tokens of a YAML text: bounds the work of parsing (about 5 us each) however odd the text. */
export const YAML_TOKENS = 60_000;
/** Collections inside each other, of YAML and JSON alike. */
export const DEFINITION_DEPTH = 64;
export const DEFINITION_KEYS = 5_000;
export const KEYS_PER_MAP = 1_000;
export const TEXT_CHARACTERS = 64 * 1024;

export const NAME_CHARACTERS = 128;
export const STEPS_PER_WORKFLOW = 1_000;
/** Steps inside each other: 1 is a step of the workflow's own list. */
export const STEP_NESTING_DEPTH = 16;
export const PARALLEL_STEPS = 256;
export const FOREACH_PARALLEL_ITEMS = 10_000;
export const COMMANDS_PER_STEP = 1_000;
export const EXPORTS_PER_STEP = 64;
export const VOLUMES_PER_STEP = 64;
export const ACTIONS_PER_STEP = 64;
export const CASES_PER_DECISION = 64;
export const DEPENDENCIES_PER_KIND = 64;
/** Tries of one step, the first included. */
export const RETRY_ATTEMPTS = 100;
/** Between two tries, and how many times longer each may be than the one before. */
export const RETRY_DELAY_MS = 86_400_000;
export const RETRY_BACKOFF = 10;
export const TRIGGERS_PER_WORKFLOW = 64;
export const FILTERS_PER_TRIGGER = 64;
export const PARAMS_PER_WORKFLOW = 256;
export const MODULES_PER_FLOW = 256;
export const REPORTS_PER_WORKFLOW = 256;
export const TAGS_PER_WORKFLOW = 64;
/** A method of an HTTP request, in upper case. */
export const HTTP_METHOD = /^[A-Z]{1,20}$/;
/** The longest that one timer of Node holds, a little under 25 days. */
export const TIMEOUT_MS = 2_147_483_647;

/** Problems and warnings told in one answer. */
export const PROBLEMS_TOLD = 50;
