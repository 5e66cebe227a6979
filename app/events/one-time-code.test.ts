import { describe, expect, test } from 'vitest';
import { fuzz, FUZZ_TIMEOUT } from '../testing/fuzz.ts';
import { hideCodes } from './one-time-code.ts';

/**
 * Texts in the forms that services send, with what is the code in each; the last column says where the form is from. The
 * words are made up after those forms.
 */
const CODES: readonly (readonly [text: string, code: string, form: string])[] = [
  ['G-482913 is your Google verification code.', 'G-482913', 'Google accounts, SMS'],
  ['Your code\n\n@example.com #747723', '747723', 'WICG origin-bound one-time codes, section 3'],
  ['747723 is your FooBar verification code.\n\n@example.com #747723', '747723', 'WICG origin-bound one-time codes, introduction'],
  ['https://x.example\n@example.com #a1b2c3 @payments.example', 'a1b2c3', 'WICG origin-bound one-time codes, embedded origin'],
  ['<#> Your ExampleApp code is: 123ABC78\nFA+9qCX9VSu', '123ABC78', 'Android SMS Retriever, message format'],
  ['Your Acme one time authentication code is: 57294', '57294', 'Oracle IAM, OTP in SMS'],
  ['Ihr Acme-Einmalauthentifizierungscode lautet: 57294', '57294', 'Oracle IAM, OTP in SMS, German'],
  ['Your WhatsApp code: 123-456', '123-456', 'WhatsApp, SMS'],
  ['Your WhatsApp code 123-456', '123-456', 'WhatsApp, SMS without a colon'],
  ['Use 7788 as your login code', '7788', 'sign-in by SMS, four digits'],
  ['NEVER share this One-Time Code: 482913. We will never call to ask for it.', '482913', 'bank, SMS'],
  ['SafeKey code is 482913 for €13.37 at a shop for card ending in 69420. Never share this code.', '482913', 'card payment, SMS: price and card beside it'],
  ['588873 is the OTP for a transaction of INR 3373.00 on your card 9688 at a shop, valid for 15 mins.', '588873', 'card payment, SMS, India'],
  ['OTP 482913', '482913', 'bank, SMS'],
  ['Use verification code 482 913 to sign in.', '482 913', 'groups of three'],
  ['Your code is 2026.', '2026', 'a code that looks like a year'],
  ['To finish, enter the code below.\n\n    482913\n\nIt expires in 10 minutes.', '482913', 'mail: the code on a line of its own'],
  ['Security code\n\n*R7KQ4*\n\nSomebody tried to sign in.', 'R7KQ4', 'mail: letters and digits on a line of their own'],
  ['Your code to sign in to Example 482913', '482913', 'six digits behind a few words'],
  ['Your temporary password is 48219375', '48219375', 'mail: a password for once'],
  ['Enter 482913. Your code is 482913', '482913', 'twice in one text'],
  ['Ihr Bestätigungscode: 4829. Gültig für 5 Minuten.', '4829', 'German'],
  ['Ihre TAN: 482913', '482913', 'German bank'],
  ['Je verificatiecode is 482913', '482913', 'Dutch'],
  ['Uw eenmalige inlogcode: 90 21 44', '90 21 44', 'Dutch, groups of two'],
  ['Votre code de vérification est 482913', '482913', 'French'],
  ['482913 est votre code de sécurité', '482913', 'French, code first'],
  ['Tu código de verificación es 482913', '482913', 'Spanish'],
  ['Seu código de acesso é 482913', '482913', 'Portuguese'],
  ['Il tuo codice di verifica è 482913', '482913', 'Italian'],
  ['Din kod är 482913', '482913', 'Swedish'],
  ['Din engangskode er 482913', '482913', 'Danish, Norwegian'],
  ['Vahvistuskoodi on 482913', '482913', 'Finnish'],
  ['Twój kod to 482913', '482913', 'Polish'],
  ['Doğrulama kodunuz: 482913', '482913', 'Turkish'],
  ['NLB Klik: enkratno geslo je 48219375. Geslo velja 3 minute.', '48219375', 'Slovene bank'],
  ['Ваш код: 482913', '482913', 'Russian'],
  ['482913 — ваш код подтверждения', '482913', 'Russian, code first'],
  ['Ο κωδικός σας είναι: 482913', '482913', 'Greek'],
  ['קוד האימות שלך הוא: 482913', '482913', 'Hebrew'],
  ['رمز التحقق الخاص بك هو: 482913', '482913', 'Arabic'],
  ['【某某】验证码：482913，5分钟内有效。', '482913', 'Chinese'],
  ['您的验证码是482913', '482913', 'Chinese, without a space'],
  ['認証コード：482913', '482913', 'Japanese'],
  ['認証コードは482913です。', '482913', 'Japanese, in a sentence'],
  ['[회사] 인증번호 [482913]를 입력해 주세요.', '482913', 'Korean'],
  ['Mã xác thực của bạn là 482913', '482913', 'Vietnamese'],
  ['Kode verifikasi Anda adalah 482913', '482913', 'Indonesian'],
  ['รหัส OTP ของคุณคือ 482913', '482913', 'Thai'],
];

