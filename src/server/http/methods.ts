/**
 * Which methods an address takes: the one table. A page takes GET and HEAD; pages whose form posts to them, and calls, are listed.
 * What is not allowed is answered before a body is read or anything is rendered.
 */
import { pathsOf } from '../../lib/http/fixed-pages.ts';

const reading = ['GET', 'HEAD'] as const;
const form = [...reading, 'POST'] as const;

/** Methods that HTTP defines; of any other one the server says that it does not know it. */
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

/** Paths of calls. */
export const callPaths = /^\/(?:api|blaize|zephr)\//;

/** Methods of calls. Each route under {@link callPaths} names its own in its `ALL` and refuses the others itself. */
export const callMethods: readonly string[] = [...form, 'PUT', 'PATCH', 'DELETE', 'OPTIONS'];

/** A row of the table: the first one that matches a path counts. */
export interface MethodRule {
  readonly path: RegExp;
  readonly methods: readonly string[];
}

/** Addresses that take more, or other, methods than a page. */
export const methodRules: readonly MethodRule[] = [
  // Forms that post to the address of their own page.
  { path: new RegExp(`^(?:${pathsOf('takesForm').join('|')})$`), methods: form },
  { path: /^\/gift\/[^/]+$/, methods: form },
  { path: /^\/account\/(?:comment|plan|unsubscribe)$/, methods: form },
  // What forms post to; opened by a link, these lead to the page with the form.
  {
    path: /^\/account\/(?:code|delete|history|link|mail|newsletter|profile|resend|saved|sign-in|sign-out|social|subscription)$/,
    methods: form,
  },
  { path: /^\/privacy-choices\/save$/, methods: form },
  // The links of mails and of social sign-in; the first one is confirmed by a form.
  { path: /^\/blaize\/token-exchange$/, methods: form },
  { path: /^\/blaize\/oauth\/[^/]+\/callback$/, methods: reading },
  { path: /^\/blaize\/oauth\/(?!state$)[^/]+$/, methods: reading },
  // The operators' page, which refuses what it does not take.
  { path: /^\/-\/press$/, methods: form },
  // Reports of browsers, which ask leave first where the page counts as another origin.
  { path: /^\/-\/csp-reports$/, methods: ['OPTIONS', 'POST'] },
  // The plugin's webhooks.
  { path: /^\/api\/v1\/revalidate$/, methods: ['POST'] },
  { path: callPaths, methods: callMethods },
];

/** The methods that an address takes. @param path in its normal form */
export const methodsOf = (path: string): readonly string[] =>
  methodRules.find((rule) => rule.path.test(path))?.methods ?? reading;

export interface MethodRefusal {
  readonly status: 405 | 501;
  readonly sentence: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** What a request is refused with for its method; `null`: an address that takes these methods takes it. */
export function refusedMethod(method: string, methods: readonly string[]): MethodRefusal | null {
  if (methods.includes(method)) return null;
  const headers = { allow: methods.join(', ') };
  return standard.has(method)
    ? { status: 405, sentence: `This address takes ${methods.join(', ')}.`, headers }
    : { status: 501, sentence: 'The server does not support this method.', headers };
}
