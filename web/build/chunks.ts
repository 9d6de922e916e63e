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
  /\/web\/(?:api\/(?!csrf|dead-letters|early-requests|schedules|user-language|webhooks|workflows|workspace-names)|components\/(?!chart|confirm|copy|details|dialog|facts|filter-chips|form|json|list-with|mantine|page-links|schedule|table|text-|use-leave|windowed)|document-menu\/load|i18n\/i18n|main\.tsx|nonce|shell\/(?:account-button|app|connection-notice|error-boundary|help-button|navigation\.ts|pages|shell\.tsx|shortcuts|status-page)|color-scheme)|\/node_modules\/(?:i18next|openapi-fetch|react|react-dom|react-i18next|scheduler|wouter|@tanstack\/(?:query-core|react-query))\/|\/@tabler\/icons-react\/dist\/esm\/icons\/Icon(?:AlertTriangle|ChevronRight|Dots|Plus|Star|Trash|X)\./;

/** What shows the theme file of the operator. */
const THEME = /\/web\/shell\/(?:brand|customization|footer|logo-of-theme|theme-fields)/;

/** The tree of the documents, and the import of files. */
const SIDE = /\/web\/(?:tree|transfer\/(?!export)|document-menu\/(?:move-document|use-move))/;

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
  { name: "table", test: TABLE },
  { name: "footer", test: THEME },
  { name: "floating", test: FLOATING },
  { name: "keys", test: KEYS },
  { name: "editor", test: EDITOR },
].map((group, index, { length }) => ({ ...group, priority: length - index }));
