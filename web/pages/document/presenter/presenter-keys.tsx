import type { ReactNode } from "react";
import { useTranslation } from "../../../i18n/use-translation.ts";
import classes from "./presenter.module.css";

const KEYS = [
  [["→", "↓", "Space", "Page Down"], "presenter.next"],
  [["←", "↑", "Page Up"], "presenter.previous"],
  [["Home"], "presenter.first"],
  [["End"], "presenter.last"],
  [["o"], "presenter.overview"],
  [["?"], "presenter.keys"],
  [["Esc"], "presenter.end"],
] as const;

/** The keys of the presentation. */
export function PresenterKeys(): ReactNode {
  const { t } = useTranslation();
  return (
    <section className={classes.keys}>
      <h2>{t("presenter.keys")}</h2>
      <dl>
        {KEYS.map(([keys, text]) => (
          <div key={text}>
            <dt>{t(text)}</dt>
            <dd>
              {keys.map((key) => (
                <kbd key={key}>{key}</kbd>
              ))}
            </dd>
          </div>
        ))}
      </dl>
    </section>
  );
}
