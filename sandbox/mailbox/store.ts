/** The messages that have arrived: numbered, in memory, and in a folder if they must outlive the process. */
import fs from 'node:fs';
import path from 'node:path';
import PostalMime, { type Address } from 'postal-mime';

export interface StoredMessage {
  /** Increases by one with each message; never reused. */
  readonly number: number;
  /** Epoch milliseconds. */
  readonly receivedAt: number;
  /** The SMTP envelope, which determines delivery. */
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

export interface MessageFilter {
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

export interface MessageStore {
  /** The last number that was assigned. */
  readonly last: number;
  add(message: Received): Promise<StoredMessage>;
  /** Newest first. */
  list(filter?: MessageFilter): readonly StoredMessage[];
  get(number: number): StoredMessage | undefined;
  /** The oldest matching message, as soon as there is one; `null` when none came in time. */
  wait(filter: MessageFilter, milliseconds: number, disconnected: AbortSignal): Promise<StoredMessage | null>;
  remove(filter?: MessageFilter): number;
}

/** The oldest messages are deleted when there are more. */
const maxMessages = 500;

/** @param folder where messages are kept between starts; without it they are lost when the process ends */
export function openMessages(folder?: string): MessageStore {
  const messages = new Map<number, StoredMessage>();
  const listeners = new Set<(message: StoredMessage) => void>();
  let last = 0;

  const file = (number: number) => path.join(folder ?? '', `${String(number).padStart(8, '0')}.json`);
  if (folder) {
    fs.mkdirSync(folder, { recursive: true });
    for (const name of fs.readdirSync(folder).sort()) {
      if (!/^\d{8}\.json$/.test(name)) continue;
      try {
        const message = JSON.parse(fs.readFileSync(path.join(folder, name), 'utf8')) as StoredMessage;
        messages.set(message.number, message);
        last = Math.max(last, message.number);
      } catch {
        // A message whose write was interrupted has never been acknowledged.
        fs.rmSync(path.join(folder, name), { force: true });
      }
    }
  }

  function deleteMessage(number: number): void {
    messages.delete(number);
    if (folder) fs.rmSync(file(number), { force: true });
  }

  const list = (filter: MessageFilter = {}): StoredMessage[] =>
    [...messages.values()].filter((message) => matches(message, filter)).reverse();

  return {
    get last() {
      return last;
    },
    async add(received) {
      const parsed = await parse(received);
      last += 1;
      const message: StoredMessage = { number: last, receivedAt: Date.now(), ...parsed };
      if (folder) fs.writeFileSync(file(last), JSON.stringify(message));
      messages.set(last, message);
      for (const number of [...messages.keys()].slice(0, Math.max(0, messages.size - maxMessages)))
        deleteMessage(number);
      for (const listener of [...listeners]) listener(message);
      return message;
    },
    list,
    get: (number) => messages.get(number),
    wait(filter, milliseconds, disconnected) {
      const present = list(filter).at(-1);
      if (present) return Promise.resolve(present);
      return new Promise((resolve) => {
        const finish = (message: StoredMessage | null) => {
          clearTimeout(timer);
          listeners.delete(listener);
          resolve(message);
        };
        const listener = (message: StoredMessage) => {
          if (matches(message, filter)) finish(message);
        };
        const timer = setTimeout(() => finish(null), milliseconds);
        disconnected.addEventListener('abort', () => finish(null));
        listeners.add(listener);
      });
    },
    remove(filter) {
      const removed = list(filter);
      for (const { number } of removed) deleteMessage(number);
      return removed.length;
    },
  };
}

const matches = (message: StoredMessage, { to, after }: MessageFilter): boolean =>
  (after === undefined || message.number > after) &&
  (to === undefined || message.envelope.to.some((address) => address.toLowerCase() === to.toLowerCase()));

async function parse({ from, to, raw, encrypted }: Received) {
  const mail = await PostalMime.parse(raw);
  const html = mail.html ?? '';
  const text = mail.text ?? '';
  return {
    envelope: { from, to },
    encrypted,
    from: mail.from ? formatAddress(mail.from) : '',
    to: (mail.to ?? []).map(formatAddress),
    subject: mail.subject ?? '',
    text,
    html,
    links: linksIn(html, text),
    headers: mail.headers.map(({ originalKey, value }) => ({ name: originalKey, value })),
    raw: raw.toString('utf8'),
  };
}

const formatAddress = ({ name, address }: Address): string => (name ? `${name} <${address}>` : (address ?? ''));

const namedEntities: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"' };

function linksIn(html: string, text: string): string[] {
  const found = html
    ? [...html.matchAll(/<a\s[^>]*?href="([^"]*)"/gi)].map(([, address = '']) =>
        address.replace(/&(?:#(\d+)|#x([\da-f]+)|(\w+));/gi, (whole, decimal, hex, name) =>
          decimal || hex
            ? String.fromCodePoint(decimal ? Number(decimal) : Number.parseInt(hex, 16))
            : (namedEntities[name] ?? whole),
        ),
      )
    : [...text.matchAll(/https?:\/\/[^\s<>"]+/g)].map(([address]) => address);
  return [...new Set(found)];
}
