/** better-sqlite3's prebuilt files are made for this and newer; an older Node dies of them without a word. */
const OLDEST_FOR_ENGINE = 22;

/**
 * What the owner has to know before an engine starts in this process.
 * @param version as in `process.versions.node`
 * @returns a sentence, or null where the engine runs
 */
export function nodeTrouble(version: string): string | null {
  if (Number.parseInt(version, 10) >= OLDEST_FOR_ENGINE) return null;
  return `"serve" needs Node ${OLDEST_FOR_ENGINE} or newer, and this is ${version}. In a clone, "npm run build" puts Node 24 at node_modules/.bin/node.`;
}
