import type dead_letters from "./en/dead_letters.json";
import type document from "./en/document.json";
import type documents from "./en/documents.json";
import type editor from "./en/editor.json";
import type events from "./en/events.json";
import type files from "./en/files.json";
import type findings from "./en/findings.json";
import type functions from "./en/functions.json";
import type help from "./en/help.json";
import type login from "./en/login.json";
import type notifications from "./en/notifications.json";
import type platform from "./en/platform.json";
import type run from "./en/run.json";
import type runs from "./en/runs.json";
import type schedules from "./en/schedules.json";
import type settings from "./en/settings.json";
import type shell from "./en/shell.json";
import type transfer from "./en/transfer.json";
import type tree from "./en/tree.json";
import type webhooks from "./en/webhooks.json";
import type workflows from "./en/workflows.json";

/** The texts, by the name of their file. `shell` is loaded with every page; a page loads what else it needs. */
interface TextsByGroup {
  findings: typeof findings;
  files: typeof files;
  platform: typeof platform;
  functions: typeof functions;
  webhooks: typeof webhooks;
  dead_letters: typeof dead_letters;
  document: typeof document;
  documents: typeof documents;
  editor: typeof editor;
  events: typeof events;
  help: typeof help;
  login: typeof login;
  notifications: typeof notifications;
  run: typeof run;
  runs: typeof runs;
  schedules: typeof schedules;
  settings: typeof settings;
  shell: typeof shell;
  transfer: typeof transfer;
  tree: typeof tree;
  workflows: typeof workflows;
}

/** A file of texts: one for each page, or for a few pages that share most of them. */
export type TextGroup = keyof TextsByGroup;

/** All texts, by area and name. An area is in one group. */
export type Texts = Intersection<TextsByGroup[TextGroup]>;

type Intersection<Union> = (Union extends unknown ? (value: Union) => void : never) extends (
  value: infer All,
) => void
  ? All
  : never;
