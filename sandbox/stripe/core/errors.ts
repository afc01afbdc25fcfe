/** Stripe's errors (docs.stripe.com/api/errors, /error-codes). */
import type { CardProblem } from './model.ts';

export class ApiError extends Error {
  readonly status: number;
  readonly body: Record<string, unknown>;
  /** Whether changes made before the error are committed, such as the failed charge of a declined card. */
  readonly commits: boolean;

  constructor(status: number, body: { type: string; message: string; [field: string]: unknown }, commits = false) {
    super(body.message);
    this.status = status;
    this.body = body;
    this.commits = commits;
  }
}

export const invalid = (message: string, param?: string, code?: string): ApiError =>
  new ApiError(400, {
    type: 'invalid_request_error',
    message,
    ...(code && { code, doc_url: `https://stripe.com/docs/error-codes/${code.replaceAll('_', '-')}` }),
    ...(param && { param }),
  });

/** Whether the error is a malformed parameter, which Stripe finds before it executes a call. */
export const isMalformed = ({ body }: ApiError): boolean =>
  /^(?:parameters?_|email_invalid|url_invalid)/.test(String(body.code ?? ''));

export const missing = (name: string): ApiError =>
  invalid(`Missing required param: ${name}.`, name, 'parameter_missing');

/** @param what Stripe's word, for instance `customer` */
export const noSuch = (what: string, id: string, param = 'id', status = 404): ApiError =>
  new ApiError(status, {
    type: 'invalid_request_error',
    code: 'resource_missing',
    doc_url: 'https://stripe.com/docs/error-codes/resource-missing',
    message: `No such ${what}: '${id}'`,
    param,
  });

/** 402; changes made before the error are committed by default. */
export const cardError = (problem: CardProblem, more: Record<string, unknown> = {}, commits = true): ApiError =>
  new ApiError(402, { ...problem, ...more }, commits);

export const unauthorized = (message: string): ApiError =>
  new ApiError(401, { type: 'invalid_request_error', message });
