import { createServer, type IncomingMessage, type Server } from "node:http";
import { afterEach, expect, it } from "vitest";
import { readParameter } from "./parameters.ts";

let server: Server | undefined;
afterEach(() => server?.close());

interface Seen {
  readonly headers: IncomingMessage["headers"];
  readonly body: string;
}

/** A parameter store that gives one answer, and what it was asked. */
async function store(
  status: number,
  answer: string,
): Promise<{ environment: Record<string, string>; seen: Seen[] }> {
  const seen: Seen[] = [];
  server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      seen.push({ headers: request.headers, body: Buffer.concat(chunks).toString() });
      response.writeHead(status).end(answer);
    });
  });
  await new Promise<void>((resolve) => server?.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as { port: number };
  const environment = {
    AWS_REGION: "eu-west-1",
    AWS_ENDPOINT_URL_SSM: `http://127.0.0.1:${port}`,
    AWS_ACCESS_KEY_ID: "test",
    AWS_SECRET_ACCESS_KEY: "secret",
    AWS_SESSION_TOKEN: "session",
  };
  return { environment, seen };
}

it("asks for the value decrypted, with a signature for the function's region and role", async () => {
  const { environment, seen } = await store(200, '{"Parameter":{"Name":"/weft/token","Value":"the value"}}');

  expect(await readParameter("/weft/token", environment)).toBe("the value");

  expect(JSON.parse(seen[0]!.body)).toEqual({ Name: "/weft/token", WithDecryption: true });
  expect(seen[0]!.headers).toMatchObject({
    "x-amz-target": "AmazonSSM.GetParameter",
    "x-amz-security-token": "session",
    authorization: expect.stringMatching(
      /^AWS4-HMAC-SHA256 Credential=test\/\d{8}\/eu-west-1\/ssm\/aws4_request, /,
    ),
  });
});

it.each([
  [400, '{"__type":"ParameterNotFound"}', undefined, "the parameter /weft/token: ParameterNotFound"],
  [400, '{"__type":"ThrottlingException","message":"Rate exceeded"}', "throttled", "Rate exceeded"],
  [503, "<html>", "unavailable", "503"],
])("says what went wrong, and whether a later try may help: %d %s", async (status, answer, code, message) => {
  const { environment } = await store(status, answer);

  const failure = await readParameter("/weft/token", environment).catch((error: unknown) => error);

  expect(failure).toMatchObject({ message: expect.stringContaining(message) });
  expect((failure as { code?: string }).code).toBe(code);
});

it("counts a store that does not answer as one to try again", async () => {
  const { environment } = await store(200, "");
  await new Promise((resolve) => server?.close(resolve));

  await expect(readParameter("/weft/token", environment)).rejects.toMatchObject({ code: "unavailable" });
});
