/** The support form on the server, for its route and its page. */
import type { FieldForm } from '../http/field-form.server.ts';
import { contactPage, type SupportField, supportFields, supportMessages } from './schema.ts';

export const supportForm: FieldForm<SupportField> = {
  fields: supportFields,
  page: contactPage,
  messages: supportMessages,
  // The longest message, escaped.
  limit: 64 * 1024,
  take: ({ services: { support } }) => support && ((fields, sender) => support.take(fields, sender)),
};
