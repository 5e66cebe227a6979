import { describe, expect, it } from 'vitest';
import { addressLabel, cleanName, cutName, nameLabel, splitAddress, textLabel } from './clean-name.ts';

describe('cleanName (ui.md, Live)', () => {
  it.each(['\u202a', '\u202b', '\u202c', '\u202d', '\u202e', '\u2066', '\u2067', '\u2068', '\u2069', '\u200b', '\u200e', '\u200f', '\u2060', '\ufeff', '\u061c', '\u0000', '\u0007', '\u007f', '\u009f'])('leaves out %j', (character) => {
    expect(cleanName(`Ada${character}Lovelace`)).toBe('AdaLovelace');
  });

  it('keeps the joiners, which scripts and emoji need', () => {
    expect(cleanName('می‌خواهم')).toBe('می‌خواهم');
    expect(cleanName('👩‍🚀')).toBe('👩‍🚀');
  });

  it('makes one line of several, and well-formed text of half surrogates', () => {
    expect(cleanName('  Ada\r\n\tLovelace\u2028 ')).toBe('Ada Lovelace');
    expect(cleanName('\ud800x')).toBe('\ufffdx');
  });

  it('leaves markup as text', () => {
    expect(cleanName('<b>Ada</b>')).toBe('<b>Ada</b>');
  });
});

describe('cutName', () => {
  it('cuts at the given number of characters as a reader counts them', () => {
    expect(cutName('Ada', 3)).toBe('Ada');
    expect(cutName('Adam', 3)).toBe('Ad…');
    expect(cutName('👩‍🚀👩‍🚀👩‍🚀', 2)).toBe('👩‍🚀…');
    expect(cutName('👩‍🚀👩‍🚀', 2)).toBe('👩‍🚀👩‍🚀');
  });

  it('cuts a text of any length', () => {
    expect(cutName('x'.repeat(100_000), 64)).toBe(`${'x'.repeat(63)}…`);
    // One letter under 5,000 accents is one character for a reader, and no line can show it.
    expect(cutName(`a${'\u0301'.repeat(5000)}b`, 64).length).toBeLessThan(1100);
  });
});

describe('labels: what an attribute holds of a stranger\'s text', () => {
  it('is cleaned and cut', () => {
    expect(nameLabel('Fam\u202egnp.exe</script>')).toBe('Famgnp.exe</script>');
    expect(nameLabel(`"${'x'.repeat(64)}"`)).toBe(`"${'x'.repeat(64)}"`);
    expect(nameLabel('x'.repeat(4000))).toBe(`${'x'.repeat(65)}…`);
    expect(textLabel(`a\u200b${'x'.repeat(4000)}`)).toBe(`a${'x'.repeat(298)}…`);
  });

  it('keeps the end of an address', () => {
    expect(addressLabel('ada\u202e@example.com')).toBe('ada@example.com');
    expect(addressLabel(`ada@${'sub.'.repeat(200)}example.com`)).toBe(`ada@${'sub.'.repeat(11)}s….sub.example.com`);
  });
});

describe('splitAddress: the middle is what is lost', () => {
  it('keeps a short address whole', () => {
    expect(splitAddress('ada@example.com')).toEqual(['ada@example.com', '']);
  });

  it('keeps the end of the domain for sight', () => {
    expect(splitAddress('a-very-long-name-of-somebody@mail.example.com')).toEqual(['a-very-long-name-of-somebody@', 'mail.example.com']);
    expect(splitAddress(`ada@${'sub.'.repeat(20)}example.com`)[1]).toBe('.sub.example.com');
  });

  it('keeps the last digits of a long number and never cuts a character in two', () => {
    expect(splitAddress('+1234567890123456789012')).toEqual(['+12345678901234', '56789012']);
    const [start, end] = splitAddress('😀'.repeat(30));
    expect(start + end).toBe('😀'.repeat(30));
    expect([start, end].every((part) => part.isWellFormed())).toBe(true);
  });
});
