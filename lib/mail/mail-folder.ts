import { mkdir, readdir, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { isMailAddress, type Mailer } from "./mail.ts";
import { type MailSender, messageOf } from "./mail-message.ts";

/** Maximum number of mails in the folder; the oldest are deleted. */
export const STORED_MAILS_MAX = 1_000;

const ID = /^[\w-]{1,64}$/;

/** Writes mails into a folder, one file each, which any mail client opens: for installations without a mail server. */
export function folderMailer(folder: string, from: MailSender, most = STORED_MAILS_MAX): Mailer {
  return {
    send: async (mail) => {
      if (!isMailAddress(mail.to) || !ID.test(mail.id)) return "refused";
      const { createTransport } = await import("nodemailer");
      const transport = createTransport({ streamTransport: true, buffer: true });
      const { message } = await transport.sendMail(messageOf(mail, from));
      await mkdir(folder, { recursive: true, mode: 0o700 });
      const path = join(folder, `${mail.id}.eml`);
      await writeFile(`${path}.part`, message as Buffer, { mode: 0o600 });
      // An existing file of the same mail has the same content.
      await rename(`${path}.part`, path);
      await forgetOld(folder, most);
      return "sent";
    },
  };
}

/** Names begin with the time. */
async function forgetOld(folder: string, most: number): Promise<void> {
  const names = (await readdir(folder)).filter((name) => name.endsWith(".eml")).toSorted();
  for (const name of names.slice(0, Math.max(0, names.length - most)))
    await rm(join(folder, name), { force: true });
}
