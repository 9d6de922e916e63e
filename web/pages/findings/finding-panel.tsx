import type { ReactNode } from "react";
import { Link } from "wouter";
import { CopyTextButton } from "../../components/copy-text-button.tsx";
import { DetailsPanel, DetailsSection } from "../../components/details-panel.tsx";
import { Fact, Facts } from "../../components/facts.tsx";
import { JsonView } from "../../components/json-view.tsx";
import { TextView } from "../../components/text-view.tsx";
import { Time } from "../../components/time.tsx";
import { useTranslation } from "../../i18n/use-translation.ts";
import { Severity } from "./severity.tsx";

/** Fields that the facts show, or that say nothing to people. */
const SHOWN = [
  "id",
  "org_uuid",
  "workspace",
  "created_at",
  "updated_at",
  "last_seen_at",
  "vuln_title",
  "severity",
];

interface Finding {
  readonly workspace: string;
  readonly created_at: string;
  readonly last_seen_at: string;
  readonly severity?: string;
  readonly [name: string]: unknown;
}

interface Props {
  readonly title: string;
  readonly finding: Finding;
  readonly closeHref: string;
}

/** Everything that was reported about a finding. */
export function FindingPanel({ title, finding, closeHref }: Props): ReactNode {
  const { t } = useTranslation();
  const others = Object.entries(finding).filter(
    ([name, value]) => !SHOWN.includes(name) && value !== "" && value !== null,
  );
  const texts = others.filter(
    (entry): entry is [string, string] => typeof entry[1] === "string" && isLong(entry[1]),
  );
  const short = others.filter(([, value]) => !(typeof value === "string" && isLong(value)));
  const json = JSON.stringify(finding);
  return (
    <DetailsPanel title={title === "" ? t("findings.untitled") : title} closeHref={closeHref}>
      <Facts>
        {finding.severity !== undefined && (
          <Fact name={t("findings.severity")}>
            <Severity name={finding.severity} />
          </Fact>
        )}
        <Fact name={t("findings.workspace")}>
          <Link href={`/files?workspace=${encodeURIComponent(finding.workspace)}`}>{finding.workspace}</Link>
        </Fact>
        <Fact name={t("findings.first_seen")}>
          <Time value={finding.created_at} />
        </Fact>
        <Fact name={t("findings.last_seen")}>
          <Time value={finding.last_seen_at} />
        </Fact>
      </Facts>
      <DetailsSection
        title={t("findings.fields")}
        action={<CopyTextButton text={json} label={t("findings.copy")} />}
      >
        <JsonView label={t("findings.fields")} text={JSON.stringify(Object.fromEntries(short))} />
      </DetailsSection>
      {texts.map(([name, text]) => (
        <DetailsSection
          key={name}
          title={name}
          action={<CopyTextButton text={text} label={t("findings.copy")} />}
        >
          <TextView label={name} text={text} />
        </DetailsSection>
      ))}
    </DetailsPanel>
  );
}

/** Whether a text needs lines of its own. */
const isLong = (text: string): boolean => text.length > 100 || text.includes("\n");
