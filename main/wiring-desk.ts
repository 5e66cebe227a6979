import { shell } from 'electron';
import { listWirings, WiringDesk as Changes, wiringAppLink, wiringFile, wiringLink, type WiringEnv } from '../app/wiring/wiring.ts';
import type { ShellHandlers, WiringRow } from '../app/contract/shell.ts';
import type { ContractOutcome } from '../app/contract/values.ts';

/** The settings files of other programs, for the page: read on every view, changed only after the change was shown. */
export class WiringDesk {
  readonly #env: WiringEnv | null;
  readonly #changes = new Changes();
  readonly #listed: (rows: WiringRow[]) => void;

  /** @param env null where no helper was built: there is nothing to write into a file then */
  constructor(env: WiringEnv | null, listed: (rows: WiringRow[]) => void) {
    this.#env = env;
    this.#listed = listed;
  }

  list(): WiringRow[] {
    const rows = this.#env ? listWirings(this.#env) : [];
    this.#listed(rows);
    return rows;
  }

  handlers(): ShellHandlers['wiring'] {
    const noHelper = 'The helper was not built, so no program can be connected to it.';
    const unknown: ContractOutcome = { ok: false, code: 'unknown', message: 'Belfry knows no such program.' };
    return {
      list: () => this.list(),
      preview: ({ id, change, name }) => (this.#env ? this.#changes.preview(this.#env, id, change, name) : { ok: false, message: noHelper, snippet: null }),
      apply: ({ token }) => {
        if (!this.#env) return { ok: false, code: 'unknown', message: noHelper };
        const outcome = this.#changes.apply(this.#env, token);
        this.list();
        return outcome;
      },
      show: ({ id }) => {
        const file = this.#env && wiringFile(this.#env, id);
        if (!file) return unknown;
        shell.showItemInFolder(file);
        return { ok: true, changed: false, sentence: 'Shown in Finder.' };
      },
      open: async ({ id }) => {
        // Fixed in a table, by the id: started by the system, so that it is no child with our disk access.
        const link = this.#env && wiringAppLink(this.#env, id);
        return link ? opened(link, "Couldn't open it: no app on this Mac answers to its link. Open it yourself.") : unknown;
      },
      openLink: async ({ id }) => {
        // Built here from a fixed table by the id: nothing of the page's goes into it.
        const link = this.#env && wiringLink(this.#env, id);
        return link ? opened(link, 'No program on this Mac opens this link. Copy the settings instead.') : unknown;
      },
    };
  }
}

const opened = (link: string, failed: string): Promise<ContractOutcome> => shell.openExternal(link).then(
  () => ({ ok: true, changed: false, sentence: 'Opened.' }),
  () => ({ ok: false, code: 'nothing', message: failed }),
);
