/** The messages that have arrived: numbered, in memory, and in a folder if they must outlive the process. */
import fs from 'node:fs';
import path from 'node:path';
import PostalMime, { type Address } from 'postal-mime';

export interface Letter {
  /** Grows by one with each message; never used twice. */
  readonly number: number;
  /** Epoch milliseconds. */
  readonly receivedAt: number;
  /** Who the SMTP client named, which is what counts for delivery. */
  readonly envelope: { readonly from: string; readonly to: readonly string[] };
  /** Whether it came over an encrypted connection. */
  readonly encrypted: boolean;
  /** From the message's own header. */
  readonly from: string;
  readonly to: readonly string[];
  readonly subject: string;
  readonly text: string;
  readonly html: string;
  /** Addresses of all links of the HTML part, or of the text part if there is no HTML part. */
  readonly links: readonly string[];
  readonly headers: readonly { readonly name: string; readonly value: string }[];
  /** The message as received. */
  readonly raw: string;
}

export interface Wanted {
  /** Address of a recipient, in upper or lower case. */
  readonly to?: string | undefined;
  /** Only messages with a higher number. */
  readonly after?: number | undefined;
}

/** A message that the mail server has accepted. */
export interface Received {
  readonly from: string;
  readonly to: readonly string[];
  readonly raw: Buffer;
  readonly encrypted: boolean;
}

export interface LetterStore {
  /** The last number that was assigned. */
  readonly last: number;
  add(message: Received): Promise<Letter>;
  /** Newest first. */
  list(wanted?: Wanted): readonly Letter[];
  get(number: number): Letter | undefined;
  /** The oldest matching message, as soon as there is one; `null` when none came in time. */
  wait(wanted: Wanted, milliseconds: number, gone: AbortSignal): Promise<Letter | null>;
  remove(wanted?: Wanted): number;
}

/** The oldest messages are deleted when there are more. */
const most = 500;

/** @param folder where messages are kept between starts; without it they are lost when the process ends */
export function openLetters(folder?: string): LetterStore {
  const letters = new Map<number, Letter>();
  const waiting = new Set<(letter: Letter) => void>();
  let last = 0;

  const file = (number: number) => path.join(folder ?? '', `${String(number).padStart(8, '0')}.json`);
  if (folder) {
    fs.mkdirSync(folder, { recursive: true });
    for (const name of fs.readdirSync(folder).sort()) {
      if (!/^\d{8}\.json$/.test(name)) continue;
      try {
        const letter = JSON.parse(fs.readFileSync(path.join(folder, name), 'utf8')) as Letter;
        letters.set(letter.number, letter);
        last = Math.max(last, letter.number);
      } catch {
        // A message whose write was interrupted has never been acknowledged.
        fs.rmSync(path.join(folder, name), { force: true });
      }
    }
  }

  function forget(number: number): void {
    letters.delete(number);
    if (folder) fs.rmSync(file(number), { force: true });
  }

  const list = (wanted: Wanted = {}): Letter[] =>
    [...letters.values()].filter((letter) => fits(letter, wanted)).reverse();

  return {
    get last() {
      return last;
    },
    async add(message) {
      const parsed = await parse(message);
      last += 1;
      const letter: Letter = { number: last, receivedAt: Date.now(), ...parsed };
      if (folder) fs.writeFileSync(file(last), JSON.stringify(letter));
      letters.set(last, letter);
      for (const number of [...letters.keys()].slice(0, Math.max(0, letters.size - most))) forget(number);
      for (const tell of [...waiting]) tell(letter);
      return letter;
    },
    list,
    get: (number) => letters.get(number),
    wait(wanted, milliseconds, gone) {
      const there = list(wanted).at(-1);
      if (there) return Promise.resolve(there);
      return new Promise((resolve) => {
        const end = (letter: Letter | null) => {
          clearTimeout(timer);
          waiting.delete(tell);
          resolve(letter);
        };
        const tell = (letter: Letter) => {
          if (fits(letter, wanted)) end(letter);
        };
        const timer = setTimeout(() => end(null), milliseconds);
        gone.addEventListener('abort', () => end(null));
        waiting.add(tell);
      });
    },
    remove(wanted) {
      const going = list(wanted);
      for (const { number } of going) forget(number);
      return going.length;
    },
  };
}

const fits = (letter: Letter, { to, after }: Wanted): boolean =>
  (after === undefined || letter.number > after) &&
  (to === undefined || letter.envelope.to.some((address) => address.toLowerCase() === to.toLowerCase()));

async function parse({ from, to, raw, encrypted }: Received) {
  const mail = await PostalMime.parse(raw);
  const html = mail.html ?? '';
  const text = mail.text ?? '';
  return {
    envelope: { from, to },
    encrypted,
    from: mail.from ? written(mail.from) : '',
    to: (mail.to ?? []).map(written),
    subject: mail.subject ?? '',
    text,
    html,
    links: links(html, text),
    headers: mail.headers.map(({ originalKey, value }) => ({ name: originalKey, value })),
    raw: raw.toString('utf8'),
  };
}

const written = ({ name, address }: Address): string => (name ? `${name} <${address}>` : (address ?? ''));

const named: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"' };

function links(html: string, text: string): string[] {
  const found = html
    ? [...html.matchAll(/<a\s[^>]*?href="([^"]*)"/gi)].map(([, address = '']) =>
        address.replace(/&(?:#(\d+)|#x([\da-f]+)|(\w+));/gi, (whole, decimal, hex, name) =>
          decimal || hex
            ? String.fromCodePoint(decimal ? Number(decimal) : Number.parseInt(hex, 16))
            : (named[name] ?? whole),
        ),
      )
    : [...text.matchAll(/https?:\/\/[^\s<>"]+/g)].map(([address]) => address);
  return [...new Set(found)];
}
