/**
 * The channel on which the nodes of a cluster talk to each other (PostgreSQL's NOTIFY), and its messages. A message may be lost; every
 * reader can find out by itself what it says.
 */
import { z } from 'zod';

/** SQL of the channel's name. Newspapers that share a database have a schema each; a PostgreSQL name has 63 bytes at most. */
export const channel =
  "('broadsheet_' || case when octet_length(current_schema()) <= 50 then current_schema() else md5(current_schema()) end)";

/** SQL of the present time in epoch milliseconds. PostgreSQL's clock, because those of the nodes differ. */
export const databaseNow = '(extract(epoch from clock_timestamp()) * 1000)::bigint';

/** PostgreSQL accepts less than 8,000 bytes in a message. */
export const longestMessage = 7999;

const webhookMessage = z.object({
  /** The sending node, which waits for the answer, and a number of its own. */
  from: z.string(),
  id: z.number(),
  /** The headers that the signature needs, and the body in base64. */
  headers: z.record(z.string(), z.string()),
  body: z.string(),
  /** Version of the content log whose holder handles it; earlier builds say none, and their webhooks are for all. */
  version: z.number().optional(),
});

const answerMessage = z.object({
  to: z.string(),
  id: z.number(),
  status: z.number(),
  headers: z.record(z.string(), z.string()).optional(),
  body: z.record(z.string(), z.unknown()),
  /** Revision of the content log that holds what the webhook changed, and the version of that log. */
  revision: z.number(),
  version: z.number().optional(),
});

/** The names are part of the protocol between versions. */
export const messageSchema = z.object({
  /** The content log has this revision now. */
  revision: z.number().optional(),
  /** A node has rendered this page of its build, or given it up. */
  page: z.string().optional(),
  build: z.string().optional(),
  /** A webhook, for the node that syncs with WordPress. */
  webhook: webhookMessage.optional(),
  /** Its answer to the node that received it. */
  answer: answerMessage.optional(),
  /** A node's readers want a newer value, which the node that syncs requests for all. */
  wanted: z.string().optional(),
  /** Another node syncs with WordPress from now on. */
  lease: z.string().optional(),
});

export type Message = z.infer<typeof messageSchema>;
export type WebhookMessage = z.infer<typeof webhookMessage>;
export type AnswerMessage = z.infer<typeof answerMessage>;
