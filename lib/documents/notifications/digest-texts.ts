import type { EmailLanguage } from "../mail/email-texts.ts";
import type { NotificationKind } from "../tables/notifications.ts";

/** Kinds that are sent in digests. */
export type DigestKind = Exclude<NotificationKind, "share" | "access_request">;

/** `{actor}`, `{title}`, `{workflow}`, `{run}`, `{count}` and `{brand}` are placeholders. */
interface DigestTexts {
  readonly one: Readonly<Record<DigestKind, { readonly subject: string; readonly line: string }>>;
  readonly several: Readonly<Record<"comments" | "runs", string>>;
  readonly more: string;
  readonly untitled: string;
  readonly somebody: string;
  readonly open: string;
  readonly foot: string;
  readonly unsubscribe: string;
}

export const DIGEST_TEXTS: Readonly<Record<EmailLanguage, DigestTexts>> = {
  en: {
    one: {
      comment: { subject: "{actor} commented on: {title}", line: "{actor} commented:" },
      reply: { subject: "{actor} replied in: {title}", line: "{actor} replied:" },
      mention: { subject: "{actor} mentioned you in: {title}", line: "{actor} mentioned you:" },
      failed_run: { subject: "A run of {workflow} failed", line: "Run {run} failed:" },
    },
    several: { comments: "{count} new comments in: {title}", runs: "{count} runs of {workflow} failed" },
    more: "There are {count} more.",
    untitled: "Untitled document",
    somebody: "Somebody",
    open: "Open the document",
    foot: "Sent by {brand}",
    unsubscribe: "Unsubscribe from such emails",
  },
  fr: {
    one: {
      comment: { subject: "{actor} a commenté : {title}", line: "{actor} a commenté :" },
      reply: { subject: "{actor} a répondu dans : {title}", line: "{actor} a répondu :" },
      mention: { subject: "{actor} vous a mentionné dans : {title}", line: "{actor} vous a mentionné :" },
      failed_run: { subject: "Une exécution de {workflow} a échoué", line: "L’exécution {run} a échoué :" },
    },
    several: {
      comments: "{count} nouveaux commentaires dans : {title}",
      runs: "{count} exécutions de {workflow} ont échoué",
    },
    more: "Il y en a {count} de plus.",
    untitled: "Document sans titre",
    somebody: "Quelqu’un",
    open: "Ouvrir le document",
    foot: "Envoyé par {brand}",
    unsubscribe: "Ne plus recevoir ces e-mails",
  },
  de: {
    one: {
      comment: { subject: "{actor} hat kommentiert: {title}", line: "{actor} hat kommentiert:" },
      reply: { subject: "{actor} hat geantwortet in: {title}", line: "{actor} hat geantwortet:" },
      mention: { subject: "{actor} hat Sie erwähnt in: {title}", line: "{actor} hat Sie erwähnt:" },
      failed_run: {
        subject: "Ein Lauf von {workflow} ist fehlgeschlagen",
        line: "Der Lauf {run} ist fehlgeschlagen:",
      },
    },
    several: {
      comments: "{count} neue Kommentare in: {title}",
      runs: "{count} Läufe von {workflow} sind fehlgeschlagen",
    },
    more: "Es gibt {count} weitere.",
    untitled: "Unbenanntes Dokument",
    somebody: "Jemand",
    open: "Dokument öffnen",
    foot: "Gesendet von {brand}",
    unsubscribe: "Solche E-Mails abbestellen",
  },
  es: {
    one: {
      comment: { subject: "{actor} ha comentado: {title}", line: "{actor} ha comentado:" },
      reply: { subject: "{actor} ha respondido en: {title}", line: "{actor} ha respondido:" },
      mention: { subject: "{actor} le ha mencionado en: {title}", line: "{actor} le ha mencionado:" },
      failed_run: {
        subject: "Una ejecución de {workflow} ha fallado",
        line: "La ejecución {run} ha fallado:",
      },
    },
    several: {
      comments: "{count} comentarios nuevos en: {title}",
      runs: "{count} ejecuciones de {workflow} han fallado",
    },
    more: "Hay {count} más.",
    untitled: "Documento sin título",
    somebody: "Alguien",
    open: "Abrir el documento",
    foot: "Enviado por {brand}",
    unsubscribe: "Dejar de recibir estos correos",
  },
  it: {
    one: {
      comment: { subject: "{actor} ha commentato: {title}", line: "{actor} ha commentato:" },
      reply: { subject: "{actor} ha risposto in: {title}", line: "{actor} ha risposto:" },
      mention: { subject: "{actor} ti ha menzionato in: {title}", line: "{actor} ti ha menzionato:" },
      failed_run: {
        subject: "Un’esecuzione di {workflow} non è riuscita",
        line: "L’esecuzione {run} non è riuscita:",
      },
    },
    several: {
      comments: "{count} nuovi commenti in: {title}",
      runs: "{count} esecuzioni di {workflow} non sono riuscite",
    },
    more: "Altre notifiche: {count}.",
    untitled: "Documento senza titolo",
    somebody: "Qualcuno",
    open: "Apri il documento",
    foot: "Inviato da {brand}",
    unsubscribe: "Non ricevere più queste e-mail",
  },
  nl: {
    one: {
      comment: { subject: "{actor} heeft gereageerd op: {title}", line: "{actor} heeft gereageerd:" },
      reply: { subject: "{actor} heeft geantwoord in: {title}", line: "{actor} heeft geantwoord:" },
      mention: { subject: "{actor} heeft u genoemd in: {title}", line: "{actor} heeft u genoemd:" },
      failed_run: {
        subject: "Een uitvoering van {workflow} is mislukt",
        line: "Uitvoering {run} is mislukt:",
      },
    },
    several: {
      comments: "{count} nieuwe reacties in: {title}",
      runs: "{count} uitvoeringen van {workflow} zijn mislukt",
    },
    more: "Er zijn er nog {count}.",
    untitled: "Naamloos document",
    somebody: "Iemand",
    open: "Document openen",
    foot: "Verzonden door {brand}",
    unsubscribe: "Afmelden voor deze e-mails",
  },
};