/** Digits of another width or script, and what is hidden between them: the last column says which. */
const WRITTEN_OTHERWISE: readonly (readonly [text: string, hidden: string, form: string])[] = [
  ['認証コード：１２３４５６', '認証コード：••••••', 'full width'],
  ['認証コードは１２３４５６です。', '認証コードは••••••です。', 'full width, in a sentence'],
  ['【某某】验证码：４８２９１３，5分钟内有效。', '【某某】验证码：••••••，5分钟内有效。', 'full width, with a time in ASCII'],
  ['認証コード：１２３４５６（123456）', '認証コード：••••••（••••••）', 'full width, and the same in ASCII'],
  ['Ｇ－４８２９１３ is your code', '•－•••••• is your code', 'full width, with a letter'],
  ['Code: Ａ１Ｂ２Ｃ３', 'Code: ••••••', 'full width, letters and digits'],
  ['رمز التحقق الخاص بك هو: ٤٨٢٩١٣', 'رمز التحقق الخاص بك هو: ••••••', 'Arabic-Indic'],
  ['کد تأیید: ۴۸۲۹۱۳', 'کد تأیید: ••••••', 'Persian'],
  ['आपका ओटीपी ४८२९१३ है', 'आपका ओटीपी •••••• है', 'Devanagari'],
  ['รหัส OTP ๔๘๒๙๑๓', 'รหัส OTP ••••••', 'Thai'],
  ['Code: 𝟒𝟖𝟐𝟗𝟏𝟑.', 'Code: ••••••••••••.', 'mathematical, of two units each'],
  ['Your code is 4\u200b8\u200b2\u200b9\u200b1\u200b3.', 'Your code is •\u200b•\u200b•\u200b•\u200b•\u200b•.', 'zero-width spaces between'],
  ['Your c\u00adode is 482\u{e0041}913', 'Your c\u00adode is •••\u{e0041}•••', 'a soft hyphen in the name, a tag in the code'],
  ['認証コード：１２\ufeff３４５６', '認証コード：••\ufeff••••', 'both'],
  ['👩‍💻 Your code is 482913 🏴󠁧󠁢󠁥󠁮󠁧󠁿', '👩‍💻 Your code is •••••• 🏴󠁧󠁢󠁥󠁮󠁧󠁿', 'emoji beside it'],
  ['code: 48291377\u202812345678', 'code: ••••••••\u202812345678', 'a line separator holds numbers apart'],
  ['２０２４年に家を建てました。', '２０２４年に家を建てました。', 'a year'],
  ['تأسست الشركة عام ٢٠٢٤', 'تأسست الشركة عام ٢٠٢٤', 'a year, Arabic'],
  ['Use promo code ＳＡＶＥ２０２４ now', 'Use promo code ＳＡＶＥ２０２４ now', 'a promotion'],
];

