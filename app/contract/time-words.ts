const DAYS = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat'];
const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];
const two = (value: number) => String(value).padStart(2, '0');

/** `10:42`. @param at Unix ms; local time throughout */
export function hourMinute(at: number): string {
  const date = new Date(at);
  return `${two(date.getHours())}:${two(date.getMinutes())}`;
}

/** `10:42:07`. */
export function hourMinuteSecond(at: number): string {
  return `${hourMinute(at)}:${two(new Date(at).getSeconds())}`;
}

/** Local days from one time to another: 0 on the same day. */
export function daysBetween(from: number, to: number): number {
  const day = (at: number) => {
    const date = new Date(at);
    return Date.UTC(date.getFullYear(), date.getMonth(), date.getDate()) / 86_400_000;
  };
  return day(to) - day(from);
}

/** When something was: today `10:42`, within the last six days `Tue`, else `12 Nov`, with the year if it is another. */
export function whenWords(at: number, now: number): string {
  const days = daysBetween(at, now);
  if (days <= 0) return hourMinute(at);
  const date = new Date(at);
  if (days < 7) return DAYS[date.getDay()]!;
  return dayMonth(date, now);
}

/** When something will be, as the headline of a pause says it: `11:30`, or with the day if that is not today. */
export function untilWords(at: number, now: number): string {
  const days = daysBetween(now, at);
  if (days === 0) return hourMinute(at);
  const date = new Date(at);
  return `${days < 7 && days > 0 ? DAYS[date.getDay()]! : dayMonth(date, now)} ${hourMinute(at)}`;
}

/** The heading of a day in a list: `Today`, `Yesterday`, `Tue 12 Nov`. */
export function dayWords(at: number, now: number): string {
  const days = daysBetween(at, now);
  if (days === 0) return 'Today';
  if (days === 1) return 'Yesterday';
  const date = new Date(at);
  return `${DAYS[date.getDay()]!} ${dayMonth(date, now)}`;
}

function dayMonth(date: Date, now: number): string {
  const year = date.getFullYear() === new Date(now).getFullYear() ? '' : ` ${date.getFullYear()}`;
  return `${date.getDate()} ${MONTHS[date.getMonth()]!}${year}`;
}
