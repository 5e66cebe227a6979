/**
 * Runs synchronous work as a user without rights. Root may read everything, so as root a denied file has to be
 * looked at by somebody else; any other user is denied by the file's mode already.
 */
export function asNobody<T>(work: () => T): T {
  if (process.getuid?.() !== 0) return work();
  process.seteuid!(65534);
  try {
    return work();
  } finally {
    process.seteuid!(0);
  }
}
