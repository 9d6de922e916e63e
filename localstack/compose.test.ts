import { execFile } from "node:child_process";
import { chmod, mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { describe, expect, it, onTestFinished } from "vitest";
import { parse } from "yaml";

const run = promisify(execFile);
const here = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

interface Service {
  readonly image: string;
  readonly ports: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
  readonly volumes: readonly string[];
  readonly healthcheck: { readonly test: readonly string[]; readonly interval: string };
}

describe("the compose file of LocalStack", async () => {
  const { services, volumes } = parse(await readFile(here("compose.yaml"), "utf8"));
  const service: Service = services.localstack;

  it("pins the release that is tested against, the one of the requirements", async () => {
    const requirements = await readFile(here("../infra/emulators/localstack/requirements.txt"), "utf8");
    const [, version] = /^localstack==(.+)$/m.exec(requirements) ?? [];
    expect(version).toBe("4.14.0");
    expect(service.image).toBe(`localstack/localstack:${version}`);
  });

  it("is reachable from this machine only", () => {
    expect(service.ports).toEqual(["127.0.0.1:4566:4566"]);
    expect(service).not.toHaveProperty("network_mode");
  });

  it("is healthy when the init scripts have ended", () => {
    const [kind, command] = service.healthcheck.test;
    expect(kind).toBe("CMD-SHELL");
    expect(command).toContain("/_localstack/init/ready");
  });

  it("has the services of the template's resources", () => {
    expect(service.environment["SERVICES"]?.split(",")).toEqual(
      expect.arrayContaining(["dynamodb", "events", "s3", "sqs"]),
    );
  });

  it("keeps its data in a volume, runs every script of init/, and mounts Docker's socket on request only", async () => {
    const sources = service.volumes.map((volume) => volume.split(":/")[0]);
    expect(sources).toEqual(["data", "./init", "${WEFT_DOCKER_SOCKET:-/dev/null}"]);
    expect(volumes).toHaveProperty("data");
    expect(service.volumes[1]).toBe("./init:/etc/localstack/init/ready.d:ro");
    for (const script of await readdir(here("init"))) {
      expect((await stat(here(`init/${script}`))).mode & 0o111).toBe(0o111);
    }
  });
});

/** Runs the init script beside an `awslocal` that has the parameters of the file `parameters`, one a line. */
async function initWith(parameters: string) {
  const folder = await mkdtemp(join(tmpdir(), "weft-init-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  const store = join(folder, "parameters");
  await writeFile(store, parameters);
  const awslocal = join(folder, "awslocal");
  await writeFile(
    awslocal,
    `#!/usr/bin/env bash
case "$2" in
  get-parameter) grep -q "^$4 " "${store}" ;;
  put-parameter) echo "$4 $6 $8" >> "${store}" ;;
esac
`,
  );
  await chmod(awslocal, 0o755);
  const env = { ...process.env, PATH: `${folder}${delimiter}${process.env["PATH"]}` };
  await run(here("init/access-token.sh"), [], { env });
  return readFile(store, "utf8");
}

describe("the init script of LocalStack", () => {
  it("creates a random access token", async () => {
    const made = [await initWith(""), await initWith("")];
    for (const line of made) expect(line).toMatch(/^\/weft\/access-token SecureString [\w-]{43}\n$/);
    expect(made[0]).not.toBe(made[1]);
  });

  it("keeps an existing one", async () => {
    const before = "/weft/access-token SecureString 0123456789abcdef\n";
    expect(await initWith(before)).toBe(before);
  });
});
