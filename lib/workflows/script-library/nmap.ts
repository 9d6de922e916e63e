import { isRecord, textOf } from "./argument-values.ts";
import { linesOf, pathOf, readText, writeLines } from "./file-access.ts";
import type { FunctionContext, LibraryFunction } from "./library-types.ts";
import { runCommand } from "./programs.ts";

const DEFAULT_FLAGS = "-sV -T4";
/** Text that nmap reads as one option or value; excludes names of files and scripts. */
const FLAG = /^-{0,2}[A-Za-z0-9][\w.,:=-]*$/;
const FILE_FLAG = /^-(?:o|iL|iR|-script|-datadir|-resume|-stylesheet|-excludefile|-servicedb|-versiondb)/;
const TARGET = /^[A-Za-z0-9_[\]][\w.:/,[\]-]*$/;

interface Port {
  readonly protocol: string;
  readonly state: string;
  readonly service: string;
  readonly product?: string;
  readonly version: string;
  readonly service_info?: string;
}

/** A scanned host, as a JSON line that assets are imported from. */
interface Host {
  readonly asset_value: string;
  readonly host_ip: string;
  readonly asset_type: "ip";
  /** `80/tcp`, open or filtered. */
  readonly open_ports: readonly string[];
  readonly ports: Readonly<Record<string, Port>>;
}

let Parser: typeof import("fast-xml-parser").XMLParser | undefined;

const prepare = async (): Promise<void> => {
  Parser ??= (await import("fast-xml-parser")).XMLParser;
};

function toHost(address: string, ports: readonly (readonly [number: string, port: Port])[]): Host[] {
  if (address === "" || ports.length === 0) return [];
  const open = ports.filter(([, { state }]) => state === "open" || state === "filtered");
  return [
    {
      asset_value: address,
      host_ip: address,
      asset_type: "ip",
      open_ports: open.map(([number, { protocol }]) => `${number}/${protocol}`),
      ports: Object.fromEntries(ports),
    },
  ];
}

const listOf = (value: unknown): Record<string, unknown>[] =>
  (Array.isArray(value) ? value : [value]).filter((item) => isRecord(item));

function xmlHosts(text: string): Host[] {
  if (Parser === undefined) throw new Error("XML is loaded only for scripts that name the function");
  // Rejects entity declarations: nmap writes none, and entity expansion is an attack.
  if (/<!ENTITY/i.test(text)) throw new Error("XML with entities is not supported");
  const parser = new Parser({
    ignoreAttributes: false,
    attributeNamePrefix: "",
    parseAttributeValue: false,
    processEntities: true,
  });
  const document: unknown = parser.parse(text, true);
  const run = isRecord(document) ? document["nmaprun"] : undefined;
  if (!isRecord(run)) throw new Error("the file is not XML of nmap");
  return listOf(run["host"]).flatMap((host) => {
    const addresses = listOf(host["address"]);
    const address = addresses.find(({ addrtype }) => addrtype !== "mac") ?? {};
    const ports = listOf(isRecord(host["ports"]) ? host["ports"]["port"] : undefined).map(
      (port): readonly [string, Port] => {
        const [state = {}] = listOf(port["state"]);
        const [service = {}] = listOf(port["service"]);
        const { name, product, version, extrainfo, method } = service;
        const info = textOf(extrainfo) || (textOf(method) === "" ? "" : `method=${textOf(method)}`);
        return [
          textOf(port["portid"]),
          {
            protocol: textOf(port["protocol"]),
            state: textOf(state["state"]),
            service: textOf(name),
            product: textOf(product),
            version: textOf(version),
            service_info: info,
          },
        ];
      },
    );
    return toHost(textOf(address["addr"]), ports);
  });
}

/** Hosts of nmap's grepable format, line by line. */
function* grepableHosts(path: unknown, context: FunctionContext): Generator<Host> {
  for (const line of linesOf(path, context)) {
    const address = /^Host: (\S+)/.exec(line)?.[1] ?? "";
    const listed = line.split("\t").find((part) => part.startsWith("Ports: ")) ?? "";
    const ports = listed
      .slice("Ports: ".length)
      .split(", ")
      .flatMap((entry): (readonly [string, Port])[] => {
        const [number = "", state = "", protocol = "", , service = "", , version = ""] = entry
          .trim()
          .split("/");
        return protocol === "" ? [] : [[number, { protocol, state, service, version }]];
      });
    yield* toHost(address, ports);
  }
}

function convert(input: unknown, output: unknown, context: FunctionContext): void {
  const lines = function* (): Generator<string> {
    const grepable = /\.gnmap$/i.test(textOf(input));
    const hosts = grepable ? grepableHosts(input, context) : xmlHosts(readText(input, context));
    for (const host of hosts) yield JSON.stringify(host);
  };
  writeLines(output, lines(), context);
}

export const nmapFunctions = {
  nmap_to_jsonl: {
    group: "output",
    params: ["input", "output"],
    returns: "boolean",
    summary:
      "Writes the results of nmap as JSON lines, one per host: from its XML (up to 10 MiB) or a .gnmap file",
    failure: false,
    prepare,
    run: ([input, output], context: FunctionContext) => {
      convert(input, output, context);
      return true;
    },
  },
  run_nmap: {
    group: "output",
    params: ["target", "flags?", "output?"],
    returns: "string",
    summary: `Runs nmap (${DEFAULT_FLAGS} by default) and writes its results as JSON lines; returns their file, empty if it fails`,
    example: 'run_nmap("10.0.0.1", "-sV -p 80,443")',
    failure: "",
    prepare,
    run: ([given, flags, output], context: FunctionContext) => {
      const target = textOf(given).trim();
      const words = (textOf(flags) || DEFAULT_FLAGS).split(/\s+/).filter((word) => word !== "");
      if (!TARGET.test(target)) throw new Error("the target is not valid");
      if (words.some((word) => !FLAG.test(word) || FILE_FLAG.test(word)))
        throw new Error("flags with files or scripts are not allowed");
      const name = target.replaceAll(/[^A-Za-z0-9]+/g, "-");
      const xml = pathOf(`.nmap-${name}.xml`, context);
      const file = pathOf(textOf(output) || `nmap-${name}.jsonl`, context);
      runCommand(
        'set -f; nmap $FLAGS -oX "$XML" -- "$TARGET" >/dev/null',
        { FLAGS: words.join(" "), XML: xml, TARGET: target },
        context,
      );
      convert(xml, file, context);
      runCommand('rm -f -- "$XML"', { XML: xml }, context);
      return file;
    },
  },
} satisfies Record<string, LibraryFunction>;
