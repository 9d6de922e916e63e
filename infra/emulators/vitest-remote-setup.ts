import { type Podman, startPodman } from "./podman.ts";
import { type Sshd, startSshd } from "./sshd.ts";

let podman: Podman | undefined;
let sshd: Sshd | undefined;

/** Global setup: starts a container engine and an sshd. All tests fail if one of them does not start. */
export async function setup(): Promise<void> {
  const started = await Promise.allSettled([startPodman(), startSshd()]);
  if (started[0].status === "fulfilled") podman = started[0].value;
  if (started[1].status === "fulfilled") sshd = started[1].value;
  if (podman === undefined || sshd === undefined) {
    await teardown();
    const reasons: unknown[] = started.flatMap((one) => (one.status === "rejected" ? [one.reason] : []));
    throw new AggregateError(reasons, reasons.map(String).join("; "));
  }
  Object.assign(process.env, {
    WEFT_TEST_DOCKER_HOST: podman.dockerHost,
    WEFT_TEST_IMAGE: podman.image,
    WEFT_TEST_SSHD: JSON.stringify(sshd),
  });
}

export async function teardown(): Promise<void> {
  await Promise.all([podman?.stop(), sshd?.stop()]);
}
