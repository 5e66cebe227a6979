import { join, resolve } from 'node:path';
import type { EngineSettings } from '../app/engine/host.ts';

/** What this start was asked for. */
export interface Launch {
  /** Started by a client or at login: nothing may take focus, so no window opens. */
  readonly background: boolean;
  readonly dataDir: string;
  /** A Node 24 that runs the engine instead of a utility process, where Electron's own Node is too old for it. */
  readonly engineNode: string | null;
  /** Stores elsewhere than where macOS keeps them. */
  readonly stores: Pick<EngineSettings, 'mailDir' | 'messagesDb' | 'accountsDb' | 'addressBookDir' | 'trustLocalClients'>;
}

export interface LaunchFacts {
  /** The system's folder for the data of apps. */
  readonly appData: string;
  /** The folder's name in it: a build without our team has its own, so that it and an installed app never share one. */
  readonly product: string;
}

const isBackground = (argv: readonly string[]): boolean => argv.includes('--background');

/**
 * What ships takes `--background` and nothing else: whoever could name its stores, its folder or its engine by a flag
 * would decide what runs with its disk access.
 */
export function shippedLaunch(argv: readonly string[], { appData, product }: LaunchFacts): Launch {
  return { background: isBackground(argv), dataDir: join(appData, product), engineNode: null, stores: {} };
}

/** From the sources, and in a build made to be tested. Not in what ships. */
export function developmentLaunch(argv: readonly string[], env: NodeJS.ProcessEnv, { appData, product }: LaunchFacts): Launch {
  const flag = (name: string): string | undefined => {
    const given = argv.find((each) => each.startsWith(`--${name}=`));
    return given === undefined ? undefined : resolve(given.slice(name.length + 3));
  };
  const [mailDir, messagesDb, accountsDb, addressBookDir] = [flag('mail-dir'), flag('messages-db'), flag('accounts-db'), flag('address-book-dir')];
  return {
    background: isBackground(argv),
    dataDir: flag('data-dir') ?? join(appData, product),
    engineNode: env['BELFRY_ENGINE_NODE'] || null,
    stores: {
      ...(mailDir !== undefined && { mailDir }),
      ...(messagesDb !== undefined && { messagesDb }),
      ...(accountsDb !== undefined && { accountsDb }),
      ...(addressBookDir !== undefined && { addressBookDir }),
      ...(argv.includes('--trust-local-clients') && { trustLocalClients: true }),
    },
  };
}
