/**
 * Compares everything that the sandbox sends with the SDK's declarations. A difference is a fault of the sandbox, not of its
 * caller: it is recorded, and stopping the sandbox then fails, and so does the test that caused it.
 */
import { difference } from './check.ts';
import { api } from './read.ts';
import type { ApiCallShape, Shape } from './shape.ts';

/** The sandbox has sent something that Stripe would not send. */
export class AnswerFault extends Error {}

const pageOf = (member: Shape): Shape => ({
  object: { data: { list: member }, has_more: 'boolean', object: { is: ['list'] }, url: 'string' },
});
const searchOf = (member: Shape): Shape => ({
  object: {
    data: { list: member },
    has_more: 'boolean',
    next_page: { any: ['string', 'null'] },
    object: { is: ['search_result'] },
    url: 'string',
    'total_count?': 'number',
  },
});

const responseShape = ({ answer }: ApiCallShape): Shape =>
  'page' in answer ? pageOf(answer.page) : 'search' in answer ? searchOf(answer.search) : answer.one;

/** @throws {AnswerFault} */
export function checkAnswer(call: string, answer: unknown, { browser }: { browser: boolean }): void {
  const shape = api.calls[call];
  if (!shape) throw new AnswerFault(`The SDK has no call ${call}.`);
  const found = difference(answer, responseShape(shape), { shapes: api.shapes, partial: browser });
  if (found) throw new AnswerFault(`${call} answers ${found}`);
}

/** @throws {AnswerFault} for an event that Stripe doesn't have, or whose object has the wrong shape */
export function checkEvent(type: string, data: { object: unknown; previous_attributes?: unknown }): void {
  const shape = api.events[type];
  if (!shape) throw new AnswerFault(`Stripe has no event ${type}`);
  const found = difference(data.object, shape, { shapes: api.shapes });
  if (found) throw new AnswerFault(`${type}: ${found}`);
}
