import { withActions } from "../actions.ts";
import { connect, SERVER_FLAGS } from "../connection.ts";
import { PAGE_FLAGS } from "../flags.ts";
import { printAnswer, printList } from "../pages.ts";
import { type Column, fields, moment } from "../table.ts";
import { withThoseBeside, workflowFiles } from "../workflow-files.ts";
import { readWorkflow, saveFile, WORKFLOWS, type WorkflowRecord } from "../workflows.ts";

const COLUMNS: readonly Column<WorkflowRecord>[] = [
  { head: "NAME", text: ({ name }) => name },
  { head: "KIND", text: ({ kind }) => kind },
  {
    head: "STEPS",
    text: ({ kind, step_count, module_count }) => String(kind === "flow" ? module_count : step_count),
    right: true,
  },
  { head: "TRIGGERS", text: ({ trigger_count }) => String(trigger_count), right: true },
  { head: "REV", text: ({ revision }) => String(revision), right: true },
  { head: "UPDATED", text: ({ updated_at }) => moment(updated_at), cut: true },
  { head: "DESCRIPTION", text: ({ description }) => description, cut: true },
];

interface WorkflowDetail extends WorkflowRecord {
  readonly yaml: string;
  readonly file_path: string;
  readonly required_params: readonly string[];
}

/** `weft workflows`: those that are stored. */
export const workflows = withActions({
  name: "workflows",
  summary: "Lists, shows, stores and deletes workflows",
  actions: {
    list: {
      takes: "",
      summary: "Workflows by name",
      run: (_words, args, terminal) =>
        printList<WorkflowRecord>(
          connect(args, terminal),
          { path: WORKFLOWS, filters: ["kind", "tags", "search"], columns: COLUMNS },
          args,
          terminal,
        ),
    },
    show: {
      takes: "<name>",
      summary: "One, with its text",
      run: async ([name = ""], args, terminal) => {
        const found = await readWorkflow<WorkflowDetail>(connect(args, terminal), name);
        if (args.flags.yaml === true) {
          terminal.out(found.yaml);
          return;
        }
        const about = fields([
          ["name", found.name],
          ["kind", found.kind],
          ["description", found.description],
          ["tags", found.tags.join(", ")],
          ["revision", String(found.revision)],
          ["updated", moment(found.updated_at)],
          ["file", found.file_path],
          ["needs", found.required_params.join(", ")],
        ]);
        printAnswer(found, `${about}\n${found.yaml.replace(/\n*$/, "\n")}`, args, terminal);
      },
    },
    save: {
      takes: "<file.yaml>...",
      summary: "Stores files, and those beside them that they build on",
      run: async (paths, args, terminal) => {
        const connection = connect(args, terminal);
        const saved = [];
        for (const path of workflowFiles(paths))
          for (const file of await withThoseBeside(path)) saved.push(await saveFile(connection, file));
        const text = saved.map(({ name, kind, revision, warnings }) =>
          [
            `saved ${kind} ${name}, revision ${revision}`,
            ...warnings.map((each) => `  warning: ${each}`),
            "",
          ].join("\n"),
        );
        printAnswer({ data: saved }, text.join(""), args, terminal);
      },
    },
    delete: {
      takes: "<name>",
      summary: "Takes one and its triggers out of use",
      run: async ([name = ""], args, terminal) => {
        const path = `${WORKFLOWS}/${encodeURIComponent(name)}`;
        const answer = await connect(args, terminal).request("DELETE", path);
        printAnswer(answer, `deleted ${name}\n`, args, terminal);
      },
    },
  },
  flags: {
    kind: {
      type: "string",
      value: "KIND",
      summary: "module or flow",
      choices: ["module", "flow"],
      of: ["list"],
    },
    tags: { type: "string", value: "TAGS", summary: "any of them, with commas", of: ["list"] },
    search: { type: "string", value: "TEXT", summary: "part of name or description", of: ["list"] },
    yaml: { type: "boolean", summary: "its text alone", of: ["show"] },
    ...PAGE_FLAGS,
    ...SERVER_FLAGS,
  },
  examples: [
    ["weft workflows", "lists those that are stored"],
    ["weft workflows save flows/scan.yaml", "stores a flow and the modules beside it"],
    ["weft workflows show scan --yaml > scan.yaml", "gets the text back"],
  ],
});
