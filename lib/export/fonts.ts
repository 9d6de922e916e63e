import { writePdf } from "./pdf.ts";

/** Words in each script that a PDF should show. */
const SAMPLES = {
  Latin: "Voilà, naïve façade",
  Greek: "Ελληνικά κείμενα",
  Cyrillic: "Русский текст",
  Arabic: "نص عربي",
  Chinese: "简体中文 繁體",
  Japanese: "日本語のかな",
  Korean: "한국어",
  emoji: "🙂🚀",
} as const;

export type Script = keyof typeof SAMPLES;

/** The scripts for which no font of this machine has the characters: a PDF shows boxes instead. */
export async function missingScripts(): Promise<Script[]> {
  const missing: Script[] = [];
  for (const script of Object.keys(SAMPLES) as Script[]) {
    const { issues } = await writeSample(SAMPLES[script]);
    if (issues.length > 0) missing.push(script);
  }
  return missing;
}

const writeSample = (text: string) =>
  writePdf(
    {
      to: "pdf",
      title: "Sample",
      language: "en",
      blocks: "[]",
      images: new Map(),
      documents: new Map(),
      baseUrl: "",
      comments: [],
    },
    [{ kind: "paragraph", runs: [{ text }], align: "left" }],
  );
