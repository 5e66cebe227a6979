import type { PlainSettings } from '../../app/contract/plain-settings.ts';
import { engine } from '../stores/engine-store.ts';
import { run } from '../stores/notice-store.ts';

export const setSetting = (key: keyof PlainSettings, value: boolean | number | string | null) => run(engine.settings.set({ key, value }));
