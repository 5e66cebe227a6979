// Drives the packaged app over demo stores: that the very bundle starts, reads through its own SQLite and shows an arrival.
// On a Mac, after "npm run dist -- --for-tests"; `npm run test:app` does both.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { _electron } from 'playwright-core';
import { tempFolder } from '../../app/testing/temp.ts';
import { openSettings } from '../../app/testing/world.ts';
import { startWriter } from '../../app/testing/writer-client.ts';
import { projectRoot } from './smoke-app.ts';

async function drive(executablePath: string): Promise<void> {
  const folder = tempFolder('belfry-app');
  const dataDir = folder.at('data');
  const stores = { mailDir: folder.at('Mail', 'V10'), messagesDb: folder.at('Messages', 'chat.db') };
  const writer = await startWriter(stores);
  await writer.mail.addAccount({ description: 'iCloud', email: 'me@icloud.example', kind: 'imap' });
  mkdirSync(dataDir);
  writeFileSync(join(dataDir, 'settings.json'), JSON.stringify(openSettings));
  writeFileSync(join(dataDir, 'preferences.json'), JSON.stringify({ version: 1, onboarding: 'done' }));
  const app = await _electron.launch({
    executablePath, args: [`--data-dir=${dataDir}`, `--mail-dir=${stores.mailDir}`, `--messages-db=${stores.messagesDb}`], timeout: 120_000,
  });
  try {
    const found = () => app.windows().find((each) => each.url().includes('view=window'));
    while (!found()) await app.waitForEvent('window', { timeout: 60_000 });
    const page = found()!;
    if (!(await app.evaluate(({ app }) => app.isPackaged))) throw new Error('This is no packaged app.');
    await page.getByRole('navigation').getByText('Live', { exact: true }).click();
    await page.getByRole('heading', { name: 'Live', level: 1 }).waitFor();
    await writer.mail.arrive({ from: { address: 'ada@example.org', name: 'Ada Lovelace' }, subject: 'Quarterly plan' });
    await page.getByText('Ada Lovelace').first().waitFor({ timeout: 60_000 });
  } finally {
    await app.close();
    await writer.stop();
    folder.remove();
  }
}

if (process.platform === 'darwin') {
  const folder = process.arch === 'arm64' ? 'mac-arm64' : 'mac';
  await drive(join(projectRoot, 'dist', 'release-for-tests', folder, 'Belfry Development.app', 'Contents', 'MacOS', 'Belfry Development'));
  console.log('the packaged app starts, and shows an arrival');
} else {
  console.log('skipped: the packaged app runs on a Mac only; here it was made over a stand-in and looked at');
}
