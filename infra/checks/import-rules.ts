/** Who may import whom. `only` and `onlyTypes` speak of our own files; `never` of packages (`npm:…`) too. */
export interface ImportRule {
  readonly name: string;
  readonly why: string;
  /** Files that it is about; tests are never meant. */
  readonly from: RegExp;
  readonly except?: RegExp;
  readonly never?: RegExp;
  /** Of our own files, these alone… */
  readonly only?: RegExp;
  /** …and these for their types. */
  readonly onlyTypes?: RegExp;
}

const WORKFLOWS = /^lib\/workflows\//;
const DOCUMENTS = /^lib\/(?:documents|collaboration)\//;
const SERVICE = /^lib\/(?:workflows|documents|collaboration)\//;

/**
 * The folders of a service, lowest first: each imports only those before it, types included. A file directly in the
 * service that imports a folder, or that a folder imports, is named like one.
 */
export const FOLDER_ORDER: Readonly<Record<string, readonly string[]>> = {
  "lib/workflows": [
    "error-format.ts",
    "service.ts",
    "expressions",
    "cron",
    "schema",
    "store",
    "engine",
    "lists",
    "workspaces",
    "installation",
    "findings",
    "artifacts",
    "assets",
    "vulnerabilities",
    "script-library",
    "remote",
    "values",
    "steps",
    "runs",
    "streams",
    "triggers",
    "watches",
    "schedules",
    "uploads",
    "webhooks",
    "event-receiver",
    "health",
    "diffs",
    "dead-letters",
    "records",
    "script-api",
    "evaluation",
    "snapshots",
    "overview",
    "chains",
  ],
  "lib/documents": [
    "error-format.ts",
    "service.ts",
    "access",
    "fields.ts",
    "fold.ts",
    "html-page.ts",
    "tables",
    "changes",
    "users",
    "tree",
    "authorization",
    "grants",
    "events",
    "mail",
    "attachments",
    "updates",
    "content",
    "media",
    "sharing",
    "login",
    "connections",
    "threads",
    "full-text",
    "notifications",
    "lists",
    "records",
    "imports",
    "requests",
    "live-requests",
    "script-api",
    "configuration",
    "exports",
    "ai",
  ],
};

/** The services, by name: a consumer serves one of them. */
export const SERVICES: Readonly<Record<string, RegExp>> = { workflows: WORKFLOWS, documents: DOCUMENTS };

