/**
 * The methods that each address allows. A page allows GET and HEAD; pages with a form that posts to them, and API routes, are listed.
 * The server refuses other methods before it reads a body or renders a page.
 */
import { wrongMethod } from '../../lib/http/answer.ts';
import { pathsOf } from '../../lib/http/fixed-pages.ts';

const reading = ['GET', 'HEAD'] as const;
const form = [...reading, 'POST'] as const;

/** Methods that HTTP defines; any other gets a 501. */
const standard: ReadonlySet<string> = new Set([
  ...reading,
  'POST',
  'PUT',
  'PATCH',
  'DELETE',
  'OPTIONS',
  'TRACE',
  'CONNECT',
]);

/** Paths of API routes. */
export const callPaths = /^\/(?:api|blaize|zephr)\//;

/** Methods of API routes. Each route under {@link callPaths} names its own in its `ALL` and refuses the others itself. */
export const callMethods: readonly string[] = [...form, 'PUT', 'PATCH', 'DELETE', 'OPTIONS'];

/** A row of the table: the first one that matches a path counts. */
export interface MethodRule {
  readonly path: RegExp;
  readonly methods: readonly string[];
}

/** Addresses that allow more, or other, methods than a page. */
export const methodRules: readonly MethodRule[] = [
  // Forms that post to the address of their own page.
  { path: new RegExp(`^(?:${pathsOf('takesForm').join('|')})$`), methods: form },
  { path: /^\/gift\/[^/]+$/, methods: form },
  { path: /^\/account\/(?:comment|plan|podcast|unsubscribe)$/, methods: form },
  // Addresses that forms post to; a GET is redirected to the page with the form.
  {
    path: /^\/account\/(?:code|delete|history|link|mail|newsletter|profile|resend|saved|sign-in|sign-out|social|subscription)$/,
    methods: form,
  },
  { path: /^\/privacy-choices\/save$/, methods: form },
  // Links in mails and of social sign-in; a form confirms the first one.
  { path: /^\/blaize\/token-exchange$/, methods: form },
  { path: /^\/blaize\/oauth\/[^/]+\/callback$/, methods: reading },
  { path: /^\/blaize\/oauth\/(?!state$)[^/]+$/, methods: reading },
  // The operators' page, whose forms post to it.
  { path: /^\/-\/press$/, methods: form },
  // Browsers' reports, which need a preflight where the page counts as another origin.
  { path: /^\/-\/csp-reports$/, methods: ['OPTIONS', 'POST'] },
  // What browsers measure.
  { path: /^\/-\/vitals$/, methods: ['POST'] },
  // The plugin's webhooks, and its questions: `newsroomRoute`.
  { path: /^\/api\/v1\/(?:revalidate|(?:alerts|headline-tests)\/report|articles\/popular\/now)$/, methods: ['POST'] },
  { path: callPaths, methods: callMethods },
];

/** The methods that an address allows. @param path in its normal form */
export const methodsOf = (path: string): readonly string[] =>
  methodRules.find((rule) => rule.path.test(path))?.methods ?? reading;

export interface MethodRefusal {
  readonly status: 405 | 501;
  readonly sentence: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** The refusal of a request's method; `null`: the method is allowed. */
export function refusedMethod(method: string, methods: readonly string[]): MethodRefusal | null {
  if (methods.includes(method)) return null;
  const headers = { allow: methods.join(', ') };
  return standard.has(method)
    ? { status: 405, sentence: wrongMethod(methods.join(', ')), headers }
    : { status: 501, sentence: 'The server does not support this method.', headers };
}
