/** The usual ending of the kinds of files that mails carry without a name. */
const EXTENSIONS: Readonly<Record<string, string>> = {
  'image/png': '.png', 'image/jpeg': '.jpg', 'image/gif': '.gif', 'image/heic': '.heic', 'image/tiff': '.tiff', 'image/webp': '.webp', 'image/svg+xml': '.svg', 'image/bmp': '.bmp',
  'text/plain': '.txt', 'text/html': '.html', 'text/csv': '.csv', 'text/calendar': '.ics', 'text/vcard': '.vcf', 'text/x-vcard': '.vcf', 'text/xml': '.xml', 'text/rtf': '.rtf',
  'message/rfc822': '.eml', 'application/pdf': '.pdf', 'application/zip': '.zip', 'application/gzip': '.gz', 'application/json': '.json', 'application/xml': '.xml', 'application/rtf': '.rtf',
  'application/ics': '.ics', 'application/pkcs7-signature': '.p7s', 'application/x-pkcs7-signature': '.p7s', 'application/pgp-signature': '.asc',
  'application/msword': '.doc', 'application/vnd.ms-excel': '.xls', 'application/vnd.ms-powerpoint': '.ppt',
  'application/vnd.openxmlformats-officedocument.wordprocessingml.document': '.docx', 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet': '.xlsx',
  'application/vnd.openxmlformats-officedocument.presentationml.presentation': '.pptx',
  'audio/mpeg': '.mp3', 'audio/mp4': '.m4a', 'video/mp4': '.mp4', 'video/quicktime': '.mov',
};

/** With its dot, by the MIME type, in any case; '' for one that is not known. */
export function extensionOf(type: string): string {
  const known = type.toLowerCase();
  return Object.hasOwn(EXTENSIONS, known) ? EXTENSIONS[known]! : '';
}
