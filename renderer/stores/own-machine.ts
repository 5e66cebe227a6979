import { MAX_SETTINGS_BYTES, SETTINGS_TOO_LARGE, SETTINGS_UNREADABLE, type PickedSettings } from '../../app/contract/values.ts';
import { run } from './notice-store.ts';
import { shell, useShell } from './shell-store.ts';

/** Clipboard and files: through the shell in the app; in a browser the browser does it. */
const inBrowser = () => useShell.getState().state?.kind === 'browser';

/** @returns whether it was copied; a refusal is shown */
export async function copyText(text: string): Promise<boolean> {
  const copied = inBrowser()
    ? navigator.clipboard.writeText(text).then(asCopied, () => asRefused("The browser didn't allow copying. Select the text and copy it by hand."))
    : shell().shell.copy({ text }).then(asCopied);
  return (await run(copied)) !== null;
}

/** Offers a text as a file. */
export async function saveText(name: string, text: string): Promise<void> {
  if (!inBrowser()) {
    await run(shell().shell.save({ name, text }));
    return;
  }
  const address = URL.createObjectURL(new Blob([text], { type: 'text/plain' }));
  const link = document.createElement('a');
  link.href = address;
  link.download = name;
  link.click();
  // The download has its own hold of the text once it began.
  setTimeout(() => URL.revokeObjectURL(address), 60_000);
}

/** The text of a settings file that the owner picks, or null. A file that is none is said. */
export async function pickSettings(): Promise<string | null> {
  const picked = await run(inBrowser() ? pickInBrowser() : shell().shell.pickSettings({}));
  return picked?.ok ? picked.json : null;
}

async function pickInBrowser(): Promise<PickedSettings> {
  const input = document.createElement('input');
  input.type = 'file';
  input.accept = '.json,application/json';
  const chosen = new Promise<File | null>((resolve) => {
    input.addEventListener('change', () => resolve(input.files?.[0] ?? null));
    input.addEventListener('cancel', () => resolve(null));
  });
  input.click();
  const file = await chosen;
  if (file === null) return { ok: true, json: null };
  if (file.size > MAX_SETTINGS_BYTES) return SETTINGS_TOO_LARGE;
  return file.text().then((json) => ({ ok: true, json }), () => SETTINGS_UNREADABLE);
}

const asCopied = () => ({ ok: true as const, changed: false, sentence: 'Copied.' });
const asRefused = (message: string) => ({ ok: false as const, code: 'refused' as const, message });
