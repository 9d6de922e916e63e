import type { Scan, ScannedConsumer, ScannedRoute } from "../scan.ts";

/** A service with a nested stack of its own. */
export type StackService = "workflows" | "documents";

export interface ServiceScan {
  readonly service: StackService;
  readonly routes: readonly ScannedRoute[];
  readonly consumers: readonly ScannedConsumer[];
}

/** The logical id of a service's stack in the main template. */
export const stackId = (service: StackService): string =>
  service === "workflows" ? "WorkflowsStack" : "DocumentsStack";

/** The file of a service's template, relative to the root. */
export const stackFile = (service: StackService): string => `infra/stacks/${service}.yaml`;

/** The parts of services that only some have. All consumers belong to the workflows so far. */
export function servicesOf({ routes, consumers }: Scan): ServiceScan[] {
  const services: readonly StackService[] = ["workflows", "documents"];
  return services
    .map((service) => ({
      service,
      routes: routes.filter(({ entry }) => entry.startsWith(`functions/${service}/`)),
      consumers: service === "workflows" ? consumers : [],
    }))
    .filter((found) => found.routes.length + found.consumers.length > 0);
}

/** Whether the converter and the renderer are in this service's stack. */
export const hasContentFunctions = (service: StackService): boolean => service === "documents";