/** Numbers that are none, each with what it could be taken for. */
const NONE: readonly (readonly [text: string, why: string])[] = [
  ['The house was built in 1987.', 'a year'],
  ['In 2024 we changed the dress code.', 'a year, and another kind of code'],
  ['Our code of conduct 2024 is online.', 'a year behind the word'],
  ['It costs $1234.', 'a price'],
  ['Your code was accepted. The total is 482913 EUR.', 'a price in another sentence'],
  ['Pay €482913 with the code of your card.', 'a price beside the word'],
  ['Call +1 555 010 1234 if you did not ask for this code.', 'a telephone number'],
  ['Call 5550100 if you did not ask for this code.', 'a short telephone number'],
  ['Order 482913 has shipped.', 'an order number'],
  ['Your order 482913: use code WELCOME at the till.', 'an order number before a code of words'],
  ['Invoice no. 482913', 'an invoice number'],
  ['Use promo code SAVE2024 for 20 % off.', 'a promotion'],
  ['Discount code: 482913', 'a promotion in digits'],
  ['Use code SAVE20 at the till.', 'a promotion by its form'],
  ['Code: WELCOME10', 'a promotion by its form'],
  ['Ihr Aktionscode: 482913', 'a promotion, German'],
  ['Votre code promo : 482913', 'a promotion, French'],
  ['Code postal : 75001', 'a postal code, French'],
  ['Código postal: 28013', 'a postal code, Spanish'],
  ['Código de barras: 48291377', 'a bar code, Portuguese'],
  ['Codice cliente: 482913', 'a customer number, Italian'],
  ['Postal code 94103', 'a postal code'],
  ['Error code 500123', 'an error'],
  ['The QR code 482913 is on the door.', 'another kind of code'],
  ['Your booking reference, confirmation code: QX7K2P', 'a booking with letters'],
  ['Meet at 12:30 on 2026-11-30.', 'a time and a date'],
  ['Your code expires in 1500 seconds.', 'a time to live'],
  ['The code is valid until 2026-11-30.', 'a date'],
  ['We wrote 482913 lines of text.', 'a count without the word'],
  ['Card ending in 4829 was used.', 'a card'],
  ['Version 20261130 of the source code', 'a version'],
  ['See https://x.example/code/482913', 'a link'],
  ['Mail 482913@code.example', 'an address'],
  ['No digits, but a code.', 'nothing'],
  ['', 'nothing'],
];

const blotted = (code: string) => code.replace(/[\p{L}\p{N}]/gu, '•');

describe('what is a code', () => {
  test.each(CODES)('%j: %s (%s)', (text, code) => {
    const hidden = hideCodes(text);
    expect(hidden).toBe(text.replaceAll(code, blotted(code)));
    expect(hidden).toHaveLength(text.length);
  });
});

describe('what is none', () => {
  test.each(NONE)('%j: %s', (text) => {
    expect(hideCodes(text)).toBe(text);
  });
});

describe('digits written otherwise', () => {
  test.each(WRITTEN_OTHERWISE)('%j: %s (%s)', (text, hidden) => {
    expect(hideCodes(text)).toBe(hidden);
    expect(hidden).toHaveLength(text.length);
  });

  test('every decimal digit of Unicode counts as what it stands for', () => {
    const digits = Array.from({ length: 0x110000 }, (_, code) => code).filter((code) => /^\p{Nd}$/u.test(String.fromCodePoint(code)));
    for (let at = 0; at < digits.length; at += 10) {
      const row = digits.slice(at, at + 6).map((code) => String.fromCodePoint(code)).join('');
      // Nought to five: where the value were another, the second one would stay.
      expect(hideCodes(`code: ${row} (012345)`), digits[at]!.toString(16)).toBe(`code: ${'•'.repeat(row.length)} (••••••)`);
    }
  });
});

test('the subject says what a number alone in the text is', () => {
  expect(hideCodes('482913', 'Your verification code')).toBe('••••••');
  expect(hideCodes('482913\nDo not share it.', 'Your order')).toBe('482913\nDo not share it.');
  expect(hideCodes('Thank you.', '482913 is your code')).toBe('Thank you.');
});

test('the time that it takes grows with the text, whatever the text is', () => {
  for (const text of ['code '.repeat(200_000), 'a'.repeat(1_000_000), '1 '.repeat(500_000), 'code: 4829\n'.repeat(90_000), 'code: ４８２９\n'.repeat(90_000), '4\u200b'.repeat(500_000), `${'1'.repeat(500_000)}code`, ' '.repeat(1_000_000)]) {
    expect(hideCodes(`${text}1`)).toHaveLength(text.length + 1);
  }
});

test('whatever the text: as long as before, and only letters and digits become dots', { timeout: FUZZ_TIMEOUT }, async () => {
  await fuzz([...CODES, ...WRITTEN_OTHERWISE, ...NONE].map(([text]) => Buffer.from(text)), (input) => {
    const text = input.toString();
    const hidden = hideCodes(text, text.slice(0, 20));
    if (hidden.length !== text.length) throw new Error('Another length');
    for (let at = 0; at < text.length; at += 1) if (hidden[at] !== text[at] && (hidden[at] !== '•' || !/[\p{L}\p{N}\p{Surrogate}]/u.test(text[at]!))) throw new Error(`Another character at ${at}`);
  });
});
