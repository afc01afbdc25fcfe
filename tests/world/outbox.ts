/** The outbox with a mail server that a test plays. */
import { vi } from 'vitest';
import type { Database } from '../../src/lib/database.ts';
import { silent } from '../../src/lib/logging.ts';
import type { Rendered } from '../../src/lib/mail/messages/layout.ts';
import type { Message, Publisher } from '../../src/lib/mail/model.ts';
import { type OutboxOptions, openOutbox, type RunningOutbox } from '../../src/lib/mail/outbox.server.ts';
import type { MailTransport, SendResult } from '../../src/lib/mail/smtp.server.ts';

const paper: Publisher = {
  name: 'The Sun',
  motto: '',
  language: 'en',
  timeZone: 'America/New_York',
  siteUrl: 'https://sun.example',
  contact: 'desk@sun.example',
  postalAddress: '',
};
export const code = (to: string, digits = '123456'): Message => ({ kind: 'code', to, code: digits, minutes: 10 });
export const welcome = (to: string): Message => ({ kind: 'welcome', to, firstName: null });
export const sent: SendResult = { kind: 'sent' };
export const down: SendResult = { kind: 'down', problem: 'away' };

const secret = 'a secret of the outbox that is long enough';

interface Try {
  readonly id: string;
  readonly to: string;
  readonly message: Rendered;
}

/** A transport whose results a test sets. */
export function fakeTransport(answer: (one: Try, count: number) => SendResult | Promise<SendResult> = () => sent) {
  const tries: Try[] = [];
  let now = 0;
  const most = { together: 0 };
  const transport: MailTransport = {
    async send(id, to, message) {
      tries.push({ id, to, message });
      now++;
      most.together = Math.max(most.together, now);
      try {
        return await answer({ id, to, message }, tries.length);
      } finally {
        now--;
      }
    },
    close: vi.fn(),
  };
  return { transport, tries, most };
}

/** An outbox with short waits; the caller stops it. */
export const openBox = (
  database: Database,
  transport: MailTransport | null,
  change: Partial<OutboxOptions> = {},
): RunningOutbox =>
  openOutbox({ database, transport, paper, secret, log: silent, pollMs: 20, backOffMs: [5, 20], ...change });

/** Stores messages in one transaction. */
export const write = (database: Database, box: RunningOutbox, ...messages: Message[]) =>
  database.transaction(async (tx) => {
    for (const message of messages) await box.enqueue(tx, message);
  });

/** The messages and results in the database. */
export const rows = ({ db }: Database) => db.selectFrom('jobs').selectAll().orderBy('created').execute();
export const outcomes = async (database: Database) => (await rows(database)).map((row) => row.outcome);
