import type { ReactNode } from "react";
import { CopyTextButton } from "../../components/copy-text-button.tsx";
import { DetailsPanel, DetailsSection } from "../../components/details-panel.tsx";
import { Fact, Facts } from "../../components/facts.tsx";
import { useTranslation } from "../../i18n/use-translation.ts";
import { EvaluateForm } from "./evaluate-form.tsx";
import classes from "./functions.module.css";
import type { ScriptFunction } from "./functions-page.tsx";

interface Props {
  readonly entry: ScriptFunction;
  readonly closeHref: string;
}

/** What a function does, and a form that evaluates its example. */
export function FunctionPanel({ entry, closeHref }: Props): ReactNode {
  const { t } = useTranslation();
  const { name, signature, description, example, return_type, aliases, tags, available, place } = entry;
  return (
    <DetailsPanel title={name} closeHref={closeHref}>
      <p>{description}</p>
      <pre className={classes.code}>{signature}</pre>
      <Facts>
        <Fact name={t("functions.returns")}>
          <code>{return_type}</code>
        </Fact>
        <Fact name={t("functions.group")}>{tags.join(", ")}</Fact>
        {aliases.length > 0 && (
          <Fact name={t("functions.aliases")}>
            <code>{aliases.join(", ")}</code>
          </Fact>
        )}
        <Fact name={t("functions.place")}>
          {t(place === "workspace" ? "functions.place_workspace" : "functions.place_anywhere")}
        </Fact>
      </Facts>
      {!available && <p className={classes.problem}>{t("functions.unavailable")}</p>}
      {example !== "" && (
        <DetailsSection
          title={t("functions.example")}
          action={<CopyTextButton text={example} label={t("functions.copy_example")} />}
        >
          <pre className={classes.code}>{example}</pre>
        </DetailsSection>
      )}
      <DetailsSection title={t("functions.evaluate")}>
        <EvaluateForm script={example === "" ? `${name}()` : example} />
      </DetailsSection>
    </DetailsPanel>
  );
}
