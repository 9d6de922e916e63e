import { useDisclosure } from "@mantine/hooks";
import { IconLayoutSidebar, IconMenu2, IconSearch } from "@tabler/icons-react";
import {
  type CSSProperties,
  type ReactNode,
  useCallback,
  useEffect,
  useId,
  useMemo,
  useRef,
  useState,
} from "react";
import { Link, useLocation } from "wouter";
import type { Schemas } from "../../client/api.ts";
import { useCreateDocument } from "../api/documents.ts";
import { useUnreadCount } from "../api/unread.ts";
import { IconButton } from "../components/icon-button.tsx";
import { later } from "../components/later.tsx";
import { useTranslation } from "../i18n/use-translation.ts";
import { AccountButton } from "./account-button.tsx";
import { ConnectionNotice } from "./connection-notice.tsx";
import { HelpButton } from "./help-button.tsx";
import { NAVIGATION, SECTIONS } from "./navigation.ts";
import classes from "./shell.module.css";
import { useShortcuts } from "./shortcuts.ts";
import { SIDE_WIDTH_KEY, SIDE_WIDTH_PROPERTY } from "./side-width.ts";

const ICON_SIZE = 18;

const UNREAD_SHOWN_MAX = 99;
const NARROW_KEY = "weft.narrow";

/* Loaded after the page, or when they are first opened. */
const AccountMenu = later(async () => (await import("./account-menu.tsx")).AccountMenu, {
  texts: ["settings"],
  before: AccountButton,
});
const Brand = later(async () => (await import("./brand.tsx")).Brand, {
  before: () => "Weft",
  isLast: true,
  isOptional: true,
});
const CommandPalette = later(async () => (await import("./command-palette.tsx")).CommandPalette, {
  texts: ["help"],
});
const NavigationSheet = later(async () => (await import("./navigation-sheet.tsx")).NavigationSheet);
const DocumentTree = later(async () => (await import("../tree/document-tree.tsx")).DocumentTree, {
  texts: ["tree", "transfer"],
  isLast: true,
  isOptional: true,
});
const SideHandle = later(async () => (await import("./side-handle.tsx")).SideHandle, {
  texts: ["tree"],
  isLast: true,
  isOptional: true,
});
const ImportList = later(async () => (await import("../transfer/import-list.tsx")).ImportList, {
  texts: ["transfer"],
  isLast: true,
  isOptional: true,
});
const HelpMenu = later(async () => (await import("./help-menu.tsx")).HelpMenu, {
  texts: ["help"],
  before: HelpButton,
});
const ShortcutSheet = later(async () => (await import("./shortcut-sheet.tsx")).ShortcutSheet, {
  texts: ["help"],
});

interface Props {
  readonly me: Schemas["User"];
  readonly children: ReactNode;
}

/** Time after which the page is kept for use without a connection: everything else is loaded first, milliseconds. */
const KEEP_AFTER_MS = 3_000;

/** What every page has around it. */
export function Shell({ me, children }: Props): ReactNode {
  const { t } = useTranslation();
  const [path, navigate] = useLocation();
  const sheet = useOverlay();
  const menu = useOverlay();
  const palette = useOverlay();
  const { mutate: create } = useCreateDocument();
  const [isNarrow, toggleNarrow] = useNarrow();
  const [style] = useState(
    () => ({ [SIDE_WIDTH_PROPERTY]: localStorage.getItem(SIDE_WIDTH_KEY) ?? undefined }) as CSSProperties,
  );
  const main = useRef<HTMLElement>(null);
  const shortcuts = useMemo(
    () => ({
      "mod+k": palette.open,
      "?": sheet.open,
      "[": toggleNarrow,
      "/": () => document.querySelector<HTMLInputElement>("[data-filter]")?.focus(),
      c: () => create(),
      ...Object.fromEntries(NAVIGATION.map((page) => [page.keys, () => navigate(page.path)])),
    }),
    [palette.open, sheet.open, toggleNarrow, create, navigate],
  );
  useShortcuts(shortcuts);
  useEffect(() => {
    const timer = setTimeout(() => {
      void import("../offline/keep-offline.ts").then(
        ({ keepOffline }) => keepOffline(),
        () => undefined,
      );
    }, KEEP_AFTER_MS);
    return () => clearTimeout(timer);
  }, []);
  const isFirstPage = useRef(true);
  // biome-ignore lint/correctness/useExhaustiveDependencies: a new address is what this is about
  useEffect(() => {
    menu.close();
    // Where a browser would put the focus after a link: at the beginning of the new page.
    if (!isFirstPage.current) main.current?.focus({ preventScroll: true });
    isFirstPage.current = false;
    // The page leads to the place that the address names.
    if (location.hash === "") window.scrollTo(0, 0);
  }, [path]);
  const side = (narrow: boolean, onNarrow?: () => void): ReactNode => (
    <SideBar me={me} isNarrow={narrow} onNarrow={onNarrow} onShortcuts={sheet.open} onSearch={palette.open} />
  );
  return (
    <div className={classes.shell} style={style} data-shell data-narrow={isNarrow || undefined}>
      <a className={classes.skip} href="#main">
        {t("app.skip")}
      </a>
      <header className={classes.top}>
        <IconButton size="xl" aria-label={t("app.open_navigation")} onClick={menu.open}>
          <IconMenu2 size={ICON_SIZE} aria-hidden />
        </IconButton>
        <Link href="/" className={classes.name}>
          <Brand />
        </Link>
      </header>
      <header className={classes.side}>
        {side(isNarrow, toggleNarrow)}
        {!isNarrow && <SideHandle />}
      </header>
      <main id="main" ref={main} tabIndex={-1} className={classes.main}>
        <ConnectionNotice />
        {children}
      </main>
      <ImportList />
      {menu.wasOpened && (
        <NavigationSheet isOpen={menu.isOpen} onClose={menu.close}>
          {side(false)}
        </NavigationSheet>
      )}
      {palette.wasOpened && <CommandPalette isOpen={palette.isOpen} onClose={palette.close} />}
      {sheet.wasOpened && <ShortcutSheet isOpen={sheet.isOpen} onClose={sheet.close} />}
    </div>
  );
}

