import type { Service } from "../http/service.ts";
import { workflowErrorFormat } from "./error-format.ts";

/** The workflow service as the HTTP layer knows it. */
export const workflowsService: Service = {
  name: "workflows",
  basePath: "/automation",
  tokenScope: "automation",
  errorFormat: workflowErrorFormat,
};

/** Endpoints of the installation, outside of both services: its health and its API reference. */
export const rootService: Service = { name: "root", basePath: "", errorFormat: workflowErrorFormat };
