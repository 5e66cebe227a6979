import { z } from 'zod';

/**
 * The settings that are one plain value each: what `belfry settings get|set` knows (ruling 18), what the file holds,
 * what an export takes along and what the page shows. A new one is named here and, where it lets more through, in
 * `policy/change.ts`.
 */
const MAX_RATE = 10_000;
const MAX_KEEP_DAYS = 30;

/** Given to nobody (IANA), and below what systems hand out for outgoing connections. */
const DEFAULT_HTTP_PORT = 23_537;

const isOn = () => z.boolean('must be on or off');

/** Each bound has a text of its own: one given to the type alone is lent to all that is chained to it. */
const wholeNumber = (least: number, most: number) => {
  const range = `must be from ${least} to ${most}`;
  return z.int('must be a whole number').min(least, range).max(most, range);
};

export const plainSettings = z.strictObject({
  subjects: isOn(),
  /** Rings per client and hour. */
  ratePerHour: wholeNumber(1, MAX_RATE),
  backfill: isOn(),
  keepSendersDays: wholeNumber(0, MAX_KEEP_DAYS),
  /** Off: the search index waits while the Mac runs on battery. */
  indexOnBattery: isOn(),
  /** A body that is not on this Mac may be fetched by asking Mail for it. */
  fetchThroughMail: isOn(),
  /** One-time codes are blotted out in what clients read. */
  hideCodes: isOn(),
  /** Off: a client that nobody decided on gets events without being asked about. */
  askNewClients: isOn(),
  /** Whether clients may come in over HTTP on this machine, and where. */
  http: isOn(),
  httpPort: wholeNumber(1024, 65_535),
  region: z.string().regex(/^[A-Z]{2}$/, 'must be a country code of two capital letters, such as NL').nullable(),
});

export type PlainSettings = z.output<typeof plainSettings>;
export type SettingKey = keyof PlainSettings;

/** Before any choice of the owner. */
export const plainDefaults: PlainSettings = {
  subjects: true,
  ratePerHour: 120,
  backfill: false,
  keepSendersDays: 0,
  indexOnBattery: true,
  fetchThroughMail: false,
  hideCodes: true,
  askNewClients: true,
  http: false,
  httpPort: DEFAULT_HTTP_PORT,
  region: null,
};

export const settingKeys = plainSettings.keyof().options;

/** What lets clients in, or read more, is decided on each Mac: an export does not carry it and an import never lifts it. */
export const ownToMac = { askNewClients: true, fetchThroughMail: true, hideCodes: true, http: true, httpPort: true } as const satisfies Partial<Record<SettingKey, true>>;

/** A value out of `from` for each plain setting. */
export function plainOf(from: PlainSettings): PlainSettings {
  return Object.fromEntries(settingKeys.map((key) => [key, from[key]])) as PlainSettings;
}

/** What a setting takes, for whoever reads words. */
export function kindOf(key: SettingKey): 'switch' | 'number' | 'region' {
  const value = plainDefaults[key];
  return typeof value === 'boolean' ? 'switch' : typeof value === 'number' ? 'number' : 'region';
}
