import type { Role } from "../access/roles.ts";
import type { MailKind } from "../tables/mails.ts";

interface EmailText {
  readonly subject: string;
  readonly heading: string;
  readonly body: string;
}

/** Texts of the emails. `{sender}`, `{title}`, `{role}` and `{brand}` are placeholders; values are escaped. */
export interface EmailTexts {
  readonly kinds: Readonly<Record<MailKind, EmailText>>;
  readonly roles: Readonly<Record<Role, string>>;
  readonly untitled: string;
  readonly open: string;
  readonly somebody: string;
  readonly foot: string;
  readonly unsubscribe: string;
}

/** One table per language; the types require every text in each of them. */
export const EMAIL_TEXTS = {
  en: {
    kinds: {
      shared: {
        subject: "{sender} shared a document with you: {title}",
        heading: "{sender} shared a document with you",
        body: "You are now {role} of the document “{title}”.",
      },
      invited: {
        subject: "{sender} shared a document with you: {title}",
        heading: "{sender} invited you to a document",
        body: "Once you sign in with this address, you will be {role} of the document “{title}”.",
      },
      asked: {
        subject: "{sender} requests access to a document: {title}",
        heading: "{sender} requests access to a document",
        body: "They would like to be {role} of the document “{title}”. Open its sharing settings to answer.",
      },
      created: {
        subject: "A document was created for you: {title}",
        heading: "A document was created for you",
        body: "The document “{title}” is yours. Sign in with this address to open it.",
      },
    },
    roles: {
      reader: "a reader",
      commenter: "a commenter",
      editor: "an editor",
      administrator: "an administrator",
      owner: "an owner",
    },
    untitled: "Untitled document",
    open: "Open the document",
    somebody: "Somebody",
    foot: "Sent by {brand}",
    unsubscribe: "Unsubscribe from such emails",
  },
  fr: {
    kinds: {
      shared: {
        subject: "{sender} a partagé un document avec vous : {title}",
        heading: "{sender} a partagé un document avec vous",
        body: "Votre rôle sur le document « {title} » : {role}.",
      },
      invited: {
        subject: "{sender} a partagé un document avec vous : {title}",
        heading: "{sender} vous invite à rejoindre un document",
        body: "Connectez-vous avec cette adresse pour ouvrir le document « {title} ». Votre rôle : {role}.",
      },
      asked: {
        subject: "{sender} demande l’accès à un document : {title}",
        heading: "{sender} demande l’accès à un document",
        body: "Document : « {title} ». Rôle souhaité : {role}. Répondez depuis les paramètres de partage.",
      },
      created: {
        subject: "Un document a été créé pour vous : {title}",
        heading: "Un document a été créé pour vous",
        body: "Le document « {title} » vous appartient. Connectez-vous avec cette adresse pour l’ouvrir.",
      },
    },
    roles: {
      reader: "lecture",
      commenter: "commentaire",
      editor: "édition",
      administrator: "administration",
      owner: "propriété",
    },
    untitled: "Document sans titre",
    open: "Ouvrir le document",
    somebody: "Quelqu’un",
    foot: "Envoyé par {brand}",
    unsubscribe: "Ne plus recevoir ces e-mails",
  },
  de: {
    kinds: {
      shared: {
        subject: "{sender} hat ein Dokument mit Ihnen geteilt: {title}",
        heading: "{sender} hat ein Dokument mit Ihnen geteilt",
        body: "Ihre Rolle für das Dokument „{title}“: {role}.",
      },
      invited: {
        subject: "{sender} hat ein Dokument mit Ihnen geteilt: {title}",
        heading: "{sender} hat Sie zu einem Dokument eingeladen",
        body: "Melden Sie sich mit dieser Adresse an, um das Dokument „{title}“ zu öffnen. Ihre Rolle: {role}.",
      },
      asked: {
        subject: "{sender} bittet um Zugriff auf ein Dokument: {title}",
        heading: "{sender} bittet um Zugriff auf ein Dokument",
        body: "Dokument: „{title}“. Gewünschte Rolle: {role}. Antworten Sie in den Freigabeeinstellungen.",
      },
      created: {
        subject: "Ein Dokument wurde für Sie erstellt: {title}",
        heading: "Ein Dokument wurde für Sie erstellt",
        body: "Das Dokument „{title}“ gehört Ihnen. Melden Sie sich mit dieser Adresse an, um es zu öffnen.",
      },
    },
    roles: {
      reader: "Lesen",
      commenter: "Kommentieren",
      editor: "Bearbeiten",
      administrator: "Verwalten",
      owner: "Eigentum",
    },
    untitled: "Unbenanntes Dokument",
    open: "Dokument öffnen",
    somebody: "Jemand",
    foot: "Gesendet von {brand}",
    unsubscribe: "Solche E-Mails abbestellen",
  },
  es: {
    kinds: {
      shared: {
        subject: "{sender} ha compartido un documento con usted: {title}",
        heading: "{sender} ha compartido un documento con usted",
        body: "Su rol en el documento «{title}»: {role}.",
      },
      invited: {
        subject: "{sender} ha compartido un documento con usted: {title}",
        heading: "{sender} le ha invitado a un documento",
        body: "Inicie sesión con esta dirección para abrir el documento «{title}». Su rol: {role}.",
      },
      asked: {
        subject: "{sender} solicita acceso a un documento: {title}",
        heading: "{sender} solicita acceso a un documento",
        body: "Documento: «{title}». Rol solicitado: {role}. Responda en los ajustes para compartir.",
      },
      created: {
        subject: "Se ha creado un documento para usted: {title}",
        heading: "Se ha creado un documento para usted",
        body: "El documento «{title}» es suyo. Inicie sesión con esta dirección para abrirlo.",
      },
    },
    roles: {
      reader: "lectura",
      commenter: "comentarios",
      editor: "edición",
      administrator: "administración",
      owner: "propiedad",
    },
    untitled: "Documento sin título",
    open: "Abrir el documento",
    somebody: "Alguien",
    foot: "Enviado por {brand}",
    unsubscribe: "Dejar de recibir estos correos",
  },
  it: {
    kinds: {
      shared: {
        subject: "{sender} ha condiviso un documento con te: {title}",
        heading: "{sender} ha condiviso un documento con te",
        body: "Il tuo ruolo nel documento «{title}»: {role}.",
      },
      invited: {
        subject: "{sender} ha condiviso un documento con te: {title}",
        heading: "{sender} ti ha invitato a un documento",
        body: "Accedi con questo indirizzo per aprire il documento «{title}». Il tuo ruolo: {role}.",
      },
      asked: {
        subject: "{sender} richiede l’accesso a un documento: {title}",
        heading: "{sender} richiede l’accesso a un documento",
        body: "Documento: «{title}». Ruolo richiesto: {role}. Rispondi nelle impostazioni di condivisione.",
      },
      created: {
        subject: "Un documento è stato creato per te: {title}",
        heading: "Un documento è stato creato per te",
        body: "Il documento «{title}» è tuo. Accedi con questo indirizzo per aprirlo.",
      },
    },
    roles: {
      reader: "lettura",
      commenter: "commento",
      editor: "modifica",
      administrator: "amministrazione",
      owner: "proprietà",
    },
    untitled: "Documento senza titolo",
    open: "Apri il documento",
    somebody: "Qualcuno",
    foot: "Inviato da {brand}",
    unsubscribe: "Non ricevere più queste e-mail",
  },
  nl: {
    kinds: {
      shared: {
        subject: "{sender} heeft een document met u gedeeld: {title}",
        heading: "{sender} heeft een document met u gedeeld",
        body: "Uw rol voor het document „{title}”: {role}.",
      },
      invited: {
        subject: "{sender} heeft een document met u gedeeld: {title}",
        heading: "{sender} heeft u uitgenodigd voor een document",
        body: "Meld u aan met dit adres om het document „{title}” te openen. Uw rol: {role}.",
      },
      asked: {
        subject: "{sender} vraagt toegang tot een document: {title}",
        heading: "{sender} vraagt toegang tot een document",
        body: "Document: „{title}”. Gevraagde rol: {role}. Antwoord in de instellingen voor delen.",
      },
      created: {
        subject: "Er is een document voor u gemaakt: {title}",
        heading: "Er is een document voor u gemaakt",
        body: "Het document „{title}” is van u. Meld u aan met dit adres om het te openen.",
      },
    },
    roles: {
      reader: "lezen",
      commenter: "reageren",
      editor: "bewerken",
      administrator: "beheren",
      owner: "eigendom",
    },
    untitled: "Naamloos document",
    open: "Document openen",
    somebody: "Iemand",
    foot: "Verzonden door {brand}",
    unsubscribe: "Afmelden voor deze e-mails",
  },
} as const satisfies Record<string, EmailTexts>;
export type EmailLanguage = keyof typeof EMAIL_TEXTS;
