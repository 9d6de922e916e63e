import type { ReactNode } from "react";
import { Link } from "wouter";
import type { DeadLetter } from "../../api/dead-letters.ts";
import { eventPath } from "../../api/events.ts";
import { CopyTextButton } from "../../components/copy-text-button.tsx";
import { DetailsPanel, DetailsSection } from "../../components/details-panel.tsx";
import { Fact, Facts } from "../../components/facts.tsx";
import { JsonView } from "../../components/json-view.tsx";
import { ExactTime } from "../../components/time.tsx";
import { useTranslation } from "../../i18n/use-translation.ts";
import { aboutOf } from "./message-subject.ts";

interface Props {
  readonly letter: DeadLetter;
  readonly closeHref: string;
}

/** Why a message failed, what it is about, and the message. */
export function DeadLetterPanel({ letter, closeHref }: Props): ReactNode {
  const { t } = useTranslation();
  const { id, queue, error, body, received_at } = letter;
  const { eventId, runId } = aboutOf(body);
  return (
    <DetailsPanel title={queue} closeHref={closeHref}>
      <Facts>
        <Fact name={t("dead_letters.received")}>
          <ExactTime value={received_at} />
        </Fact>
        {eventId !== undefined && (
          <Fact name={t("dead_letters.event")}>
            <Link href={eventPath(eventId)}>
              <code>{eventId}</code>
            </Link>
          </Fact>
        )}
        {runId !== undefined && (
          <Fact name={t("dead_letters.run")}>
            <Link href={`/runs/${encodeURIComponent(runId)}`}>
              <code>{runId}</code>
            </Link>
          </Fact>
        )}
        <Fact name={t("dead_letters.id")}>
          <code>{id}</code>
        </Fact>
      </Facts>
      <DetailsSection title={t("dead_letters.error")}>
        <p>{error === "" ? t("dead_letters.no_error") : error}</p>
      </DetailsSection>
      <DetailsSection
        title={t("dead_letters.message")}
        action={<CopyTextButton text={body} label={t("dead_letters.copy_message")} />}
      >
        <JsonView label={t("dead_letters.message")} text={body} />
      </DetailsSection>
    </DetailsPanel>
  );
}
