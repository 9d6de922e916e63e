/** Steps of every type and target, with outputs too large for a message. */
export const workflowWithAllSteps = (url: string): string => `
name: everything
triggers:
  - {name: on-tour, type: event, topic: custom.tour, input: {target: event_data.name}}
steps:
  - {name: shell, type: bash, command: "seq 1 1005 > numbers.txt; echo {{Target}} {{secrets.TOUR_KEY}}"}
  - {name: large, type: bash, command: "head -c 50000 /dev/zero | tr '\\\\0' x"}
  - {name: measured, type: function, function: 'trim("{{large_output}}")'}
  - {name: hidden, type: function, function: 'trim("{{secrets.TOUR_KEY}}")'}
  - {name: asked, type: http, url: "${url}/health"}
  - name: told
    type: function
    function: 'generate_event("", "asset.discovered", "tour", "asset", {value: "told.example.org", note: "n".repeat(300000)})'
  - name: reads
    type: function
    functions:
      - 'db_select_assets("") + db_select_vulnerabilities("") + db_select_total_assets() + db_asset_diff("") + db_vuln_diff("")'
      - 'if (!run_status("", "jsonl").includes("run_uuid")) throw new Error("no runs"); run_status_by_uuid("none")'
  - name: writes
    type: function
    functions:
      - 'db_raw_insert_asset("", {host: "raw.example.org"}) > 0 && db_update("assets", "raw.example.org", "title", "Raw")'
      - 'if (run_module("heard", "writes") === "") throw new Error("no run")'
  - name: writing
    type: function
    functions:
      - 'const id = document_create("Written by a run"); document_append(id, "one"); document_append(id, "two"); document_comment(id, "seen"); document_comment(id, "again"); const below = document_create("Below", "text", id); document_create("Deeper", "", below); document_create("Beside", "", below); document_read(id)'
  - name: found
    type: function
    functions:
      - 'db_import_vuln("", {vuln_title: "Found", severity: "low"})'
      - 'db_import_vuln("", {vuln_title: "Found", severity: "high"})'
      - 'db_import_asset("", {host: "told.example.org", title: "Told"})'
      - 'register_artifact("numbers.txt")'
  - name: alongside
    type: parallel-steps
    parallel_steps:
      - {name: one, type: function, function: 'trim("1")'}
      - {name: two, type: bash, command: "echo 2"}
  - name: listed
    type: foreach
    input: [a, b]
    variable: x
    step: {name: item, type: function, function: 'trim("[[x]]")'}
  - name: lines
    type: foreach
    input: numbers.txt
    variable: n
    parallel: 50
    step: {name: line, type: function, function: 'trim("[[n]]")'}
  - {name: model, type: llm, messages: [{role: user, content: hello}], on_error: [{action: continue}]}
  - name: remote
    type: remote-bash
    step_runner: docker
    step_runner_config: {image: "alpine:3"}
    command: "true"
    on_error: [{action: continue}]
  - name: wrong
    type: bash
    command: "exit 3"
    on_error:
      - {action: run, type: bash, command: "echo mended"}
      - {action: continue}
`;

/** The longest texts of a definition: too large for an item or a message. */
const FILLER = Array.from({ length: 4 }, () => `    - ": ${"x".repeat(54_000)}"`).join("\n");

/** Runs until it is cancelled. */
export const WAITING = `
name: waiting
steps:
  - name: wait
    type: bash
    commands:
    - "sleep 120"
${FILLER}
`;

export const HEARD = `
name: heard
params: [{name: note, default: none}]
triggers:
  - {name: on-asset, type: event, topic: asset.discovered}
  - {name: daily, type: cron, schedule: "0 9 * * *"}
steps:
  - {name: hear, type: function, function: 'trim("{{note}}")'}
`;

/** Triggers of every kind, on events of every source: a request, a run, a schedule. */
export const TRIGGERED = `
name: triggered
triggers:
  - {name: hook, type: webhook, auth: none, input: {note: event_data.note}}
  - {name: clock, type: cron, schedule: "0 9 * * *"}
  - name: once
    type: event
    topic: "*.triggered"
    filters: ["event.data !== null"]
    dedupe_key: "{{event.topic}}{{event.data.schedule_id}}"
    dedupe_window: 1h
  - {name: ended, type: event, topic: run.started, dedupe_key: "{{event.run_id}}", filters: ["event.data.target === 'somebody'"]}
steps:
  - {name: hear, type: function, function: 'trim("heard")'}
`;

/** Triggered by a file that another workflow writes. */
export const WATCHING = `
name: watching
triggers:
  - {name: files, type: watch, path: "*/numbers.txt"}
steps:
  - {name: count, type: bash, command: "wc -l < {{Target}}"}
`;

export const CHAIN = `
name: chain
kind: flow
triggers:
  - {name: on-tour, type: event, topic: custom.tour}
modules:
  - {name: heard, path: heard}
`;

export const LOST = `
name: lost
triggers:
  - {name: on-lost, type: event, topic: custom.lost}
steps:
  - {name: found, type: function, function: 'trim("again")'}
`;

/** Works on documents as the user that the installation configures. */
export const WRITING = `
name: writing
params: [{name: own, default: ""}, {name: child, default: ""}]
steps:
  - {name: write, type: function, function: 'document_append(own, "more"); document_create("Written for somebody")'}
  - {name: place, type: function, function: 'document_create("Last", "", own); document_create("Inner", "", child)'}
`;

/** Once with a schedule, once without. */
export const shortWorkflow = (schedule: string | undefined): string => `
name: brief
${schedule === undefined ? "" : `triggers: [{name: morning, type: cron, schedule: "${schedule}"}]`}
steps:
  - {name: hello, type: bash, command: "echo hello"}
`;
