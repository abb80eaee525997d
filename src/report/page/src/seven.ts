// Bytes out of the text that the page carries them in (src/report/seven_bits.h says how they were put there).

/** The values of seven bits that would not survive as a character of HTML, by their numbers in a pair. */
const kUnsafe = [0x00, 0x0a, 0x0d, 0x1a, 0x26, 0x3c];

/** Fails if the text is not as it was written: an editor or a server changed it. */
export function bytesOf(text: string, length: number): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(length);
  let at = 0;
  let held = 0;
  let bits = 0;
  const put = (seven: number) => {
    held = ((held << 7) | seven) & 0x7fff;
    bits += 7;
    if (bits >= 8) {
      bits -= 8;
      if (at < length) bytes[at++] = (held >> bits) & 0xff;
    }
  };
  for (let i = 0; i < text.length; ++i) {
    const code = text.charCodeAt(i);
    if (code < 0x80) {
      put(code);
      continue;
    }
    const unsafe = kUnsafe[(code >> 7) - 1];
    if (unsafe === undefined) throw new Error('the page was changed on its way here; ask for it as an attachment');
    put(unsafe);
    put(code & 0x7f);
  }
  if (at !== length) throw new Error('the page is cut short; copy it again');
  return bytes;
}
