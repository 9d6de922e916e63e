import { useQuery } from "@tanstack/react-query";
import { type ReactNode, useEffect, useRef } from "react";
import { Link, useLocation } from "wouter";
import { ErrorState } from "../../components/error-state.tsx";
import { useWindowTitle } from "../../components/window-title.ts";
import { useTranslation } from "../../i18n/use-translation.ts";
import { StatusPage } from "../../shell/status-page.tsx";
import classes from "./guide.module.css";
import { GUIDE_GROUPS, GUIDES, type Guide } from "./guides.ts";

/** A guide, which is in English, and the list of all guides. */
export function GuidePage({ name }: { readonly name: string }): ReactNode {
  const guide = GUIDES.find((one) => one.name === name);
  return guide === undefined ? <StatusPage kind="missing" /> : <GuideView guide={guide} />;
}

function GuideView({ guide }: { readonly guide: Guide }): ReactNode {
  useWindowTitle(guide.title);
  const text = useQuery({
    queryKey: ["guide", guide.name],
    staleTime: Number.POSITIVE_INFINITY,
    queryFn: guide.read,
  });
  return (
    <div className={classes.page}>
      {text.isError && <ErrorState error={text.error} onRetry={() => void text.refetch()} />}
      {text.isSuccess && <GuideText html={text.data} />}
      <Contents current={guide.name} />
    </div>
  );
}

/** The heading that the part of an address after `#` names: a letter is written as it is, or as `%` and its bytes. */
function headingOf(hash: string): HTMLElement | undefined {
  const ids = document.querySelectorAll<HTMLElement>("article [id]");
  return [...ids].find(({ id }) => hash === `#${id}` || hash === `#${encodeURIComponent(id)}`);
}

function GuideText({ html }: { readonly html: string }): ReactNode {
  const [, navigate] = useLocation();
  const article = useRef<HTMLElement>(null);
  // biome-ignore lint/correctness/useExhaustiveDependencies: another text is at another place
  useEffect(() => {
    if (location.hash === "") window.scrollTo(0, 0);
    else headingOf(location.hash)?.scrollIntoView();
  }, [html]);
  useEffect(() => {
    const element = article.current;
    const onClick = (event: MouseEvent): void => {
      const link = event.target instanceof Element ? event.target.closest("a") : null;
      const href = link?.getAttribute("href") ?? "";
      if (!href.startsWith("/guide/") || event.ctrlKey || event.metaKey || event.shiftKey) return;
      event.preventDefault();
      navigate(href);
      // The same guide is not drawn again.
      headingOf(link?.hash ?? "")?.scrollIntoView();
    };
    element?.addEventListener("click", onClick);
    return () => element?.removeEventListener("click", onClick);
  }, [navigate]);
  return (
    <article
      ref={article}
      lang="en"
      className={classes.text}
      // biome-ignore lint/security/noDangerouslySetInnerHtml: made from the guides when the page is built
      dangerouslySetInnerHTML={{ __html: html }}
    />
  );
}

function Contents({ current }: { readonly current: string }): ReactNode {
  const { t } = useTranslation();
  return (
    <nav aria-label={t("guide.contents")} className={classes.contents}>
      {GUIDE_GROUPS.map((group) => (
        <div key={group}>
          <h2>{t(`guide.${group}`)}</h2>
          <ul lang="en">
            {GUIDES.filter((guide) => guide.group === group).map(({ name, title }) => (
              <li key={name}>
                <Link href={`/guide/${name}`} aria-current={name === current ? "page" : undefined}>
                  {title}
                </Link>
              </li>
            ))}
          </ul>
        </div>
      ))}
    </nav>
  );
}
