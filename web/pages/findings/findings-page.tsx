import type { ReactNode } from "react";
import { CopyCommand } from "../../components/copy-command.tsx";
import { FilterTabs } from "../../components/filter-tabs.tsx";
import classes from "../../components/page.module.css";
import { PageHeader } from "../../components/page-header.tsx";
import { useQueryParameters } from "../../components/query-parameters.ts";
import { useTranslation } from "../../i18n/use-translation.ts";
import { Assets } from "./assets.tsx";
import { Changes } from "./changes.tsx";
import { Vulnerabilities } from "./vulnerabilities.tsx";

const KINDS = ["vulnerabilities", "assets", "changes"] as const;
const PATHS = {
  vulnerabilities: "/automation/vulnerabilities",
  assets: "/automation/assets",
  changes: "/automation/vulnerabilities/diff",
} as const;

/** What workflows have found: vulnerabilities, assets, and what has changed between two times. */
export function FindingsPage(): ReactNode {
  const { t } = useTranslation();
  const [parameters, hrefWith] = useQueryParameters();
  const kind = KINDS.find((one) => one === parameters.get("kind")) ?? "vulnerabilities";
  const workspace = parameters.get("workspace") ?? "";
  const query = { workspace, severity: parameters.get("severity") ?? "" };
  return (
    <div className={classes.page}>
      <PageHeader
        title={t("findings.title")}
        action={
          <CopyCommand
            request={{ path: PATHS[kind], query }}
            weft={
              kind === "assets"
                ? ["assets", "list", ...(workspace === "" ? [] : ["--workspace", workspace])]
                : undefined
            }
          />
        }
      />
      <div className={classes.toolbar}>
        <FilterTabs
          label={t("findings.kinds")}
          tabs={KINDS.map((one) => ({
            name: t(`findings.${one}`),
            href: `/findings${new URLSearchParams({
              ...(one === "vulnerabilities" ? {} : { kind: one }),
              ...(workspace === "" ? {} : { workspace }),
            })
              .toString()
              .replace(/^(?=.)/, "?")}`,
            isCurrent: one === kind,
          }))}
        />
      </div>
      {kind === "vulnerabilities" && <Vulnerabilities />}
      {kind === "assets" && <Assets />}
      {kind === "changes" && <Changes key={hrefWith({})} />}
    </div>
  );
}
