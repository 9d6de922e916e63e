import {
  type Icon,
  IconBell,
  IconBolt,
  IconBug,
  IconCalendarClock,
  IconFileText,
  IconFolder,
  IconMailX,
  IconMathFunction,
  IconPlayerPlay,
  IconRoute,
  IconServer2,
  IconSettings,
  IconWebhook,
} from "@tabler/icons-react";

/** The parts of the navigation, in its order. Below them are the personal pages. */
export const SECTIONS = ["documents", "automation"] as const;

/** The pages of the navigation, in its order. */
export const NAVIGATION = [
  {
    section: "documents",
    path: "/",
    isCurrent: /^\/(?:$|d\/|new-document$)/,
    title: "navigation.documents",
    icon: IconFileText,
    keys: "g d",
  },
  {
    section: "automation",
    path: "/runs",
    isCurrent: /^\/runs(?:\/|$)/,
    title: "navigation.runs",
    icon: IconPlayerPlay,
    keys: "g r",
  },
  {
    section: "automation",
    path: "/workflows",
    isCurrent: /^\/(?:workflows(?:\/|$)|new-workflow$)/,
    title: "navigation.workflows",
    icon: IconRoute,
    keys: "g w",
  },
  {
    section: "automation",
    path: "/events",
    isCurrent: /^\/(?:events(?:\/|$)|send-event$)/,
    title: "navigation.events",
    icon: IconBolt,
    keys: "g e",
  },
  {
    section: "automation",
    path: "/schedules",
    isCurrent: /^\/schedules$/,
    title: "navigation.schedules",
    icon: IconCalendarClock,
    keys: "g s",
  },
  {
    section: "automation",
    path: "/findings",
    isCurrent: /^\/findings$/,
    title: "navigation.findings",
    icon: IconBug,
    keys: "g i",
  },
  {
    section: "automation",
    path: "/files",
    isCurrent: /^\/files$/,
    title: "navigation.files",
    icon: IconFolder,
    keys: "g f",
  },
  {
    section: "automation",
    path: "/webhooks",
    isCurrent: /^\/webhooks$/,
    title: "navigation.webhooks",
    icon: IconWebhook,
    keys: "g h",
  },
  {
    section: "automation",
    path: "/dead-letters",
    isCurrent: /^\/dead-letters$/,
    title: "navigation.dead_letters",
    icon: IconMailX,
    keys: "g x",
  },
  {
    section: "automation",
    path: "/functions",
    isCurrent: /^\/functions$/,
    title: "navigation.functions",
    icon: IconMathFunction,
    keys: "g u",
  },
  {
    section: "automation",
    path: "/platform",
    isCurrent: /^\/platform$/,
    title: "navigation.platform",
    icon: IconServer2,
    keys: "g p",
  },
  {
    section: "personal",
    path: "/notifications",
    isCurrent: /^\/notifications$/,
    title: "navigation.notifications",
    icon: IconBell,
    keys: "g n",
  },
  {
    section: "personal",
    path: "/settings/general",
    isCurrent: /^\/settings\//,
    title: "navigation.settings",
    icon: IconSettings,
    keys: "g ,",
  },
] as const satisfies readonly {
  readonly section: (typeof SECTIONS)[number] | "personal";
  readonly path: string;
  readonly isCurrent: RegExp;
  readonly title: string;
  readonly icon: Icon;
  readonly keys: string;
}[];
