/**
 * The channel on which the nodes of a cluster exchange messages (PostgreSQL's NOTIFY). A message may be lost: every receiver can also
 * find out its content by itself.
 */
import { brotliCompressSync, brotliDecompressSync } from 'node:zlib';
import { z } from 'zod';

/**
 * SQL for the channel's name. Newspapers that share a database have separate schemas; names in PostgreSQL have at most 63
 * bytes.
 */
export const channel =
  "('broadsheet_' || case when octet_length(current_schema()) <= 50 then current_schema() else md5(current_schema()) end)";

/** SQL of the present time in epoch milliseconds. PostgreSQL's clock, because those of the nodes differ. */
export const databaseNow = '(extract(epoch from clock_timestamp()) * 1000)::bigint';

/** PostgreSQL accepts less than 8,000 bytes in a message. */
export const longestMessage = 7999;

const webhookMessage = z.object({
  /** The sending node, which waits for the answer, and the message's own id. */
  from: z.string(),
  id: z.number(),
  /** The headers that the signature needs. */
  headers: z.record(z.string(), z.string()),
  /** The body in base64, or compressed if it doesn't fit otherwise. Earlier builds ignore messages without `body`. */
  body: z.string().optional(),
  brotli: z.string().optional(),
  /**
   * Version of the content log whose lease holder should handle it; messages of earlier builds have none and are for all
   * holders.
   */
  version: z.number().optional(),
});

const answerMessage = z.object({
  to: z.string(),
  id: z.number(),
  status: z.number(),
  headers: z.record(z.string(), z.string()).optional(),
  body: z.record(z.string(), z.unknown()),
  /** Revision of the content log that contains what the webhook changed, and the version of that log. */
  revision: z.number(),
  version: z.number().optional(),
});

/** The names are part of the protocol between versions. */
export const messageSchema = z.object({
  /** The content log's latest revision. */
  revision: z.number().optional(),
  /** A node has rendered this page of its build, or has stopped trying. */
  page: z.string().optional(),
  build: z.string().optional(),
  /** A webhook, for the node that syncs with WordPress. */
  webhook: webhookMessage.optional(),
  /** The answer to a webhook, for the node that received it. */
  answer: answerMessage.optional(),
  /** Readers of a node want a newer value; the node that syncs requests it for all. */
  wanted: z.string().optional(),
  /** From now on another node syncs with WordPress. */
  lease: z.string().optional(),
});

export type Message = z.infer<typeof messageSchema>;
export type WebhookMessage = z.infer<typeof webhookMessage>;
export type AnswerMessage = z.infer<typeof answerMessage>;

/** Longest body of a webhook (pages/api/v1/revalidate.ts), bytes. */
const longestBody = 64 * 1024;

const fits = (webhook: WebhookMessage): boolean => JSON.stringify({ webhook }).length <= longestMessage;

/** The message of a webhook, compressed if necessary; `null` if it is too long even then. */
export function webhookOf(message: Omit<WebhookMessage, 'body' | 'brotli'>, body: Buffer): WebhookMessage | null {
  const plain = { ...message, body: body.toString('base64') };
  if (fits(plain)) return plain;
  const small = { ...message, brotli: brotliCompressSync(body).toString('base64') };
  return fits(small) ? small : null;
}

/** The body of a webhook's message. */
export const bodyOf = ({ body = '', brotli }: Pick<WebhookMessage, 'body' | 'brotli'>): Buffer =>
  brotli === undefined
    ? Buffer.from(body, 'base64')
    : brotliDecompressSync(Buffer.from(brotli, 'base64'), { maxOutputLength: longestBody });
