/** The name in the other spelling that authors use: `fileExists` for `file_exists`. */
export function aliasOf(name: string): string {
  return name.replaceAll(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
}
