/** One word of a POSIX command line. Harmless words stay as they are, so that commands read well. */
export function posixQuote(word: string): string {
  if (/^[A-Za-z0-9_./:@%+=,-]+$/u.test(word) && !word.startsWith('=')) return word;
  return `'${word.replaceAll("'", String.raw`'\''`)}'`;
}

/** A command line for a POSIX shell. */
export function commandLine(...words: readonly string[]): string {
  return words.map(posixQuote).join(' ');
}
