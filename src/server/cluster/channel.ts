/**
 * The channel on which the nodes of a cluster exchange messages (PostgreSQL's NOTIFY). A message may be lost: every receiver can also
 * find out its content by itself.
 */
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
  /** The headers that the signature needs, and the body in base64. */
  headers: z.record(z.string(), z.string()),
  body: z.string(),
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
