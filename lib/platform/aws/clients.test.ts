import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { GetItemCommand } from "@aws-sdk/client-dynamodb";
import { GetObjectCommand } from "@aws-sdk/client-s3";
import { describe, expect, it, onTestFinished } from "vitest";
import type { Environment, RetryLimits } from "./client-options.ts";
import { awsClients } from "./clients.ts";
import { withFaults } from "./faults.ts";

const ACCOUNT = { accessKeyId: "test", secretAccessKey: "test" };

async function serve(listener: RequestListener): Promise<string> {
  const server = createServer(listener).listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

function open(environment: Environment, patience?: RetryLimits) {
  const clients = awsClients(environment, "eu-west-1", patience);
  for (const client of [clients.dynamodb, clients.s3]) client.config.credentials = async () => ACCOUNT;
  onTestFinished(() => clients.close());
  return clients;
}

const get = new GetItemCommand({ TableName: "items", Key: { pk: { S: "p" }, sk: { S: "s" } } });

describe("the clients", () => {
  it("use the endpoints of the environment; an endpoint of one service overrides the common one", async () => {
    const requested: string[] = [];
    const answer = (name: string): RequestListener => {
      return (request, response) => {
        requested.push(`${name} ${request.url}`);
        response.setHeader("content-type", "application/x-amz-json-1.0").end("{}");
      };
    };
    const clients = open({
      AWS_ENDPOINT_URL: await serve(answer("all")),
      AWS_ENDPOINT_URL_DYNAMODB: await serve(answer("tables")),
    });
    await clients.dynamodb.send(get);
    await clients.s3.send(new GetObjectCommand({ Bucket: "bucket", Key: "a/b" }));
    expect(requested).toEqual(["tables /", "all /bucket/a/b?x-id=GetObject"]);
  });

  it("retry throttled requests", async () => {
    let requests = 0;
    const url = await serve((_, response) => {
      requests += 1;
      response.statusCode = requests < 3 ? 400 : 200;
      const body = requests < 3 ? { __type: "ThrottlingException", message: "slow down" } : {};
      response.setHeader("content-type", "application/x-amz-json-1.0").end(JSON.stringify(body));
    });
    await open({ AWS_ENDPOINT_URL: url }).dynamodb.send(get);
    expect(requests).toBe(3);
  });

  it("time out if there is no response", async () => {
    let requests = 0;
    const url = await serve(() => {
      requests += 1;
    });
    const { dynamodb } = open({ AWS_ENDPOINT_URL: url }, { requestTimeoutMs: 100, attempts: 2 });
    await expect(withFaults(() => dynamodb.send(get))).rejects.toMatchObject({ code: "unavailable" });
    expect(requests).toBe(2);
  });

  it("distinguish an unreachable endpoint from an error of the caller", async () => {
    const url = await serve(() => undefined);
    const { dynamodb } = open({ AWS_ENDPOINT_URL: url.replace(/\d+$/, "1") }, { attempts: 1 });
    await expect(withFaults(() => dynamodb.send(get))).rejects.toMatchObject({ code: "unavailable" });
  });
});
