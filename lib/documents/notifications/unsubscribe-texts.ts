import type { EmailLanguage } from "../mail/email-texts.ts";
import type { NotificationKind } from "../tables/notifications.ts";

interface PageTexts {
  readonly kinds: Readonly<Record<NotificationKind, string>>;
  readonly ask: string;
  readonly question: string;
  readonly button: string;
  readonly done: string;
  readonly result: string;
}

export const UNSUBSCRIBE_TEXTS: Readonly<Record<EmailLanguage, PageTexts>> = {
  en: {
    kinds: {
      comment: "new threads",
      reply: "replies",
      mention: "mentions",
      share: "shared documents",
      access_request: "access requests",
      failed_run: "failed runs",
    },
    ask: "Unsubscribe",
    question: "Do you no longer want to receive emails about {kinds}?",
    button: "Unsubscribe",
    done: "You are unsubscribed",
    result:
      "You receive no more emails about {kinds}. You can turn them on again in your notification settings.",
  },
  fr: {
    kinds: {
      comment: "les nouveaux commentaires",
      reply: "les réponses",
      mention: "les mentions",
      share: "les documents partagés",
      access_request: "les demandes d’accès",
      failed_run: "les exécutions échouées",
    },
    ask: "Désabonnement",
    question: "Ne plus recevoir d’e-mails concernant {kinds} ?",
    button: "Se désabonner",
    done: "Vous êtes désabonné",
    result:
      "Vous ne recevrez plus d’e-mails concernant {kinds}. Vous pouvez les réactiver dans vos paramètres de notification.",
  },
  de: {
    kinds: {
      comment: "neue Kommentare",
      reply: "Antworten",
      mention: "Erwähnungen",
      share: "geteilte Dokumente",
      access_request: "Zugriffsanfragen",
      failed_run: "fehlgeschlagene Läufe",
    },
    ask: "Abbestellen",
    question: "Möchten Sie keine E-Mails über {kinds} mehr erhalten?",
    button: "Abbestellen",
    done: "Sie haben die E-Mails abbestellt",
    result:
      "Sie erhalten keine E-Mails über {kinds} mehr. Sie können sie in Ihren Benachrichtigungseinstellungen wieder einschalten.",
  },
  es: {
    kinds: {
      comment: "comentarios nuevos",
      reply: "respuestas",
      mention: "menciones",
      share: "documentos compartidos",
      access_request: "solicitudes de acceso",
      failed_run: "ejecuciones fallidas",
    },
    ask: "Cancelar la suscripción",
    question: "¿Ya no quiere recibir correos sobre {kinds}?",
    button: "Cancelar la suscripción",
    done: "Ha cancelado la suscripción",
    result:
      "Ya no recibirá correos sobre {kinds}. Puede volver a activarlos en sus ajustes de notificaciones.",
  },
  it: {
    kinds: {
      comment: "nuovi commenti",
      reply: "risposte",
      mention: "menzioni",
      share: "documenti condivisi",
      access_request: "richieste di accesso",
      failed_run: "esecuzioni non riuscite",
    },
    ask: "Annulla l’iscrizione",
    question: "Non vuoi più ricevere e-mail su {kinds}?",
    button: "Annulla l’iscrizione",
    done: "Iscrizione annullata",
    result: "Non riceverai più e-mail su {kinds}. Puoi riattivarle nelle impostazioni delle notifiche.",
  },
  nl: {
    kinds: {
      comment: "nieuwe reacties",
      reply: "antwoorden",
      mention: "vermeldingen",
      share: "gedeelde documenten",
      access_request: "toegangsverzoeken",
      failed_run: "mislukte uitvoeringen",
    },
    ask: "Afmelden",
    question: "Wilt u geen e-mails meer ontvangen over {kinds}?",
    button: "Afmelden",
    done: "U bent afgemeld",
    result:
      "U ontvangt geen e-mails meer over {kinds}. U kunt ze weer inschakelen in uw meldingsinstellingen.",
  },
};