export const IMPORT_RULES: readonly ImportRule[] = [
  {
    name: "workflow-endpoints",
    why: "an endpoint of the workflow service uses lib/http, its service, lib/events, lib/app/aws.ts, and the routes of its variants",
    from: /^functions\/workflows\//,
    only: /^functions\/workflows\/|^lib\/(?:http|workflows|events|llm)\/|^lib\/(?:app\/aws|errors)\.ts$|^openapi\.json$|^examples\/workflow\.schema\.json$/,
    onlyTypes: /^lib\/(?:platform|settings)\/[^/]+\.ts$/,
  },
  {
    name: "document-endpoints",
    why: "an endpoint of the document service uses lib/http, its service, lib/events, lib/app/aws.ts, and the routes of its variants",
    from: /^functions\/documents\//,
    only: /^functions\/documents\/|^lib\/(?:http|documents|collaboration|events)\/|^lib\/(?:app\/aws|errors)\.ts$|^openapi\.json$/,
    onlyTypes: /^lib\/(?:platform|settings)\/[^/]+\.ts$/,
  },
  {
    name: "consumers",
    why: "a consumer uses the service that it serves, lib/events, and lib/app for its dependencies",
    from: /^functions\/(?:executors|consumers|schedules)\//,
    only: /^lib\/(?:workflows|documents|collaboration|events)\/|^lib\/(?:app\/(?:aws|compose)|errors)\.ts$/,
    onlyTypes: /^lib\/(?:platform|settings)\/[^/]+\.ts$/,
  },
  {
    name: "nothing-imports-functions",
    why: "a function is found by its folder and loaded by the path in template.yaml; an endpoint may import the route that it varies",
    from: /./,
    except: /^functions\/(?:workflows|documents)\//,
    never: /^functions\//,
  },
  {
    name: "nothing-imports-infra",
    why: "infra/ writes files, only bin/ may call it, and tests of tools that it installs",
    from: /./,
    except: /^(?:infra|bin|tests\/browser)\//,
    never: /^infra\//,
  },
  {
    name: "nothing-imports-localstack",
    why: "localstack/ runs Weft on one machine, only bin/ and bench/ may start it; infra/ reads the template with its parser",
    from: /./,
    except: /^(?:localstack|bin|bench|tests)\/|^infra\/template-resources\.ts$/,
    never: /^localstack\//,
  },
  {
    name: "nothing-imports-bench",
    why: "a benchmark is a program, and its harness measures from outside; infra/readme.ts writes the table of a step",
    from: /./,
    except: /^(?:bench|lib)\/|^infra\/readme\.ts$/,
    never: /^bench\//,
  },
  {
    name: "bench-on-what-runs",
    why: "a benchmark starts a server through localstack/, fills a data folder through lib/, or is a client",
    from: /^bench\//,
    only: /^(?:bench|client|lib|localstack|tests)\//,
  },
  {
    name: "lib-stands-alone",
    why: "lib/ imports nothing from outside lib/",
    from: /^lib\//,
    never: /^(?!lib\/)(?!npm:)(?!node:)/,
  },
  {
    name: "client-in-browsers",
    why: "client/ runs in browsers, with openapi-fetch, Yjs and the Hocuspocus provider and nothing else",
    from: /^client\//,
    never: /^(?!client\/|npm:(?:openapi-fetch|yjs|y-protocols|@hocuspocus\/provider)(?:\/|$))/,
  },
  {
    name: "web-in-browsers",
    why: "web/ runs in browsers: it uses packages and client/, and no code of the server",
    from: /^web\//,
    except: /^web\/build\//,
    never: /^(?!web\/|client\/|npm:)/,
  },
  {
    name: "nothing-imports-web",
    why: "the server serves the files that web/ is built into",
    from: /./,
    except: /^(?:web|tests)\//,
    never: /^web\//,
  },
  {
    name: "workflows-not-documents",
    why: "the two services communicate over the bus; lib/app composes both",
    from: WORKFLOWS,
    never: DOCUMENTS,
  },
  {
    name: "documents-not-workflows",
    why: "the two services communicate over the bus; lib/app composes both",
    from: DOCUMENTS,
    never: WORKFLOWS,
  },
  {
    name: "service-ports-by-type",
    why: "a service imports itself, lib/events, lib/ranked-index, lib/archives, the format of imported pages, errors, retries, suggestions, cookies, waiting requests, server-sent events, the matching of texts, and the types of the ports, of routes and of a page",
    from: SERVICE,
    only: /^lib\/(?:workflows|documents|collaboration|events|ranked-index|llm|network|archives)\/|^lib\/conversion\/(?:imported-page|exported-tree)\.ts$|^lib\/(?:durations|errors|escape-html|retry-on-conflict|suggestion)\.ts$|^lib\/platform\/(?:ids|text-match)\.ts$|^lib\/http\/(?:caller|client-network|cookies|csrf|request-origin|request-seats|server-sent-events|sliding-window)\.ts$/,
    onlyTypes:
      /^lib\/(?:platform|settings|mail)\/[^/]+\.ts$|^lib\/http\/(?:auth|event-streams|page|route|service)\.ts$/,
  },
  {
    name: "events-below-services",
    why: "lib/events uses lib/ranked-index, errors, retries, and the types of the ports and of a page",
    from: /^lib\/events\//,
    only: /^lib\/(?:events|ranked-index)\/|^lib\/(?:errors|retry-on-conflict)\.ts$|^lib\/platform\/ids\.ts$/,
    onlyTypes: /^lib\/(?:platform|settings)\/[^/]+\.ts$|^lib\/http\/page\.ts$/,
  },
  {
    name: "network-below-llm",
    why: "lib/network uses the types of the ports and settings",
    from: /^lib\/network\//,
    only: /^lib\/network\//,
    onlyTypes: /^lib\/(?:platform|settings)\/[^/]+\.ts$/,
  },
  {
    name: "llm-below-services",
    why: "both services use lib/llm, so it uses lib/network, durations, errors, and the types of the ports and settings",
    from: /^lib\/llm\//,
    only: /^lib\/(?:llm|network)\/|^lib\/(?:durations|errors)\.ts$/,
    onlyTypes: /^lib\/(?:platform|settings)\/[^/]+\.ts$/,
  },
  {
    name: "index-below-events",
    why: "the ranked index imports retries and the ports, and nothing about its records",
    from: /^lib\/ranked-index\//,
    only: /^lib\/ranked-index\/|^lib\/retry-on-conflict\.ts$/,
    onlyTypes: /^lib\/(?:platform|settings)\/[^/]+\.ts$/,
  },
  {
    name: "http-below-services",
    why: "lib/http uses errors and the types of the ports",
    from: /^lib\/http\//,
    only: /^lib\/http\/|^lib\/errors\.ts$/,
    onlyTypes: /^lib\/(?:platform|settings)\/[^/]+\.ts$/,
  },
  {
    name: "upgrades-know-what-is-stored",
    why: "lib/upgrades uses errors, the tables of the services and the types of the ports",
    from: /^lib\/upgrades\//,
    only: /^lib\/upgrades\/|^lib\/errors\.ts$|^lib\/workflows\/(?:.+\/)?table\.ts$|^lib\/documents\/tables\//,
    onlyTypes: /^lib\/(?:platform|settings)\/[^/]+\.ts$/,
  },
  {
    name: "platform-stands-alone",
    why: "lib/platform contains the ports and their two adapters; only the converter, the renderer and the secrets use other folders",
    from: /^lib\/platform\//,
    only: /^lib\/(?:platform|conversion|export|redaction)\//,
    onlyTypes: /^lib\/settings\//,
  },
  {
    name: "optional-packages",
    why: "packages that PUBLISH_AS_MIT=false adds are imported only where they are loaded on demand",
    from: /./,
    except: /^lib\/conversion\/editor-writers\.ts$/,
    never: /^npm:@(?:blocknote\/xl-|react-pdf\/)/,
  },
  {
    name: "below-the-platform",
    why: "lib/antivirus, lib/conversion, lib/export, lib/mail, lib/redaction and lib/settings are below lib/platform",
    from: /^lib\/(?:antivirus|conversion|export|mail|redaction|settings)\//,
    never: /^lib\/platform\//,
  },
  {
    name: "app-opens-platforms",
    why: "only lib/app opens an adapter; infra/ provisions AWS and starts emulators, and a benchmark models AWS",
    from: /./,
    except: /^lib\/(?:app|platform)\/|^infra\/(?:provision|emulators)|^bench\/cloud-model\//,
    never: /^lib\/platform\/(?:aws|embedded)\//,
  },
  {
    name: "lambda-without-embedded",
    why: "the bundle of a Lambda function contains neither the embedded platform nor code of a server",
    from: /^lib\/app\/(?:aws|compose)\.ts$/,
    never: /^lib\/platform\/embedded\/|^lib\/app\/(?:cli|local|worker)\.ts$/,
  },
  {
    name: "aws-on-demand",
    why: "lib/platform/aws/open.ts loads AWS's SDK with its first call, so a server on one machine starts without it",
    from: /^lib\/app\//,
    never: /^lib\/platform\/aws\/(?!open\.ts$)/,
  },
  {
    name: "cli-without-services",
    why: "a command that works without a server does not load the services",
    from: /^lib\/app\/cli\.ts$/,
    never: /^lib\/(?:workflows|documents|collaboration|events|http|app)\//,
  },
  {
    name: "ports-know-no-adapter",
    why: "a port imports no adapter",
    from: /^lib\/platform\/[^/]+\.ts$/,
    never: /^lib\/platform\/[^/]+\//,
  },
  {
    name: "adapters-apart",
    why: "an adapter does not import another adapter",
    from: /^lib\/platform\/embedded\//,
    never: /^lib\/platform\/aws\//,
  },
  {
    name: "aws-apart",
    why: "code shared by both adapters is next to the ports",
    from: /^lib\/platform\/aws\//,
    never: /^lib\/platform\/embedded\//,
  },
  {
    name: "app-above-lib",
    why: "a service receives its dependencies; lib/app composes them",
    from: /^lib\/(?!app\/)/,
    never: /^lib\/app\//,
  },
  {
    name: "tables-in-app",
    why: "a service knows its own tables; lib/tables.ts lists them for lib/app and the template",
    from: /^(?:lib|functions)\//,
    except: /^lib\/app\/(?:aws|cli)\.ts$/,
    never: /^lib\/tables\.ts$/,
  },
  {
    name: "aws-sdk-in-its-adapter",
    why: "only lib/platform/aws uses the AWS SDK, and a benchmark answers its requests",
    from: /./,
    except: /^lib\/platform\/aws\/|^bench\/cloud-model\//,
    never: /^npm:@(?:aws-sdk|smithy)\//,
  },
  {
    name: "hono-in-the-gateway",
    why: "functions take API Gateway's event; hono is the local gateway's",
    from: /./,
    except: /^(?:localstack|bench|tests)\//,
    never: /^npm:(?:hono|@hono\/)/,
  },
];
