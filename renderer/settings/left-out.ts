import type { ExcludedPlaces } from '../../app/contract/values.ts';

/** A place that clients may be kept out of, with the account it lies in. */
export interface Place {
  readonly place: string;
  readonly name: string;
  /** Null: an account itself, or a place that is gone. */
  readonly account: string | null;
  readonly isExcluded: boolean;
  readonly isGone: boolean;
}

export interface PlaceGroup {
  readonly account: Place;
  readonly mailboxes: readonly Place[];
}

export function groupsOf({ accounts }: ExcludedPlaces): readonly PlaceGroup[] {
  return accounts.map(({ place, name, excluded, mailboxes }) => ({
    account: { place, name, account: null, isExcluded: excluded, isGone: false },
    mailboxes: mailboxes.map((mailbox) => ({ place: mailbox.place, name: mailbox.name, account: name, isExcluded: mailbox.excluded, isGone: false })),
  }));
}

export const goneOf = ({ gone }: ExcludedPlaces): readonly Place[] => gone.map(({ place, name }) => ({ place, name, account: null, isExcluded: true, isGone: true }));
export const allOf = (places: ExcludedPlaces): readonly Place[] => [...groupsOf(places).flatMap(({ account, mailboxes }) => [account, ...mailboxes]), ...goneOf(places)];

/** Where a place lies within one that is left out, it is so too: a mailbox takes along what is below it. The outer one, or null. */
export function outerOf(group: PlaceGroup, mailbox: Place, chosen: ReadonlySet<string>): Place | null {
  if (chosen.has(group.account.place)) return group.account;
  return group.mailboxes.find((other) => chosen.has(other.place) && mailbox.place.startsWith(`${other.place}/`)) ?? null;
}

/** Groups with what is searched for: an account by its name is shown with all that it holds. */
export function searchGroups(groups: readonly PlaceGroup[], text: string): readonly PlaceGroup[] {
  const wanted = text.trim().toLowerCase();
  if (wanted === '') return groups;
  return groups.flatMap((group) => {
    if (group.account.name.toLowerCase().includes(wanted)) return [group];
    const mailboxes = group.mailboxes.filter(({ name }) => name.toLowerCase().includes(wanted));
    return mailboxes.length === 0 ? [] : [{ ...group, mailboxes }];
  });
}

/** What a choice changes. */
export function changesOf(places: ExcludedPlaces, chosen: ReadonlySet<string>): { readonly added: readonly Place[]; readonly lifted: readonly Place[] } {
  const all = allOf(places);
  return { added: all.filter(({ place, isExcluded }) => !isExcluded && chosen.has(place)), lifted: all.filter(({ place, isExcluded }) => isExcluded && !chosen.has(place)) };
}

/** As named in a sentence: `Work/Projects`. */
export const fullName = ({ name, account }: Place): string => (account === null ? name : `${account}/${name}`);
