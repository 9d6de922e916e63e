import { dataOf, type Schemas } from "../../client/api.ts";
import { WeftCommand } from "../command.ts";
import { connect } from "../connection.ts";
import { addPageOptions, addServerOptions, choice, listQuery, type ServerOptions } from "../options.ts";
import { printList, printResponse } from "../responses.ts";
import { type Column, fieldList, formatTime } from "../table.ts";
import { terminal } from "../terminal.ts";
import { listWorkflowFiles, readWithDependencies } from "../workflow-files.ts";
import { readWorkflow, saveFile } from "../workflow-requests.ts";

const COLUMNS: readonly Column<Schemas["Workflow"]>[] = [
  { header: "NAME", value: ({ name }) => name },
  { header: "KIND", value: ({ kind }) => kind },
  {
    header: "STEPS",
    value: ({ kind, step_count, module_count }) => String(kind === "flow" ? module_count : step_count),
    align: "right",
  },
  { header: "TRIGGERS", value: ({ trigger_count }) => String(trigger_count), align: "right" },
  { header: "REV", value: ({ revision }) => String(revision), align: "right" },
  { header: "UPDATED", value: ({ updated_at }) => formatTime(updated_at), canShrink: true },
  { header: "DESCRIPTION", value: ({ description }) => description, canShrink: true },
];

interface ShowOptions extends ServerOptions {
  readonly yaml?: boolean;
}

export const workflows = addServerOptions(new WeftCommand("workflows"))
  .description("List, show, store and delete workflows")
  .example("weft workflows", "lists the stored workflows")
  .example("weft workflows save flows/scan.yaml", "stores a flow and the modules next to it")
  .example("weft workflows show scan --yaml > scan.yaml", "downloads a workflow");

addPageOptions(
  workflows
    .defaultCommand("list")
    .description("List workflows by name")
    .addOption(choice("--kind <kind>", "Workflows of this kind", ["module", "flow"]))
    .option("--tags <tags>", "Workflows with any of these tags, separated by commas")
    .option("--search <text>", "Workflows whose name or description contains the text"),
).action((_options, command: WeftCommand) => {
  const options = command.optsWithGlobals<ServerOptions>();
  return printList(COLUMNS, options, (api) =>
    api.GET("/automation/workflows", {
      params: { query: listQuery<object>(options, ["kind", "tags", "search"]) },
    }),
  );
});

workflows
  .command("show <name>")
  .description("Show a workflow and its YAML")
  .option("--yaml", "Print the YAML alone")
  .action((name: string, _options, command: WeftCommand) => show(name, command.optsWithGlobals()));

workflows
  .command("save <file.yaml...>")
  .description("Store files, and the files next to them that they refer to")
  .action((paths: string[], _options, command: WeftCommand) => save(paths, command.optsWithGlobals()));

workflows
  .command("delete <name>")
  .description("Delete a workflow and its triggers")
  .action(async (name: string, _options, command: WeftCommand) => {
    const options = command.optsWithGlobals<ServerOptions>();
    const { api } = connect(options);
    const response = await dataOf(api.DELETE("/automation/workflows/{name}", { params: { path: { name } } }));
    printResponse(response, `deleted ${name}\n`, options);
  });

async function show(name: string, options: ShowOptions): Promise<void> {
  const workflow = await readWorkflow(connect(options), name);
  if (options.yaml === true) {
    terminal.out(workflow.yaml);
    return;
  }
  const details = fieldList([
    ["name", workflow.name],
    ["kind", workflow.kind],
    ["description", workflow.description],
    ["tags", workflow.tags.join(", ")],
    ["revision", String(workflow.revision)],
    ["updated", formatTime(workflow.updated_at)],
    ["file", workflow.file_path],
    ["requires", workflow.required_params.join(", ")],
  ]);
  printResponse(workflow, `${details}\n${workflow.yaml.replace(/\n*$/, "\n")}`, options);
}

async function save(paths: readonly string[], options: ServerOptions): Promise<void> {
  const connection = connect(options);
  const saved = [];
  for (const path of listWorkflowFiles(paths))
    for (const file of await readWithDependencies(path)) saved.push(await saveFile(connection, file));
  const lines = saved.flatMap(({ name, kind, revision, warnings }) => [
    `saved ${kind} ${name}, revision ${revision}\n`,
    ...warnings.map((warning) => `  warning: ${warning}\n`),
  ]);
  printResponse({ data: saved }, lines.join(""), options);
}