/** Something that opens above the page. Once opened it stays in the page, so that the focus returns when it closes. */
function useOverlay(): {
  readonly isOpen: boolean;
  readonly wasOpened: boolean;
  readonly open: () => void;
  readonly close: () => void;
} {
  const [isOpen, { open, close }] = useDisclosure();
  const [wasOpened, opened] = useDisclosure();
  useEffect(() => {
    if (isOpen) opened.open();
  }, [isOpen, opened.open]);
  return { isOpen, wasOpened, open, close };
}

/** Whether the navigation shows only symbols, which is remembered on this device. */
function useNarrow(): readonly [boolean, () => void] {
  const [isNarrow, setNarrow] = useState(() => localStorage.getItem(NARROW_KEY) !== null);
  const toggle = useCallback(
    () =>
      setNarrow((current) => {
        if (current) localStorage.removeItem(NARROW_KEY);
        else localStorage.setItem(NARROW_KEY, "true");
        return !current;
      }),
    [],
  );
  return [isNarrow, toggle];
}

interface SideBarProps {
  readonly me: Schemas["User"];
  readonly isNarrow: boolean;
  /** Undefined where the width does not change. */
  readonly onNarrow: (() => void) | undefined;
  readonly onShortcuts: () => void;
  readonly onSearch: () => void;
}

function SideBar({ me, isNarrow, onNarrow, onShortcuts, onSearch }: SideBarProps): ReactNode {
  const { t } = useTranslation();
  const id = useId();
  return (
    <div className={classes.bar}>
      <div className={classes.head}>
        <Link href="/" className={classes.name}>
          <Brand />
        </Link>
        {onNarrow !== undefined && (
          <IconButton
            aria-label={t(isNarrow ? "app.expand" : "app.collapse")}
            aria-pressed={isNarrow}
            onClick={onNarrow}
          >
            <IconLayoutSidebar size={ICON_SIZE} stroke={1.75} aria-hidden />
          </IconButton>
        )}
      </div>
      <button
        type="button"
        className={classes.search}
        title={isNarrow ? "Ctrl+K" : undefined}
        onClick={onSearch}
      >
        <IconSearch size={16} aria-hidden />
        <span className={classes.text}>{t("app.search")}</span>
        <kbd className={classes.text}>Ctrl+K</kbd>
      </button>
      <nav aria-label={t("app.navigation")} className={classes.nav}>
        {SECTIONS.map((section) => (
          <div
            key={section}
            className={classes[section]}
            data-scroller={section === "documents" || undefined}
          >
            <p id={id + section} className={classes.section}>
              {t(`navigation.${section}`)}
            </p>
            <ul aria-labelledby={id + section}>
              {NAVIGATION.filter((page) => page.section === section).map((page) => (
                <li key={page.path}>
                  <PageLink page={page} isNarrow={isNarrow} />
                </li>
              ))}
            </ul>
            {section === "documents" && !isNarrow && <DocumentTree />}
          </div>
        ))}
      </nav>
      <div className={classes.foot}>
        <ul>
          {NAVIGATION.filter((page) => page.section === "personal").map((page) => (
            <li key={page.path}>
              <PageLink page={page} isNarrow={isNarrow}>
                {page.path === "/notifications" && <UnreadCount />}
              </PageLink>
            </li>
          ))}
        </ul>
        <Help isNarrow={isNarrow} onShortcuts={onShortcuts} />
        <Account me={me} />
      </div>
    </div>
  );
}

/** How many notifications are unread; nothing if there are none. */
function UnreadCount(): ReactNode {
  const { t } = useTranslation();
  const count = useUnreadCount();
  if (count === 0) return null;
  return (
    <span className={classes.count}>
      <span aria-hidden>{count > UNREAD_SHOWN_MAX ? `${UNREAD_SHOWN_MAX}+` : count}</span>
      <span className="hidden">{t("app.unread", { count })}</span>
    </span>
  );
}

interface PageLinkProps {
  readonly page: (typeof NAVIGATION)[number];
  readonly isNarrow: boolean;
  readonly children?: ReactNode;
}

function PageLink({ page, isNarrow, children }: PageLinkProps): ReactNode {
  const { path: to, title, icon: Icon, isCurrent } = page;
  const { t } = useTranslation();
  const [path] = useLocation();
  return (
    <Link
      href={to}
      className={classes.link}
      title={isNarrow ? t(title) : undefined}
      aria-current={isCurrent.test(path) ? "page" : undefined}
    >
      <Icon size={ICON_SIZE} stroke={1.75} aria-hidden />
      <span className={classes.text}>{t(title)}</span>
      {children}
    </Link>
  );
}

/** The button of the help, and its menu from the first click on. */
function Help(props: Pick<SideBarProps, "isNarrow" | "onShortcuts">): ReactNode {
  const [isOpened, opened] = useDisclosure();
  return isOpened ? <HelpMenu {...props} /> : <HelpButton {...props} onClick={opened.open} />;
}

/** The account's button, and its menu from the first click on. */
function Account({ me }: Pick<SideBarProps, "me">): ReactNode {
  const [isOpened, opened] = useDisclosure();
  return isOpened ? <AccountMenu me={me} /> : <AccountButton me={me} onClick={opened.open} />;
}
