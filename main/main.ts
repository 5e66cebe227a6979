import { mkdirSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { app } from 'electron';
import { BelfryApp } from './belfry-app.ts';
import { systemClock } from './clock.ts';
import { developmentLaunch, shippedLaunch } from './launch.ts';
import { faultLine, logFile } from './log-file.ts';
import { holdPages } from './navigation.ts';
import { registerScheme } from './protocol.ts';
import { productName } from './signature.ts';
import { updateFeed } from './update-feed.ts';

/** Put in by the bundler. */
declare const BELFRY_SHIPPED: boolean;

const here = dirname(fileURLToPath(import.meta.url));
const facts = { appData: app.getPath('appData'), product: productName };
// The bundler leaves out the other branch: nothing in what ships reads a switch of development.
const launch = BELFRY_SHIPPED ? shippedLaunch(process.argv, facts) : developmentLaunch(process.argv, process.env, facts);

app.setName(productName);
mkdirSync(launch.dataDir, { recursive: true, mode: 0o700 });
app.setPath('userData', launch.dataDir);
// Chromium's own files stay out of the way of ours.
app.setPath('sessionData', join(launch.dataDir, 'window'));
app.enableSandbox();
registerScheme();
holdPages(app);

const log = logFile(launch.dataDir, () => Date.now());
process.on('uncaughtException', (error) => log(`main: ${faultLine(error)}`));
process.on('unhandledRejection', (error) => log(`main: ${faultLine(error)}`));

// The lock is by data folder: a development build and the installed app do not shut each other out.
if (app.requestSingleInstanceLock()) {
  app.on('child-process-gone', (_event, { type, reason, exitCode }) => log(`${type} process gone: ${reason}, exit ${exitCode}`));
  // Belfry lives in the menu bar: without a window it goes on.
  app.on('window-all-closed', () => undefined);
  // Not awaited: `ready` never comes while a module is still being loaded.
  void app.whenReady().then(async () => {
    const belfry = new BelfryApp({
      launch, home: homedir(), platform: process.platform, clock: systemClock, log, built: join(here, '..'), icons: join(here, '..', '..', 'resources', 'tray'), updates: await updateFeed(log),
    });
    belfry.start();
    app.on('activate', () => belfry.reopened());
    app.on('second-instance', (_event, argv) => {
      // A client started us while we run already: nothing comes up uninvited.
      if (!argv.includes('--background')) belfry.reopened();
    });
    let ended = false;
    app.on('before-quit', (event) => {
      if (ended) return;
      event.preventDefault();
      void belfry.end().finally(() => {
        ended = true;
        app.quit();
      });
    });
  });
} else {
  app.quit();
}
