import * as z from "zod";
import { isMailAddress, type Letterhead } from "../platform/mail.ts";

const SMTP_PORT = 25;

const text = z
  .string()
  .optional()
  .transform((value) => (value === "" ? undefined : value));

const line = (name: string) =>
  text.refine((value) => value === undefined || !/\p{Cc}/u.test(value), `must be one line: ${name}`);

const address = (what: string) =>
  text.refine(
    (value) => value === undefined || (URL.canParse(value) && /^https?:$/.test(new URL(value).protocol)),
    `must be the address of ${what}, with http:// or https://`,
  );

const onOff = z
  .enum(["", "true", "false", "True", "False", "1", "0"], "must be true or false")
  .optional()
  .transform((value) => ["true", "1"].includes(value?.toLowerCase() ?? ""));

/** Settings of mails, by the names that installations have. Reference 7.1. */
export const mailSettingsShape = {
  DJANGO_EMAIL_HOST: line("a host").meta({
    description:
      "Mail server that takes mails by SMTP; without it they are laid into `mail/` of the data folder, and not sent at all by Lambda",
    default: "",
  }),
  DJANGO_EMAIL_PORT: text
    .refine(
      (value) =>
        value === undefined || (/^\d{1,5}$/.test(value) && Number(value) >= 1 && Number(value) <= 65_535),
      "must be a port, 1 to 65535",
    )
    .transform((value) => (value === undefined ? undefined : Number(value)))
    .meta({ description: "Its port", default: String(SMTP_PORT) }),
  DJANGO_EMAIL_HOST_USER: text.meta({ description: "Whom mails are sent as, where it asks", default: "" }),
  DJANGO_EMAIL_HOST_PASSWORD: text.meta({
    description:
      "Their password; also from a file, by the same name with _FILE; without it the secret of this name, if there is one",
    default: "",
  }),
  DJANGO_EMAIL_USE_TLS: onOff.meta({
    description: "Whether it is asked for TLS by STARTTLS",
    default: "false",
  }),
  DJANGO_EMAIL_USE_SSL: onOff.meta({ description: "Whether it speaks TLS from the start", default: "false" }),
  DJANGO_EMAIL_FROM: text
    .refine((value) => value === undefined || isMailAddress(value), "must be an e-mail address")
    .meta({ description: "Address that mails come from", default: "from@example.com" }),
  DJANGO_EMAIL_BRAND_NAME: line("a name").meta({
    description: "What mails call the service",
    default: "Docs",
  }),
  DJANGO_EMAIL_LOGO_IMG: address("a picture").meta({
    description: "Picture at the top of mails",
    default: "",
  }),
  DJANGO_EMAIL_URL_APP: address("the service").meta({
    description: "Where readers of mails open documents",
    default: "PUBLIC_URL, or the address of the gateway",
  }),
};

/** A mail server, and how it is spoken to. */
export interface SmtpSettings {
  readonly host: string;
  readonly port: number;
  readonly user: string | undefined;
  readonly password: string | undefined;
  readonly security: "none" | "starttls" | "tls";
}

export interface MailSettings {
  /** Without it mails go to a folder, or nowhere. */
  readonly smtp: SmtpSettings | undefined;
  readonly from: string;
  readonly letterhead: Letterhead;
}

type Given = z.infer<z.ZodObject<typeof mailSettingsShape>>;

/** Puts the settings together. Throws an Error that says what to change where they contradict each other. */
export function mailSettings(given: Given, gateway: string): MailSettings {
  const host = given.DJANGO_EMAIL_HOST;
  if (given.DJANGO_EMAIL_USE_TLS && given.DJANGO_EMAIL_USE_SSL)
    throw new Error("DJANGO_EMAIL_USE_TLS, DJANGO_EMAIL_USE_SSL: set one of them to false");
  const security = given.DJANGO_EMAIL_USE_SSL ? "tls" : given.DJANGO_EMAIL_USE_TLS ? "starttls" : "none";
  return {
    smtp:
      host === undefined
        ? undefined
        : {
            ...{ host, port: given.DJANGO_EMAIL_PORT ?? SMTP_PORT, security },
            ...{ user: given.DJANGO_EMAIL_HOST_USER, password: given.DJANGO_EMAIL_HOST_PASSWORD },
          },
    from: given.DJANGO_EMAIL_FROM ?? "from@example.com",
    letterhead: {
      brandName: given.DJANGO_EMAIL_BRAND_NAME ?? "Docs",
      logoUrl: given.DJANGO_EMAIL_LOGO_IMG,
      appUrl: (given.DJANGO_EMAIL_URL_APP ?? gateway).replace(/\/+$/, ""),
    },
  };
}
