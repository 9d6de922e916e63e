import type { Rolldown } from "vite";

/*
 * Scripts that are needed together are one file: it is smaller than many, and each costs a request. All other modules
 * are in files that Rolldown chooses.
 */

/** What the first script has, which requests everything else. */
const START =
  /\/web\/(?:index\.html|start\.ts|api\/(?:csrf|early-requests)|i18n\/(?:language|read-texts)|shell\/routes)|vite\/preload-helper|rolldown\/runtime/;

/** What most pages need. */
const SHELL =
  /\/web\/(?:api\/(?!csrf|dead-letters|early-requests|schedules|user-language|webhooks|workflows|workspace-names)|components\/(?!chart|confirm|copy|details|dialog|facts|filter-chips|form|json|list-with|mantine|page-links|schedule|table|text-|use-leave|windowed)|document-menu\/load|i18n\/(?:i18n|use-translation)|main\.tsx|nonce|shell\/(?:account-button|app|connection-notice|error-boundary|help-button|navigation\.ts|pages|shell\.tsx|shortcuts|side-width|status-page)|color-scheme)|\/node_modules\/(?:i18next|openapi-fetch|react|react-dom|scheduler|wouter|@tanstack\/(?:query-core|react-query))\/|\/@tabler\/icons-react\/dist\/esm\/icons\/Icon(?:AlertTriangle|ChevronRight|Dots|Plus|Star|Trash|X)\./;

/** What is loaded after the page: the tree of the documents, the import of files, and the theme file of the operator. */
const SIDE =
  /\/web\/(?:tree|transfer\/(?!export)|document-menu\/(?:move-document|use-move)|shell\/(?:brand|customization|footer|logo-of-theme|side-handle|theme-fields))/;
const SIDE_ENGLISH = /\/web\/i18n\/en\/(?:transfer|tree)\.json/;
const SIDE_FRENCH = /\/web\/i18n\/fr\/(?:transfer|tree)\.json/;

/** Tables with their filters and pages. */
const TABLE = /\/web\/components\/(?:filter-chips|page-links|table)\./;

/** What the editor shares with menus and with the editor of workflows. */
const FLOATING = /\/node_modules\/@floating-ui\//;
const KEYS = /\/node_modules\/w3c-keyname\/|\/web\/components\/use-leave-warning/;

/** The editor, which needs all of its packages at once. */
const EDITOR = /\/web\/pages\/document\/document-page\.tsx/;

/** A module belongs to the first group that has it. */
export const CHUNKS: Rolldown.CodeSplittingGroup[] = [
  { name: "start", test: START },
  { name: "shell", test: SHELL },
  { name: "side", test: SIDE },
  { name: "side-en", test: SIDE_ENGLISH },
  { name: "side-fr", test: SIDE_FRENCH },
  { name: "table", test: TABLE },
  { name: "floating", test: FLOATING },
  { name: "keys", test: KEYS },
  { name: "editor", test: EDITOR },
].map((group, index, { length }) => ({ ...group, priority: length - index }));
