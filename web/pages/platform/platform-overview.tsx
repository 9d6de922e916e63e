import type { ReactNode } from "react";
import { Link } from "wouter";
import { useTranslation } from "../../i18n/use-translation.ts";
import classes from "./platform.module.css";
import type { Platform } from "./platform-page.tsx";

/** What an operator looks at first: what waits, and what has failed. */
export function PlatformOverview({ platform }: { readonly platform: Platform }): ReactNode {
  const { t, i18n } = useTranslation();
  const format = new Intl.NumberFormat(i18n.language).format;
  const { runs, queues, dead_letters, health, stack } = platform;
  const waiting = queues.reduce((sum, { visible, delayed }) => sum + (visible ?? 0) + (delayed ?? 0), 0);
  const processed = queues.reduce((sum, { in_flight }) => sum + (in_flight ?? 0), 0);
  return (
    <dl className={classes.overview}>
      <Row name={t("platform.running")} href="/runs?status=running">
        {t("platform.running_of", { running: format(runs.running), max: format(runs.concurrency_max) })}
      </Row>
      <Row name={t("platform.pending")} href="/runs?status=pending">
        {format(runs.pending)}
      </Row>
      <Row name={t("platform.waiting")} href="/platform?part=queues">
        {format(waiting)}
      </Row>
      <Row name={t("platform.processed")} href="/platform?part=queues">
        {format(processed)}
      </Row>
      <Row name={t("platform.dead_letters")} href="/dead-letters">
        {format(dead_letters)}
      </Row>
      {health.collaboration !== null && (
        <>
          <Row name={t("platform.rooms")}>{format(health.collaboration.rooms)}</Row>
          <Row name={t("platform.connections")}>{format(health.collaboration.connections)}</Row>
          {health.collaboration.advice !== "" && (
            <Row name={t("platform.collaboration")}>{health.collaboration.advice}</Row>
          )}
        </>
      )}
      {stack !== null && <Row name={t("platform.stack")}>{stack}</Row>}
    </dl>
  );
}

interface RowProps {
  readonly name: string;
  readonly href?: string;
  readonly children: ReactNode;
}

const Row = ({ name, href, children }: RowProps): ReactNode => (
  <div>
    <dt>{name}</dt>
    <dd>{href === undefined ? children : <Link href={href}>{children}</Link>}</dd>
  </div>
);
