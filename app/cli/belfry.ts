#!/usr/bin/env node
import { readFileSync } from 'node:fs';
import { version } from '../engine/version.ts';
import { parseCommand } from './commands.ts';
import { defaultDataDir, socketPathOf } from './data-folder.ts';
import { HELP } from './help.ts';
import { nodeTrouble } from './node-version.ts';
import { probeWords } from './probe-flags.ts';
import { runRemote } from './remote-command.ts';
import { parseServe } from './serve-flags.ts';

const stdout = (text: string) => process.stdout.write(text);
const stderr = (text: string) => process.stderr.write(text);

/** `--data-dir` belongs to this program; the rest of the line belongs to the engine. */
function takeDataDir(argv: readonly string[]): { dataDir: string; rest: string[] } | string {
  const rest: string[] = [];
  let dataDir = defaultDataDir();
  for (let i = 0; i < argv.length; i += 1) {
    const word = argv[i]!;
    // Behind it stand words for somebody else.
    if (word === '--') {
      rest.push(...argv.slice(i));
      break;
    }
    if (word === '--data-dir') {
      const value = argv[(i += 1)];
      if (!value) return '--data-dir needs a folder.';
      dataDir = value;
    } else if (word.startsWith('--data-dir=')) dataDir = word.slice('--data-dir='.length);
    else rest.push(word);
  }
  return { dataDir, rest };
}

async function main(argv: readonly string[]): Promise<number> {
  if (argv[0] === 'serve') {
    // Nothing native is loaded yet: all that holds some is imported below.
    const trouble = nodeTrouble(process.versions.node);
    if (trouble !== null) {
      stderr(`belfry: ${trouble}\n`);
      return 3;
    }
    const parsed = parseServe(argv.slice(1));
    if (!parsed.ok) {
      stderr(`belfry: ${parsed.message}\n`);
      return 3;
    }
    const { flags } = parsed;
    let webhookCa: string | undefined;
    try {
      webhookCa = flags.localWebhooks === null ? undefined : readFileSync(flags.localWebhooks, 'utf8');
    } catch {
      stderr('belfry: --local-webhooks: the file cannot be read.\n');
      return 3;
    }
    const { serve } = await import('./serve.ts');
    return serve({
      dataDir: flags.dataDir ?? defaultDataDir(),
      mailDir: flags.mailDir ?? undefined,
      messagesDb: flags.messagesDb ?? undefined,
      accountsDb: flags.accountsDb ?? undefined,
      addressBookDir: flags.addressBookDir ?? undefined,
      region: flags.region ?? undefined,
      trustLocalClients: flags.trustLocalClients,
      plainIndex: flags.plainIndex,
      webhookCa,
      ui: flags.uiPort ?? undefined,
      httpPort: flags.httpPort,
    });
  }
  const taken = takeDataDir(argv);
  if (typeof taken === 'string') {
    stderr(`belfry: ${taken}\n`);
    return 3;
  }
  const probe = probeWords(taken.rest);
  if (probe !== null) {
    const { probeHere } = await import('./probe-here.ts');
    return probeHere(probe, taken.dataDir);
  }
  // Wrong use, help and version need no engine.
  const parsed = parseCommand(taken.rest);
  if (!parsed.ok) {
    if (parsed.json) stdout(`${JSON.stringify({ version: 1, ok: false, error: { code: 'usage', message: parsed.message } })}\n`);
    else stderr(`belfry: ${parsed.message}\n`);
    return 3;
  }
  if (parsed.command.do === 'help') {
    stdout(`${HELP}\n`);
    return 0;
  }
  if (parsed.command.do === 'version') {
    stdout(`${version}\n`);
    return 0;
  }
  return runRemote(socketPathOf(taken.dataDir), version, taken.rest, {
    out: (bytes) => void process.stdout.write(bytes),
    err: (bytes) => void process.stderr.write(bytes),
  });
}

process.exitCode = await main(process.argv.slice(2));
